"""The retriever's settings: its own table, and those it shares with other services."""

from dataclasses import dataclass, field
from pathlib import Path

from pydantic import Field

from services.retriever.domain.fusion import Fusion
from services.shared.kit.settings import ChromaSettings, EmbedderSettings, LogSettings, StateSettings, Table


class RetrieverSettings(Table):
    """How passages are found, and where the service listens."""

    host: str = Field(default="127.0.0.1", description="Address to listen on; 0.0.0.0 inside a container")
    retriever_port: int = Field(default=8002, ge=1, le=65535, description="Port of the retriever")
    stage_vector: bool = Field(default=True, description="Search the vectors")
    stage_bm25: bool = Field(default=True, description="Search exact words with BM25")
    stage_gate: bool = Field(default=True, description="Judge the passages; search without the type filter when poor")
    stage_critic: bool = Field(
        default=True, description="Drop passages that a small trained model holds for irrelevant"
    )
    stage_diversity: bool = Field(default=True, description="Keep near-copies and single documents from crowding")
    fusion: Fusion | None = Field(
        default=None,
        description="rrf (by ranks) or relative (by scores); null is what calibration chose, else relative",
    )
    gate_distance: float | None = Field(
        default=None,
        ge=0,
        le=2,
        description="Cosine distance above which the nearest passage is poor; null is the calibrated one, else 0.55",
    )
    gate_coverage: float = Field(
        default=0.7,
        ge=0,
        le=1,
        description="Share of the question's terms, weighted by rarity, in one passage that makes it good nevertheless",
    )
    bm25_floor: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="A BM25 list whose best passage holds a smaller share of the question's weighted terms is dropped; "
        "null is the calibrated share, else 0.1",
    )
    critic_cut: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="A passage is dropped when the critic's probability of relevance is smaller; null is the "
        "calibrated one, else 0.001",
    )
    answerable: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="The gate is poor when the passages answer with a smaller probability; null is the calibrated one, "
        "else none",
    )
    embed_waiting: int = Field(
        default=64,
        ge=1,
        description="Requests that may wait for the model; questions, texts and claims are counted apart",
    )
    embedders_kept: int = Field(
        default=3,
        ge=1,
        description="Models in memory at most: of the indexes that serve, of those beside them, and the one that "
        "claims are checked with",
    )
    vector_timeout_s: float = Field(
        default=5.0, gt=0, description="Longest wait for the vector store; then BM25 answers alone, seconds"
    )
    follow_every_s: float = Field(
        default=5.0,
        gt=0,
        description="Pause between two looks for deletions that another retriever was told of, seconds; until then they"
        " may stay in this one's memory and snapshot, where nothing finds them",
    )
    open_spaces: int = Field(default=64, ge=1, description="Spaces whose indexes are kept open")


@dataclass(frozen=True)
class Settings:
    """All tables that the retriever reads."""

    own: RetrieverSettings = field(default_factory=RetrieverSettings)
    state: StateSettings = field(default_factory=StateSettings)
    chroma: ChromaSettings = field(default_factory=ChromaSettings)
    embedder: EmbedderSettings = field(default_factory=EmbedderSettings)
    log: LogSettings = field(default_factory=LogSettings)

    @property
    def snapshot_dir(self) -> Path:
        """Where BM25 snapshots lie; losing them costs time only."""
        return self.state.state_dir / "bm25"
