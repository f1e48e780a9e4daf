"""Question files and data sets as they lie on disk, right and wrong ones."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from services.local.question_files.files import read_questions
from services.local.question_files.ids import foreign_id
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.golden import Behaviour, GoldenQuestion
from services.shared.evaluation.golden.review import write_review
from tests.unit.local.fakes import a_golden_question

REAL = Path(__file__).parents[4] / "shared" / "data"
Files = Callable[..., Path]

real_data = pytest.mark.skipif(not REAL.is_dir(), reason="the shared data sets are not on this machine")


def lines(*rows: dict[str, Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


CORPUS = lines(
    {"_id": "d1", "title": "One", "text": "about one"},
    {"_id": "d2", "title": "", "text": " .\n"},
    {"_id": "/d 3/", "text": "about three"},
    {"_id": 4, "text": "about four"},
)
QUERIES = lines({"_id": "q1", "text": "One?"}, {"_id": "q2", "text": "Two?"}, {"_id": "q3", "text": "Three?"})


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """Writes the files of a data set and gives its folder."""

    def write(**texts: str | bytes) -> Path:
        folder = tmp_path / "Some Set"
        folder.mkdir(exist_ok=True)
        for name, text in texts.items():
            path = folder / name.replace("__", "/").replace("_", ".")
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return folder

    return write


@pytest.mark.parametrize(
    "qrels",
    [
        "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\t/d 3/\t1\nq2\td1\t0\nq3\td9\t1\n",
        "q1\td1\t2\nq1\t/d 3/\t1\nq2\td1\t0\nq3\td9\t1.0\n",
        "\ufeffq1\t0\td1\t2\r\n\r\nq1\t0\t/d 3/\t1\r\nq2\t0\td1\t0\r\nq3\tQ0\td9\t1\r\n",
    ],
)
def test_judged_documents_become_gold_whatever_the_form_of_the_judgements(files: Files, qrels: str) -> None:
    found = read_questions(files(corpus_jsonl=CORPUS, queries_jsonl=QUERIES, qrels_tsv=qrels))
    assert found.name == "Some Set"
    assert [question.id for question in found.questions] == ["q1", "q3"]
    gold = found.questions[0].gold
    assert [(foreign_id(span.document_id), span.grade, span.quote) for span in gold] == [
        ("d1", 2, None),
        ("/d 3/", 1, None),
    ]
    assert found.corpus is not None
    documents = list(found.corpus.documents())
    assert [(document.id, document.title) for document in documents] == [
        ("d1", "One"), ("id:%2Fd%203%2F", None), ("4", None),
    ]  # fmt: skip
    assert found.corpus.ids == {document.id for document in documents}
    assert [note.split()[0] for note in found.notes] == ["1", "1", "1"]
    assert list(found.corpus.documents()) == documents


def test_columns_may_stand_apart_by_spaces(files: Files) -> None:
    found = read_questions(files(corpus_jsonl=CORPUS, queries_jsonl=QUERIES, qrels_tsv="q1 0 d1 1\nq2 0  4  3\n"))
    assert [(question.id, question.gold[0].document_id) for question in found.questions] == [("q1", "d1"), ("q2", "4")]


def test_the_judgements_of_a_beir_archive_lie_deeper(files: Files) -> None:
    found = read_questions(files(corpus_jsonl=CORPUS, queries_jsonl=QUERIES, qrels__test_tsv="q2\td1\t1\n"))
    assert [question.id for question in found.questions] == ["q2"]


def test_queries_that_know_their_answers_need_no_judgements(files: Files) -> None:
    queries = lines(
        {"_id": "a", "text": "A?", "answerable": True, "answers": ["x", " ", "y"], "paragraph": "d1"},
        {"_id": "b", "text": "B?", "answerable": False, "answers": [], "paragraph": "d1"},
        {"_id": "c", "text": "C?", "answerable": True, "answers": ["z"], "gold": ["d1", "4"], "type": "bridge"},
        {"_id": "d", "text": "D?", "answerable": True, "gold": ["d1"], "evidence": ["about", "one"]},
    )
    a, b, c, d = read_questions(files(corpus_jsonl=CORPUS, queries_jsonl=queries)).questions
    assert (a.behaviour, a.facts, a.kind) == (Behaviour.ANSWER, [["x", "y"]], "Some Set")
    assert (b.behaviour, b.facts, b.gold, b.kind) == (Behaviour.ABSTAIN, [], [], "Some Set unanswerable")
    assert (c.kind, [span.document_id for span in c.gold]) == ("bridge", ["d1", "4"])
    assert [(span.document_id, span.quote) for span in d.gold] == [("d1", "about"), ("d1", "one")]


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ({"queries_jsonl": "{}\n"}, "queries.jsonl, line 1: it has no _id."),
        ({"queries_jsonl": "\n\nnull\n"}, "queries.jsonl, line 3: it is not a JSON object."),
        ({"queries_jsonl": '{"_id": "q"'}, "queries.jsonl, line 1: it is not one JSON value."),
        ({"queries_jsonl": b'{"_id": "\xff"}'}, "queries.jsonl, line 1: it is not UTF-8 text."),
        ({"queries_jsonl": '{"_id": "q1", "text": " "}'}, "line 1: question 'q1' has no text."),
        ({"queries_jsonl": '{"_id": "q1", "text": 3}'}, "line 1: its text is not text."),
        ({"queries_jsonl": QUERIES + QUERIES}, "line 4: question 'q1' was on line 1 already."),
        ({"queries_jsonl": '{"_id": "q1", "text": "?", "answerable": "no"}'}, "its answerable is neither true nor"),
        ({"qrels_tsv": "q1\td1\t1\nq1\td1\n"}, "qrels.tsv, line 2: it has 2 columns; 3 or 4 are known."),
        ({"qrels_tsv": "q1\td1\t1\nq1\td2\tx\n"}, "qrels.tsv, line 2: its score 'x' is no whole number."),
        ({"qrels_tsv": "q1\td1\t1\nq1\td2\t0.5\n"}, "qrels.tsv, line 2: its score '0.5' is no whole number."),
        ({"qrels_tsv": "q1\td1\t1\nq1\td2\t1001\n"}, "qrels.tsv, line 2: its score '1001' is above 1000."),
        ({"qrels_tsv": "q1\td1\t1\nq1\td1\t2\n"}, "line 2: 'q1' and 'd1' have another score further up."),
        ({"qrels_tsv": "q9\td1\t1\n"}, "queries.jsonl holds no question with a judgement above 0"),
        ({"corpus_jsonl": CORPUS + CORPUS}, "corpus.jsonl, line 5: document 'd1' was on line 1 already."),
        ({"corpus_jsonl": '{"_id": "", "text": "a"}'}, "corpus.jsonl, line 1: it has no _id."),
        ({"corpus_jsonl": '{"_id": "%s", "text": "a"}' % ("a" * 600)}, "is longer than 512 characters."),
        ({"corpus_jsonl": '{"_id": "d", "text": ["a"]}'}, "corpus.jsonl, line 1: its text is not text."),
    ],
)
def test_what_is_wrong_is_told_with_file_and_line(files: Files, texts: dict[str, str | bytes], said: str) -> None:
    usual = {"corpus_jsonl": CORPUS, "queries_jsonl": QUERIES, "qrels_tsv": "q1\td1\t1\n"}
    with pytest.raises(RagstoneError) as caught:
        read_questions(files(**{**usual, **texts}))
    assert said in caught.value.detail


def test_without_judgements_and_answers_nothing_is_known(files: Files) -> None:
    with pytest.raises(RagstoneError, match=r"does not say whether it is answerable, and there is no qrels\.tsv"):
        read_questions(files(corpus_jsonl=CORPUS, queries_jsonl=QUERIES))


def test_a_folder_without_queries_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(RagstoneError, match="cannot be read"):
        read_questions(tmp_path)


def test_our_own_lines_are_read_and_a_misspelt_field_is_no_silent_miss(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"id": "a", "text": "A?", "facts": [["x"]]}\r\n\r\n{"id": "b", "text": "B?"}\r\n')
    found = read_questions(path)
    assert (found.name, [question.id for question in found.questions], found.corpus) == ("mine", ["a", "b"], None)
    path.write_text('{"id": "a", "text": "A?"}\n{"id": "b", "text": "B?", "fact": []}\n')
    with pytest.raises(RagstoneError, match=r"mine\.jsonl, line 2: fact: Extra inputs are not permitted\."):
        read_questions(path)
    path.write_text("\n")
    with pytest.raises(RagstoneError, match="it holds no question"):
        read_questions(path)


def test_squads_own_file_brings_its_paragraphs(tmp_path: Path) -> None:
    asked: list[dict[str, Any]] = [
        {
            "id": "a",
            "question": "Who?",
            "answers": [{"text": "Ada", "answer_start": 0}, {"text": "Ada", "answer_start": 9}],
        },
        {"id": "b", "question": "When?", "answers": [], "is_impossible": True, "plausible_answers": []},
    ]
    paragraphs = [{"context": "Ada and Ada.", "qas": asked}, {"context": " ", "qas": []}]
    path = tmp_path / "dev-v2.0.json"
    path.write_text(
        json.dumps({"version": "v2.0", "data": [{"title": "Ada_L", "paragraphs": paragraphs}]}), "utf-8-sig"
    )
    found = read_questions(path)
    a, b = found.questions
    assert (a.facts, a.behaviour, a.gold[0].document_id) == ([["Ada"]], Behaviour.ANSWER, "Ada L/0")
    assert (b.facts, b.behaviour, b.gold) == ([], Behaviour.ABSTAIN, [])
    assert found.corpus is not None
    assert [(document.id, document.title) for document in found.corpus.documents()] == [("Ada L/0", "Ada L")]
    assert found.notes == ("1 paragraphs have no text and are left out",)
    del asked[0]["answers"]
    path.write_text(json.dumps({"data": [{"title": "Ada_L", "paragraphs": paragraphs}]}))
    with pytest.raises(RagstoneError, match=r"data\[0\]\.paragraphs\[0\]\.qas\[0\] has no list of objects answers"):
        read_questions(path)


def test_an_approved_review_is_asked_and_the_rest_is_left_out(tmp_path: Path) -> None:
    items = [GoldenQuestion.model_validate(a_golden_question(*one)) for one in (("a", "approved"), ("b", "proposed"))]
    path = tmp_path / "review.yaml"
    path.write_text(write_review(items), encoding="utf-8")
    found = read_questions(path)
    assert list(found.questions) == [items[0].question]
    assert found.notes == ("1 questions of review.yaml are not approved and are left out",)


@real_data
@pytest.mark.parametrize(
    ("folder", "questions", "unanswerable", "documents", "empty"),
    [
        ("ir/scifact-train", 809, 0, 5183, 0),
        ("ir/cranfield", 225, 0, 1398, 2),
        ("ir/medline", 30, 0, 1033, 0),
        ("qa/squad2-dev9", 1133, 491, 99, 0),
        ("qa/hotpotqa-200", 200, 0, 1991, 0),
        ("multi/jsquad-valid", 4442, 0, 1145, 0),
        ("multi/xquad-a-ar", 619, 0, 120, 0),
    ],
)
def test_real_data_sets_are_read_whole(
    folder: str, questions: int, unanswerable: int, documents: int, empty: int
) -> None:
    found = read_questions(REAL / folder)
    assert len(found.questions) == questions
    assert sum(question.behaviour is Behaviour.ABSTAIN for question in found.questions) == unanswerable
    assert found.corpus is not None
    assert (len(found.corpus.ids), found.corpus.empty) == (documents, empty)
    judged = {span.document_id for question in found.questions for span in question.gold}
    assert len(judged - found.corpus.ids) <= empty
    assert all(question.gold or question.behaviour is Behaviour.ABSTAIN for question in found.questions)


@real_data
def test_real_questions_with_evidence_are_read_alone() -> None:
    found = read_questions(REAL / "site" / "18f-questions.jsonl")
    assert len(found.questions) == 19
    assert sum(question.behaviour is Behaviour.ABSTAIN for question in found.questions) == 6
    assert all(span.quote for question in found.questions for span in question.gold)


@real_data
def test_kinds_of_two_passage_questions_are_told_apart() -> None:
    found = read_questions(REAL / "qa" / "hotpotqa-200")
    assert {question.kind for question in found.questions} == {"bridge", "comparison"}
    assert all(len(question.gold) == 2 for question in found.questions)
