"""Texts scored against a question, for services without a model."""

from dataclasses import replace

import pytest

from services.retriever.domain.scale import SCALES
from services.retriever.flow.score import Scoring
from services.shared.contracts.search import ScoreRequest

from .fakes import EMBEDDER, SPACE, FakeEmbedder, FakeKeywords, FakeRecords

ASKED = ScoreRequest(space=SPACE, question="q", texts=["other", "q"])


async def test_scores_come_in_the_order_of_the_texts() -> None:
    keywords = FakeKeywords()
    keywords.covered = {"q": 1.0}
    scoring = Scoring(records=FakeRecords(), embedder=FakeEmbedder(), keywords=keywords)
    response = await scoring.score(ASKED)
    assert [one.similarity for one in response.scores] == pytest.approx([0.7, 1.0])
    assert [one.coverage for one in response.scores] == [0.5, 1.0]
    assert (await scoring.score(ScoreRequest(space=SPACE, question="q", texts=[]))).scores == []


async def test_the_embedder_of_the_spaces_own_index_compares_them() -> None:
    records, embedder = FakeRecords(embedder=replace(EMBEDDER, name="its own")), FakeEmbedder()
    scoring = Scoring(records=records, embedder=embedder, keywords=FakeKeywords())
    await scoring.score(ASKED)
    records.index = None
    await scoring.score(ASKED)
    assert embedder.asked == [replace(EMBEDDER, name="its own"), None]


async def test_similarities_of_another_embedder_are_those_of_the_common_scale() -> None:
    """0.7 is far for it, and near for the one whose similarities others go by."""
    records = FakeRecords(embedder=replace(EMBEDDER, name="multilingual-e5-small"))
    scores = (await Scoring(records=records, embedder=FakeEmbedder(), keywords=FakeKeywords()).score(ASKED)).scores
    far, same = (one.similarity for one in scores)
    assert far == pytest.approx(1 - SCALES["multilingual-e5-small"].common(0.3))
    assert far < 0.3
    assert same == pytest.approx(1.0)
