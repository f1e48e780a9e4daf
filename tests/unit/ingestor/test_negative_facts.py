"""Sentences that say what is not so, in every form that an owner may write them."""

import json

import pytest

from services.ingestor.adapters.parsers.files import FileParsers
from services.ingestor.domain.chunking import Limits, cut
from services.ingestor.domain.documents import Chunk, Extracted, kind_of_document
from tests.unit.ingestor.fake_documents import incoming
from tests.unit.ingestor.fakes import TimeUp

RUST = "Zoë Öberg has not worked with Rust professionally."
KUBERNETES = "Zoë Öberg has not run a production Kubernetes cluster: others did."

MARKDOWN = {
    "a list": f"---\nnot:\n  - {RUST}\n  - '{KUBERNETES}'\n---\n# Skills\n\nZoë knows Python.\n",
    "a list on one line": f'---\nnot: ["{RUST}", "{KUBERNETES}"]\n---\n# Skills\n\nZoë knows Python.\n',
    "a colon that is not quoted": f"---\nnot:\n  - {RUST}\n  - {KUBERNETES}\n---\n# Skills\n\nZoë knows Python.\n",
    "nothing else in the file": f"---\nnot:\n- {RUST}\n- '{KUBERNETES}'\n---\n",
}
OTHERS = {
    "a.json": {"title": "Skills", "text": "Zoë knows Python.", "not": [RUST, KUBERNETES]},
    "b.json": [
        {"title": "Python", "text": "Zoë knows Python.", "not": RUST},
        {"title": "Docker", "text": "Zoë knows Docker.", "not": [KUBERNETES]},
    ],
}


def read(name: str, data: str) -> Extracted:
    return FileParsers(1_000_000, TimeUp).parse(incoming("doc", filename=name), data.encode())


def chunks(extracted: Extracted, name: str = "a.md", **said: object) -> list[Chunk]:
    kind = kind_of_document(incoming("doc", filename=name, metadata=dict(said)), extracted)
    return cut(extracted, "Skills", Limits(150, 256), lambda texts: [len(text.split()) for text in texts], kind)


def denied(extracted: Extracted) -> list[str]:
    found = [chunk for chunk in chunks(extracted) if chunk.kind == "negative"]
    assert all(extracted.text[chunk.start : chunk.end] == chunk.text for chunk in found)
    assert all("not" in chunk.search_text for chunk in found)
    return [chunk.text for chunk in found]


@pytest.mark.parametrize("form", MARKDOWN)
def test_each_sentence_of_the_front_matter_is_a_chunk_of_its_own(form: str) -> None:
    assert denied(read("a.md", MARKDOWN[form])) == [RUST, KUBERNETES]


def test_a_lone_sentence_needs_no_list() -> None:
    assert denied(read("a.md", f"---\nnot: {RUST}\n---\nZoë knows Python.\n")) == [RUST]


@pytest.mark.parametrize("name", OTHERS)
def test_json_says_it_with_a_key_of_the_record(name: str) -> None:
    extracted = read(name, json.dumps(OTHERS[name]))
    assert denied(extracted) == [RUST, KUBERNETES]
    assert "Zoë knows Python." in [chunk.text for chunk in chunks(extracted) if chunk.kind == "fact"]


def test_lines_of_json_say_it_too() -> None:
    rows = [{"text": "Zoë knows Python.", "not": RUST}, {"text": "Zoë knows Docker.", "not": KUBERNETES}]
    assert denied(read("a.ndjson", "\n".join(map(json.dumps, rows)))) == [RUST, KUBERNETES]


def test_a_page_says_it_in_its_head() -> None:
    head = f'<title>Skills</title><meta name="not" content="{RUST}"><meta name="not" content="{KUBERNETES}">'
    page = f"<html><head>{head}</head><body><p>Zoë knows Python.</p></body></html>"
    extracted = read("a.html", page)
    assert denied(extracted) == [RUST, KUBERNETES]
    assert [chunk.text for chunk in chunks(extracted) if chunk.kind == "fact"] == ["Zoë knows Python."]


def test_a_page_without_it_has_no_heading_for_it() -> None:
    assert "Not the case" not in read("a.html", "<html><body><p>Zoë knows Python.</p></body></html>").text


@pytest.mark.parametrize("text", ["---\nkind: negative\n---\n", "---\nkind: Negative\nnot: It is not red.\n---\n"])
def test_a_document_of_kind_negative_denies_with_every_chunk(text: str) -> None:
    extracted = read("a.md", f"{text}# Limits\n\nThe pump does not run dry.\n\n## Depth\n\nIt does not reach 9 m.\n")
    kinds = {chunk.text: chunk.kind for chunk in chunks(extracted)}
    assert kinds["The pump does not run dry."] == kinds["It does not reach 9 m."] == "negative"
    assert set(kinds.values()) == {"negative"}


def test_the_sender_may_say_it_and_is_believed_before_the_document() -> None:
    plain, own = read("a.txt", "The pump does not run dry."), read("a.md", "---\nkind: negative\n---\nIt is red.\n")
    assert [chunk.kind for chunk in chunks(plain, kind="negative")] == ["negative"]
    assert [chunk.kind for chunk in chunks(own, kind="fact")] == ["fact"]


def test_a_long_denial_is_cut_and_stays_one() -> None:
    long = "The pump does not " + "run dry and it does not leak and it does not " * 60 + "rust."
    extracted = read("a.md", f"---\nnot: {long}\n---\n# Pump\n\nIt is red.\n")
    found = [chunk for chunk in chunks(extracted) if chunk.kind == "negative"]
    assert len(found) > 1
    assert {chunk.section for chunk in found} == {"Not the case"}


@pytest.mark.parametrize(
    ("entries", "kept", "told"),
    [
        ("[1, true, {a: b}]", [], "1, True, {'a': 'b'}"),
        ("5", [], "(5)"),
        ("2020-01-01", [], "2020-01-01"),
        ("['5', [a]]", [], "5, ['a']"),
        (f"[{RUST}, 7]", [RUST], "(7)"),
    ],
)
def test_what_is_no_sentence_is_left_out_and_told(entries: str, kept: list[str], told: str) -> None:
    extracted = read("a.md", f"---\nnot: {entries}\n---\nZoë knows Python.\n")
    assert [extracted.text[start:end] for start, end in extracted.negatives] == kept
    assert extracted.warning
    assert told in extracted.warning
    assert "a.md" in extracted.warning


def test_json_tells_it_too_and_good_sentences_need_no_word() -> None:
    for record in ({"text": "Zoë knows Python.", "not": [3, RUST]}, [{"text": "Zoë knows Python.", "not": [3, RUST]}]):
        extracted = read("a.json", json.dumps(record))
        assert [extracted.text[start:end] for start, end in extracted.negatives] == [RUST]
        assert "(3)" in (extracted.warning or "")
    assert read("a.md", MARKDOWN["a colon that is not quoted"]).warning is None
    assert read("a.md", "---\nnot:\n---\nZoë knows Python.\n").warning is None
