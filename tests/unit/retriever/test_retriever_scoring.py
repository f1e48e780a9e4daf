"""Texts scored against a question, for services without a model."""

from services.retriever.flow.score import Scoring
from services.shared.contracts.search import ScoreRequest

from .fakes import SPACE, FakeEmbedder, FakeKeywords


async def test_scores_come_in_the_order_of_the_texts() -> None:
    keywords = FakeKeywords()
    keywords.covered = {"q": 1.0}
    scoring = Scoring(embedder=FakeEmbedder(), keywords=keywords)
    response = await scoring.score(ScoreRequest(space=SPACE, question="q", texts=["other", "q"]))
    assert [(one.similarity, one.coverage) for one in response.scores] == [(0.0, 0.5), (1.0, 1.0)]
    assert (await scoring.score(ScoreRequest(space=SPACE, question="q", texts=[]))).scores == []
