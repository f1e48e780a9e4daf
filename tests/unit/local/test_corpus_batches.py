"""A corpus is sent in bodies of a reasonable size."""

import json

import pytest

from services.local import corpus
from services.local.question_files.sets import Corpus
from services.shared.contracts.documents import DocumentIn


def test_no_body_is_too_large_and_every_document_goes_once_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus, "BATCH_BYTES", 200)
    documents = [DocumentIn(id=f"d{n}", text="ä" * 20) for n in range(17)] + [DocumentIn(id="long", text="x" * 500)]
    bodies = list(corpus.batches(Corpus(lambda: documents, frozenset())))
    sent = [json.loads(line) for body, _ in bodies for line in body.splitlines()]
    assert [line["id"] for line in sent] == [document.id for document in documents]
    assert sum(count for _, count in bodies) == len(documents)
    assert all(len(body) <= 200 or count == 1 for body, count in bodies)
    assert len(bodies) > 2
    assert "title" not in sent[0]


def test_no_document_makes_no_body() -> None:
    assert list(corpus.batches(Corpus(list, frozenset()))) == []
