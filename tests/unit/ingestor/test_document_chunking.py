"""Chunks: sized for the embedder, exact in their offsets, along the text's own structure."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from services.ingestor.domain.blocks import markdown_blocks
from services.ingestor.domain.chunking import Limits, cut
from services.ingestor.domain.cutting import words
from services.ingestor.domain.documents import Chunk, Extracted
from services.ingestor.domain.front_matter import with_negatives

CASES = Path(__file__).parents[4] / "shared" / "cases" / "files"

GUIDE = """# Backup guide

## Nightly job

Run the script below from the operations host.

```bash
# stop the writer first
systemctl stop ledger-writer
# copy the snapshot
cp /srv/ledger/snap.db /backup/
```

The copy takes about eleven minutes.

## Restore

~~~python
# open the snapshot read only
restore("/backup/snap.db", verify=True)
~~~

A restore needs two operators present.

    # this is an indented code line, also not a heading

## C# client

The client is written in C#.
"""

VALVES = "# Valve settings\n\n## Main hall\n\n"
VALVES += "| Valve | Line | Opening bar | Closing bar | Inspector |\n|---|---|---|---|---|\n"
VALVES += "".join(f"| V-{n:03} | Line B | {2 + n / 10:.1f} | {1 + n / 10:.1f} | team north |\n" for n in range(1, 81))
VALVES += "\nAll pressures are gauge pressures.\n"


def tokens(texts: Sequence[str]) -> list[int]:
    """Like a tokenizer for English: a piece for six letters of a word, one for each mark or Chinese character."""
    return [2 + sum(1 + len(run) // 6 for run in re.findall(r"[A-Za-z0-9]+|[^\sA-Za-z0-9]", text)) for text in texts]


def chunks_of(text: str, *, markdown: bool = True, title: str = "A title", limits: Limits | None = None) -> list[Chunk]:
    return cut(Extracted(text, markdown), title, limits or Limits(150, 256), tokens)


def test_only_real_headings_open_sections() -> None:
    sections = {name for chunk in chunks_of(GUIDE) for name in chunk.section.split(" > ")}
    assert sections == {"Backup guide", "Nightly job", "Restore", "C# client"}


def test_code_stays_whole_with_its_comments() -> None:
    copy = next(chunk for chunk in chunks_of(GUIDE) if "cp /srv/ledger" in chunk.text)
    restore = next(chunk for chunk in chunks_of(GUIDE) if "restore(" in chunk.text)
    assert copy.section == "Backup guide > Nightly job"
    assert "# stop the writer first" in copy.text
    assert "# copy the snapshot" in copy.text
    assert "open the snapshot read only" in restore.text


def test_a_table_is_cut_between_rows_and_each_piece_repeats_the_header() -> None:
    chunks = chunks_of(VALVES)
    holding = [chunk for chunk in chunks if "V-0" in chunk.text]
    assert len(holding) > 1
    assert all("Closing bar" in chunk.text and chunk.section == "Valve settings > Main hall" for chunk in holding)
    rows = [line for chunk in holding for line in chunk.text.splitlines() if line.startswith("|")]
    assert all(line.endswith("|") and line.count("|") == 6 for line in rows)
    for n in range(1, 81):
        assert sum(f"V-{n:03}" in chunk.text for chunk in chunks) == 1
    later = [chunk for chunk in holding if chunk.lead]
    assert len(later) == len(holding) - 1
    assert all(chunk.text[chunk.lead :] == VALVES[chunk.start : chunk.end] for chunk in later)


def test_text_without_spaces_is_cut_by_length_at_punctuation() -> None:
    clause = "更换滤网时必须先切断电源，旧滤网应送往北门回收点，任何异常声音都应写入日志，"
    text = clause * 110
    chunks = chunks_of(text, markdown=False)
    assert len(chunks) >= 5
    assert "".join(chunk.text for chunk in chunks) == text
    assert all(count <= 256 for count in tokens([chunk.search_text for chunk in chunks]))
    assert all(chunk.text.endswith("，") for chunk in chunks)


@pytest.mark.parametrize("text", ["ภาษาไทยไม่มีช่องว่างระหว่างคำ" * 200, "あいうえお。" * 500, "x" * 9000])
def test_any_script_fits_the_embedder(text: str) -> None:
    chunks = chunks_of(text, markdown=False)
    assert "".join(chunk.text for chunk in chunks) == text
    assert all(count <= 256 for count in tokens([chunk.search_text for chunk in chunks]))


def test_the_case_files_keep_their_promises() -> None:
    if not CASES.exists():
        pytest.skip("the case files are not beside this checkout")
    chinese = (CASES / "c09_zh_no_spaces.txt").read_text()
    assert "".join(chunk.text for chunk in chunks_of(chinese, markdown=False)) == chinese.strip()
    valves = (CASES / "c08_long_table.md").read_text()
    assert all("Closing bar" in chunk.text for chunk in chunks_of(valves) if "V-0" in chunk.text)
    guide = (CASES / "c07_fence_hash.md").read_text()
    assert {chunk.section for chunk in chunks_of(guide)} == {
        "Backup guide > Nightly job", "Backup guide > Restore", "Backup guide > C# client"
    }  # fmt: skip


def test_chunks_are_about_the_wanted_size() -> None:
    text = "\n\n".join("One sentence of seven words stands here. " * 6 for _ in range(60))
    sizes = [words(chunk.text) for chunk in chunks_of(text)]
    assert all(90 <= size <= 180 for size in sizes[:-1])


def test_a_long_paragraph_is_cut_at_sentences_and_not_after_abbreviations() -> None:
    text = "Dr. Ruiz met Mr. O. Hall, e.g. in the harbour, at noon on Friday of that week. " * 40
    assert all(chunk.text.endswith("week.") for chunk in chunks_of(text))


def test_sections_are_kept_apart_even_with_the_same_name() -> None:
    text = "# A\n\n## Notes\n\nFirst.\n\n## Notes\n\nSecond.\n\n# B\n\n### Deep\n\nThird.\n"
    assert [(chunk.section, chunk.text) for chunk in chunks_of(text)] == [
        ("A > Notes", "First."), ("A > Notes", "Second."), ("B > Deep", "Third.")
    ]  # fmt: skip


def test_a_document_of_headings_only_is_still_found() -> None:
    chunks = chunks_of("# Opening hours\n\n## Closed on Mondays\n")
    assert [chunk.text for chunk in chunks] == ["# Opening hours\n\n## Closed on Mondays"]


def test_headings_with_nothing_under_them_stand_beside_the_text_that_follows_and_the_last_with_the_last() -> None:
    deck = "# Deck\n\n## Budget: 4.2 million\n\n## Thanks\n\nWe thank all.\n\n## Questions to Ann?\n"
    (chunk,) = chunks_of(deck)
    assert chunk.section == "Deck > Thanks"
    assert chunk.text == deck[deck.index("## Budget") :].strip()


def test_a_long_row_of_headings_with_nothing_under_them_is_text_of_the_section_above() -> None:
    names = "".join(f"## The office number {n} is closed on Mondays\n\n" for n in range(60))
    chunks = chunks_of(f"# Offices\n\n{names}# Next\n\nMore.\n")
    assert {chunk.section for chunk in chunks} == {"Offices", "Next"}
    assert all(f"number {n} is" in " ".join(chunk.text for chunk in chunks) for n in range(60))
    assert all(words(chunk.text) <= 180 for chunk in chunks)


def test_lines_of_text_above_a_rule_are_no_heading() -> None:
    left_over = "---\ntitle: Pumps\ntags: [a, b]\n---\n\n# Depth\n\nNine metres.\n"
    assert [(chunk.section, chunk.text) for chunk in chunks_of(left_over)] == [
        ("", "title: Pumps\ntags: [a, b]\n---"), ("Depth", "Nine metres.")
    ]  # fmt: skip
    long = "A paragraph that somebody underlined by mistake. " * 6
    assert long.strip() in "".join(chunk.text for chunk in chunks_of(f"{long}\n===\n\nText.\n"))


def test_what_no_reader_sees_makes_no_chunk() -> None:
    text = "# Pumps\n\n<!-- ask Ann about the price -->\n\n# Photo\n\n![](a.png)\n\n# Depth\n\n\u200b\n\nNine metres.\n"
    assert [chunk.section for chunk in chunks_of(text)] == ["Depth"]
    assert chunks_of("<!-- nothing else -->\n") == []


def test_a_row_too_long_for_the_embedder_is_cut_between_cells_and_knows_its_columns() -> None:
    columns = range(60)
    head = "".join(f"| name {n} " for n in columns) + "|\n" + "|---" * 60 + "|\n"
    chunks = chunks_of(head + ("".join(f"| some value {n} " for n in columns) + "|\n") * 3)
    for chunk in chunks:
        rows = [line for line in chunk.text.splitlines() if "value" in line]
        for name, value in zip(chunk.text.splitlines()[0].split("|"), rows[-1].split("|"), strict=False):
            assert value.strip() in ("", name.strip().replace("name", "some value"))
    for n in columns:
        assert sum(chunk.text.count(f"some value {n} |") for chunk in chunks) == 3


def test_what_is_embedded_says_title_section_and_plain_words() -> None:
    chunk = chunks_of("# Guide\n\nSee **the** [manual](https://x.example/y).\n", title="Pumps")[0]
    assert chunk.search_text == "Pumps\nGuide\nSee the manual."
    same = chunks_of("# Guide\n\nText.\n", title="Guide")[0]
    assert same.search_text == "Guide\nText.", "the title is not said twice"


def test_a_title_as_long_as_the_limit_leaves_room_for_the_text() -> None:
    chunks = chunks_of("Short text. " * 50, title="endless " * 400, limits=Limits(150, 64))
    assert all(count <= 64 for count in tokens([chunk.search_text for chunk in chunks]))
    assert all("Short text." in chunk.search_text for chunk in chunks)


def test_negative_sentences_are_chunks_of_their_own() -> None:
    text, body_end, spans = with_negatives("# Ann\n\nAnn sails.\n", ["Ann has never flown.", "Ann owns no car."])
    found = cut(Extracted(text, True, negatives=spans, body_end=body_end), "Ann", Limits(150, 256), tokens)
    assert [(chunk.kind, chunk.text) for chunk in found] == [
        ("fact", "Ann sails."), ("negative", "Ann has never flown."), ("negative", "Ann owns no car.")
    ]  # fmt: skip
    assert all(chunk.text == text[chunk.start : chunk.end] for chunk in found)


PIECES = st.sampled_from(
    [
        "# Heading\n", "## Sub heading\n", "Title\n=====\n", "- item one\n- item two\n", "| a | b |\n|---|---|\n",
        "| 1 | 2 |\n", "```\n# code\n```\n", "~~~\n", "    indented\n", "> quoted. Really!\n", "\n", "\n\n",
        "Some words in a sentence. And another one? ", "1. first\n", "[x]: https://example.com\n", "<div>html</div>\n",
        "漢字は空白なしで続く。", "word" * 30, "e\u0301", "***\n", "👩\u200d🚀", "&amp; ", "\t", "$x_1$",
    ]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@example(text="\r0", markdown=True, wanted=20)
@given(
    text=st.one_of(st.lists(PIECES, max_size=60).map("".join), st.text(max_size=400)),
    markdown=st.booleans(),
    wanted=st.integers(20, 60),
)
def test_chunks_are_exact_ordered_and_hold_everything(text: str, markdown: bool, wanted: int) -> None:
    limits = Limits(wanted, 48)
    chunks = cut(Extracted(text, markdown), "T", limits, tokens)
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    at = 0
    for chunk in chunks:
        assert chunk.start >= at, "no overlap"
        at = chunk.end
        assert chunk.text[chunk.lead :] == text[chunk.start : chunk.end]
        assert chunk.text.strip()
        # A single character may be more tokens than any limit; anything longer must fit.
        assert tokens([chunk.search_text])[0] <= 48 or chunk.end - chunk.start < 2
    covered = set[int]().union(*(range(chunk.start, chunk.end) for chunk in chunks))
    left_out = "".join(char for n, char in enumerate(text) if n not in covered)
    headings = [block for block in markdown_blocks(text) if block.kind == "heading"] if markdown else []
    said = " ".join(text[heading.start : heading.end] for heading in headings)
    assert [word for word in re.findall(r"[^\W_]+", left_out) if word not in said] == []
