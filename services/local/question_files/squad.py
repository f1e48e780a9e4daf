"""SQuAD 1.1 and 2.0 in their own JSON (https://rajpurkar.github.io/SQuAD-explorer/): paragraphs become documents."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from services.local.question_files.ids import document_id_of
from services.local.question_files.rows import Row, message, whole_text, wrong
from services.local.question_files.sets import Corpus, QuestionSet
from services.shared.contracts.documents import TITLE_MAX, DocumentIn
from services.shared.contracts.golden import Behaviour, Question


def read_squad(path: Path) -> QuestionSet:
    """The questions and their paragraphs; a question is to be answered unless it says ``is_impossible``.

    Raises: RagstoneError that names the file and the place in it.
    """
    documents, questions, seen = list[DocumentIn](), list[Question](), set[str]()
    empty = 0
    for place, paragraph, document_id, title in _paragraphs(path):
        text = _text(paragraph, "context", path, place)
        if any(char.isalnum() for char in text):
            fields = {"id": document_id, "title": title[:TITLE_MAX] or None, "text": text}
            documents.append(message(DocumentIn, fields, path, None))
        else:
            empty += 1
        for n, asked in enumerate(_list(paragraph, "qas", path, place)):
            question = _question(asked, document_id, path, f"{place}.qas[{n}]")
            if question.id in seen:
                raise wrong(path, f"{place}.qas[{n}]: question {question.id[:80]!r} was there already")
            seen.add(question.id)
            questions.append(question)
    if not questions:
        raise wrong(path, "it holds no question")
    notes = (f"{empty} paragraphs have no text and are left out",) if empty else ()
    ids = frozenset(str(document.id) for document in documents)
    return QuestionSet(path.stem, questions, Corpus(lambda: documents, ids, empty), notes)


def _paragraphs(path: Path) -> Iterator[tuple[str, Row, str, str]]:
    """Every paragraph with its place, the id that it gets, and its article's title."""
    try:
        whole = json.loads(whole_text(path))
    except (ValueError, RecursionError) as error:
        raise wrong(path, f"it is not JSON ({error})") from error
    if not isinstance(whole, dict):
        raise wrong(path, "it is not SQuAD's JSON, which is an object with the field data")
    counts = Counter[str]()
    for a, article in enumerate(_list(whole, "data", path, "the whole")):
        title = _text(article, "title", path, f"data[{a}]").replace("_", " ").strip() if "title" in article else ""
        for p, paragraph in enumerate(_list(article, "paragraphs", path, f"data[{a}]")):
            yield (
                f"data[{a}].paragraphs[{p}]",
                paragraph,
                document_id_of(f"{title or path.stem}/{counts[title]}"),
                title,
            )
            counts[title] += 1


def _question(asked: Row, document_id: str, path: Path, place: str) -> Question:
    text = _text(asked, "text" if "question" not in asked else "question", path, place)
    if not text.strip():
        raise wrong(path, f"{place} has no text")
    impossible = asked.get("is_impossible", False)
    if not isinstance(impossible, bool):
        raise wrong(path, f"{place}: is_impossible is neither true nor false")
    found = [] if impossible else _list(asked, "answers", path, place)
    wordings = dict.fromkeys(text for answer in found if (text := _text(answer, "text", path, place)).strip())
    if not impossible and not wordings:
        raise wrong(path, f"{place} has no answer and is not marked is_impossible")
    fields = {
        "id": _text(asked, "id", path, place),
        "text": text,
        "kind": f"{path.stem} unanswerable" if impossible else path.stem,
        "behaviour": Behaviour.ABSTAIN if impossible else Behaviour.ANSWER,
        "facts": [list(wordings)] if wordings else [],
        "gold": [] if impossible else [{"document_id": document_id}],
    }
    return message(Question, fields, path, None)


def _text(within: Row, field: str, path: Path, place: str) -> str:
    found = within.get(field)
    if not isinstance(found, str):
        raise wrong(path, f"{place} has no text {field}")
    return found


def _list(within: Any, field: str, path: Path, place: str) -> list[Row]:
    found = within.get(field)
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise wrong(path, f"{place} has no list of objects {field}")
    return found
