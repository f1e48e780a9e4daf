"""Folders of a data set: corpus.jsonl, queries.jsonl, and qrels.tsv or what is expected in the queries themselves.

BEIR's form (https://github.com/beir-cellar/beir) judges whole documents with grades. In the other form each query
says whether it is ``answerable``, its ``answers``, and the documents that hold them (``paragraph`` or ``gold``, with
the words themselves as ``evidence`` where they are known).
"""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from services.local.question_files.ids import document_id_of
from services.local.question_files.rows import (
    Row,
    Seen,
    id_in,
    json_rows,
    message,
    text_in,
    text_lines,
    texts_in,
    wrong,
)
from services.local.question_files.sets import Corpus, QuestionSet
from services.shared.contracts.documents import DOCUMENT_ID_MAX, TITLE_MAX, DocumentIn
from services.shared.contracts.golden import GRADE_MAX, Behaviour, Question

CORPUS, QUERIES = "corpus.jsonl", "queries.jsonl"
QRELS = ("qrels.tsv", "qrels/test.tsv")
"""The second is where BEIR's own archives have it."""

Grades = Mapping[str, Mapping[str, int]]


def read_folder(folder: Path) -> QuestionSet:
    """A whole data set; without corpus.jsonl there is no corpus.

    Raises: RagstoneError that names the file and the line.
    """
    name = folder.resolve().name
    qrels = next((folder / path for path in QRELS if (folder / path).is_file()), None)
    grades = None if qrels is None else read_qrels(qrels)
    queries = folder / QUERIES
    questions, unjudged = list[Question](), 0
    seen = Seen(queries, "question")
    for line, row in json_rows(queries):
        seen.add(id_in(row, queries, line), line)
        question = question_of(row, queries, line, name, grades)
        if question is None:
            unjudged += 1
        else:
            questions.append(question)
    if not questions:
        raise wrong(folder, f"{QUERIES} holds no question with a judgement above 0 in {' or '.join(QRELS)}")
    corpus = _corpus(folder / CORPUS) if (folder / CORPUS).is_file() else None
    strangers = 0 if grades is None else sum(question_id not in seen.lines for question_id in grades)
    notes = [
        (unjudged, f"questions of {QUERIES} have no judgement above 0 and are left out"),
        (strangers, f"judged questions are not in {QUERIES}"),
        (0 if corpus is None else corpus.empty, f"documents of {CORPUS} have no text and are left out"),
        (_missing(questions, corpus), "judgements name a document that is left out or not there; it counts as missed"),
    ]
    return QuestionSet(name, questions, corpus, tuple(f"{count} {said}" for count, said in notes if count))


def question_of(row: Row, path: Path, line: int, name: str, grades: Grades | None) -> Question | None:
    """One query as a question; None when it is not judged.

    ``grades`` count for a query that does not say itself whether it is answerable.
    Raises: RagstoneError.
    """
    question_id = id_in(row, path, line)
    text = text_in(row, "text", path, line)
    if not text.strip():
        raise wrong(path, f"question {question_id[:80]!r} has no text", line)
    answerable = row.get("answerable")
    if answerable is None and grades is None:
        raise wrong(path, f"it does not say whether it is answerable, and there is no {' or '.join(QRELS)}", line)
    if answerable not in (None, True, False):
        raise wrong(path, "its answerable is neither true nor false", line)
    if answerable is None:
        judged = (grades or {}).get(question_id, {})
        gold: list[Row] = [
            {"document_id": document_id_of(id), "grade": grade} for id, grade in judged.items() if grade > 0
        ]
        if not gold:
            return None
    else:
        gold = _gold(row, path, line) if answerable else []
    answers = [answer for answer in texts_in(row, "answers", path, line) if answer.strip()]
    fields = {
        "id": question_id,
        "text": text,
        "kind": text_in(row, "type", path, line) or (f"{name} unanswerable" if answerable is False else name),
        "behaviour": Behaviour.ABSTAIN if answerable is False else Behaviour.ANSWER,
        "facts": [answers] if answers and answerable is not False else [],
        "gold": gold,
    }
    return message(Question, fields, path, line)


def _gold(row: Row, path: Path, line: int) -> list[Row]:
    documents = [
        document_id_of(id) for id in texts_in(row, "gold", path, line) or texts_in(row, "paragraph", path, line)
    ]
    quotes = texts_in(row, "evidence", path, line)
    if quotes and len(documents) == 1:
        documents *= len(quotes)
    if len(quotes) == len(documents):
        return [{"document_id": id, "quote": quote} for id, quote in zip(documents, quotes, strict=True)]
    return [{"document_id": id} for id in documents]


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    """Grades by question and document, with or without a header.

    Columns are query-id, corpus-id, score; or TREC's four: query-id, iteration, corpus-id, score.
    Raises: RagstoneError.
    """
    grades: dict[str, dict[str, int]] = {}
    head = True
    for line, text in text_lines(path):
        columns = text.split("\t") if "\t" in text else text.split()
        if len(columns) not in (3, 4):
            raise wrong(path, f"it has {len(columns)} columns; 3 or 4 are known", line)
        grade = _grade(columns[-1])
        if grade is None and head:
            head = False
            continue
        head = False
        if grade is None:
            raise wrong(path, f"its score {columns[-1][:40]!r} is no whole number", line)
        if grade > GRADE_MAX:
            raise wrong(path, f"its score {columns[-1][:40]!r} is above {GRADE_MAX}", line)
        of_question = grades.setdefault(columns[0], {})
        if of_question.setdefault(columns[-2], grade) != grade:
            raise wrong(path, f"{columns[0][:80]!r} and {columns[-2][:80]!r} have another score further up", line)
    return grades


def _grade(text: str) -> int | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return int(value) if value.is_integer() else None


def _corpus(path: Path) -> Corpus:
    ids, empty = set[str](), 0
    for document_id, document in _documents(path):
        if document is None:
            empty += 1
        else:
            ids.add(document_id)
    return Corpus(partial(_with_text, path), frozenset(ids), empty)


def _with_text(path: Path) -> Iterator[DocumentIn]:
    return (document for _, document in _documents(path) if document is not None)


def _documents(path: Path) -> Iterator[tuple[str, DocumentIn | None]]:
    """Every document with its id; None for one without text."""
    seen = Seen(path, "document")
    for line, row in json_rows(path):
        foreign = id_in(row, path, line)
        seen.add(foreign, line)
        document_id = document_id_of(foreign)
        if len(document_id) > DOCUMENT_ID_MAX:
            raise wrong(path, f"document id {foreign[:80]!r} is longer than {DOCUMENT_ID_MAX} characters", line)
        text = text_in(row, "text", path, line)
        if not any(char.isalnum() for char in text):
            yield document_id, None
            continue
        title = text_in(row, "title", path, line).strip()[:TITLE_MAX]
        fields = {"id": document_id, "title": title or None, "text": text}
        yield document_id, message(DocumentIn, fields, path, line)


def _missing(questions: list[Question], corpus: Corpus | None) -> int:
    if corpus is None:
        return 0
    return sum(span.document_id not in corpus.ids for question in questions for span in question.gold)
