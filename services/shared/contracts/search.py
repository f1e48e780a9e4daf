"""Finding passages: the public search, and the retriever's own door."""

from typing import Any, Literal

from pydantic import Field

from services.shared.contracts.base import Request, Response
from services.shared.contracts.ids import ChunkId, DocumentId, IndexId, SpaceId, VersionId
from services.shared.contracts.places import Place

TOP_K_MAX = 100
FINAL_PASSAGES = 5

WITHOUT_MAX = 200


FusionName = Literal["rrf", "relative"]
"""How lists become one order: by ranks alone, or by scores made comparable."""


class Filters(Request):
    """Which documents may answer. Fields left out do not filter."""

    type: str | list[str] | None = Field(default=None, description="One type, or any of several")
    tags: list[str] | None = Field(default=None, description="The document has every one of these tags")
    document_id: str | list[str] | None = Field(default=None, description="One document, or any of several")


class Stages(Request):
    """Parts of retrieval switched on or off for one call, for evaluation; null is the setting's value."""

    vector: bool | None = None
    bm25: bool | None = None
    gate: bool | None = None
    critic: bool | None = None
    decompose: bool | None = None
    diversity: bool | None = None
    fusion: FusionName | None = None


class SearchRequest(Request):
    question: str
    filters: Filters | None = None
    top_k: int = Field(default=FINAL_PASSAGES, ge=1, le=TOP_K_MAX)
    explain: bool = False
    expect: DocumentId | None = Field(
        default=None, description="A document that should be found: with explain, the trace says why it is not"
    )
    stages: Stages | None = None


class RetrieveRequest(Request):
    """Gateway to retriever, ``POST /retrieve``: the question is cleaned already."""

    space: SpaceId
    question: str
    named: str | None = Field(
        default=None,
        description="The question with the subject's name in full, where it has a pronoun for it: gate and verdict "
        "go by it, and it ranks nothing",
    )
    sub_questions: list[str] = Field(default_factory=list, max_length=3)
    filters: Filters | None = None
    top_k: int = Field(default=FINAL_PASSAGES, ge=1, le=TOP_K_MAX)
    explain: bool = False
    expect: DocumentId | None = None
    stages: Stages | None = None
    only_relevant: bool = Field(
        default=False,
        description="Leave out what the critic holds for irrelevant even when fewer than top_k passages remain",
    )
    index: IndexId | None = Field(
        default=None, description="Search the vectors of this index of the space instead of the serving one"
    )
    without: list[ChunkId] = Field(
        default_factory=list, max_length=WITHOUT_MAX, description="Chunks to search as if they were not there"
    )


class AlsoIn(Response):
    """Another place that says the same as a passage: a near-copy that was left out in its favour."""

    chunk_id: ChunkId
    document_id: DocumentId
    version: VersionId
    title: str
    section: str
    source: str | None
    start: int
    end: int


class Passage(Response):
    """A found chunk. ``text[lead:]`` equals ``extracted_text[start:end]`` of that version exactly."""

    chunk_id: ChunkId
    document_id: DocumentId
    version: VersionId
    title: str
    section: str = Field(description="Heading path, joined by ' > '; empty above the first heading")
    type: str | None
    text: str
    lead: int = Field(description="Leading code points of text that repeat a table's header (0 elsewhere)")
    start: int = Field(description="Offset in the extracted text, Unicode code points")
    end: int
    places: list[Place] = Field(
        default_factory=list,
        description="Pages, rows or parts of the original that it covers; empty where none are known",
    )
    source: str | None
    tags: list[str]
    kind: str = Field(description="fact, or negative for an explicit 'this is not so'")
    score: float = Field(description="Fused score of the lists, higher is better; comparable within one response only")
    distance: float | None = Field(description="Best cosine distance over the lists, 0 to 2; null if not found so")
    bm25: float | None = Field(description="Best BM25 score over the lists; null if not found so")
    critic: float | None = Field(description="Critic's probability of relevance; null when it did not run")
    ranks: dict[str, int] = Field(description="Rank from 1 in each list that holds it, e.g. vector:0, bm25:0")
    also_in: list[AlsoIn] = Field(default_factory=list, description="Where else the same is said")


class Verdict(Response):
    """Does the content answer the question at all?"""

    answerable: float = Field(description="Probability that the passages answer the question, 0 to 1")
    threshold: float | None = Field(
        default=None, description="Calibrated: below this the content does not answer; null when not calibrated"
    )
    gate: str = Field(description="good; fallback (good only without the type filter); poor")
    reason: str


class IndexState(Response):
    id: IndexId | None = Field(description="null while nothing was ever ingested into the space")
    embedder: str | None
    seq: int = Field(description="The catalog's change number that this answer saw")


class SearchResponse(Response):
    passages: list[Passage]
    verdict: Verdict
    sub_questions: list[str]
    degraded: list[str] = Field(description="What had to be left out, e.g. vector_unavailable")
    index: IndexState
    timings_ms: dict[str, float]
    trace: dict[str, Any] | None = Field(description="With explain: lists, scores, gates, drops and their reasons")


class ScoreRequest(Request):
    """Gateway or generator to retriever, ``POST /score``: how well do texts fit a question?"""

    space: SpaceId
    question: str
    texts: list[str] = Field(max_length=512)


class TextScore(Response):
    similarity: float = Field(description="Cosine similarity of the embeddings, -1 to 1")
    coverage: float = Field(description="Share of the question's terms found in the text, weighted by idf, 0 to 1")


class ScoreResponse(Response):
    scores: list[TextScore] = Field(description="In the order of the texts")
