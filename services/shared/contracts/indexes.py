"""The indexes of a space as clients see them: one that serves, and perhaps others that are built or kept beside it."""

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from services.shared.contracts.base import Request, Response
from services.shared.contracts.ids import IndexId, JobId

EMBEDDER_MAX = 500


class IndexPhase(StrEnum):
    """Where an index is in its life."""

    BUILDING = "building"
    READY = "ready"
    """Level with the content and compared with the serving one: it can be promoted."""
    SERVING = "serving"
    STANDBY = "standby"
    """Served before, and is kept level so that one step leads back to it."""
    FAILED = "failed"
    RETIRED = "retired"
    """Nothing can lead back to it; its vectors are deleted."""


class IndexEmbedder(Response):
    """The one model that all vectors of an index come from."""

    name: str
    revision: str = Field(description="SHA-256 of the weights, hex; empty until it was loaded once")
    dimension: int | None = Field(description="Width of a vector; null until it was loaded once")
    query_prompt: str
    document_prompt: str
    max_tokens: int | None = Field(description="What it reads of a text, tokens; null until it was loaded once")


class IndexComparison(Response):
    """The new index against the serving one, by searches for the same questions."""

    questions: int = Field(description="Questions that both were asked")
    golden: str = Field(description="own: the approved golden set; made: questions made from the content")
    metric: str = Field(description="What is compared, such as ndcg@10")
    serving: float = Field(description="Mean of the serving index, 0 to 1")
    candidate: float = Field(description="Mean of the new one")
    difference: float = Field(description="candidate - serving")
    low: float = Field(description="Lower end of the paired 95 % bootstrap interval of the difference")
    high: float
    worse: bool = Field(description="The new one finds less beyond chance: promoting it takes force")
    seq: int = Field(description="The change number up to which both were level when they were compared")


class Index(Response):
    """One index of a space."""

    id: IndexId
    state: IndexPhase
    embedder: IndexEmbedder
    vectors: int = Field(description="Chunks that have their vector, as counted last")
    chunks: int = Field(description="Live chunks of the space: what it holds when it is level")
    lag: int = Field(description="Changes of the content that it has not followed yet; 0 when level or serving")
    truncated: int = Field(description="Chunks that are longer than its embedder reads, embedded by their beginning")
    seconds_left: float | None = Field(description="Of building, as estimated from its pace; null when not building")
    comparison: IndexComparison | None
    job_id: JobId | None = Field(description="The job that builds it or brings it level")
    reason: str | None = Field(description="Why it failed, waits or was not promoted, with what to do")
    created_at: datetime
    promoted_at: datetime | None


class IndexList(Response):
    items: list[Index] = Field(description="The serving one first, then the newest first")
    next_cursor: str | None
    configured: str = Field(description="The embedder that the settings name for new spaces")


class NewIndex(Request):
    """Build a second index of this space with another embedder, in the background."""

    embedder: str = Field(
        min_length=1, max_length=EMBEDDER_MAX, description="As RAGSTONE_EMBEDDER: a known name, or a folder or hub name"
    )
    query_prompt: str | None = Field(default=None, max_length=2000, description="null is what the model names")
    document_prompt: str | None = Field(default=None, max_length=2000, description="null is what the model names")
    promote: bool = Field(default=False, description="Promote it by itself when it is ready and not worse")


class Promotion(Request):
    """How to switch."""

    force: bool = Field(default=False, description="Also when the comparison found it worse, or there was none")
