"""Settings that several services share: typed, prefixed RAGSTONE_, the unit in the name."""

from pathlib import Path

from pydantic import AliasChoices, Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from services.shared.contracts.jobs import Queue

TABLE = SettingsConfigDict(env_prefix="RAGSTONE_", extra="ignore", frozen=True, populate_by_name=True)


class LogSettings(BaseSettings):
    """How a process speaks to its operator."""

    model_config = TABLE

    log_level: str = Field(default="INFO", description="DEBUG, INFO, WARNING or ERROR")
    log_format: str = Field(default="text", description="text for people, json for machines")


class TraceSettings(BaseSettings):
    """Where traces go; nowhere unless an address is set."""

    model_config = TABLE

    otlp_url: str | None = Field(
        default=None,
        validation_alias=AliasChoices("RAGSTONE_OTLP_URL", "OTEL_EXPORTER_OTLP_ENDPOINT", "otlp_url"),
        description="OpenTelemetry collector that takes OTLP over HTTP, such as http://127.0.0.1:4318; null is no "
        "traces",
    )


class StateSettings(BaseSettings):
    """Where the record of truth lies."""

    model_config = TABLE

    state_dir: Path = Field(default=Path(".ragstone"), description="Folder of the catalog, originals, indexes and logs")
    database_url: str | None = Field(
        default=None,
        validation_alias=AliasChoices("DATABASE_URL", "RAGSTONE_DATABASE_URL", "database_url"),
        description="Catalog in PostgreSQL, as postgresql://user@host/name; null is SQLite in the state folder",
    )

    @property
    def catalog_url(self) -> str:
        """SQLAlchemy URL of the catalog."""
        return self.database_url or f"sqlite:///{self.state_dir.absolute() / 'catalog.db'}"

    @property
    def blob_dir(self) -> Path:
        return self.state_dir / "blobs"


class RedisSettings(BaseSettings):
    """The queue, events and cache. Nothing in it is missed when it is lost."""

    model_config = TABLE

    redis_url: str = Field(default="redis://127.0.0.1:6379/0", description="Redis or Valkey")
    redis_timeout_s: float = Field(default=2.0, gt=0, description="Longest wait for a connection or a reply, seconds")


class ChromaSettings(BaseSettings):
    """The vector store."""

    model_config = TABLE

    chroma_url: str = Field(default="http://127.0.0.1:8001", description="Address of the Chroma server")
    chroma_dir: Path | None = Field(
        default=None,
        description="Folder of the Chroma server where a worker sees it, so that a removed index gives its disk space"
        " back; null is chroma in the state folder, if it is there",
    )


class EmbedderSettings(BaseSettings):
    """The embedder of new indexes; an existing index keeps its own."""

    model_config = TABLE

    embedder: str = Field(
        default="all-MiniLM-L6-v2",
        description="all-MiniLM-L6-v2 or multilingual-e5-small (each from a Python package), or a folder or name for "
        "sentence-transformers",
    )
    embedder_backend: str = Field(
        default="auto",
        description="torch, onnx (the exported model), or auto: the exported model where there is one, but torch for"
        " documents where the processor has AMX or AVX512-BF16",
    )
    embedder_precision: str = Field(
        default="auto",
        description="float32, bfloat16 (torch only), int8 (onnx only), or auto: bfloat16 with torch where the processor"
        " has AMX or AVX512-BF16",
    )
    embedder_query_prompt: str | None = Field(
        default=None, description="Text that the model is given before each question; null is what the model names"
    )
    embedder_document_prompt: str | None = Field(
        default=None, description="Text that the model is given before each chunk; null is what the model names"
    )
    model_cache: Path | None = Field(
        default=None, description="Folder of exported models; null is ragstone/models in the user's cache folder"
    )
    torch_threads: int = Field(default=1, ge=1, description="Threads of one process's model")
    embed_batch: int = Field(default=8, ge=1, description="Texts that the model takes at once")


class JobSettings(BaseSettings):
    """Leases and limits of background work."""

    model_config = TABLE

    lease_s: float = Field(
        default=60.0, gt=0, description="A job whose worker is silent this long is taken again, seconds"
    )
    max_attempts: int = Field(default=3, ge=1, description="Times a job is begun before it fails for good")
    job_time_limit_s: int = Field(default=600, ge=1, description="Longest run of one task before it is killed, seconds")
    queues: list[Queue] = Field(default=[Queue.INGEST, Queue.INDEX], description="Queues that a worker serves")
    calibrate_again_share: float = Field(
        default=0.3,
        gt=0,
        description="A calibration is made anew in the background when more than this share of the content changed",
    )


class ServiceSettings(BaseSettings):
    """Where the services find each other."""

    model_config = TABLE

    retriever_url: str = Field(default="http://127.0.0.1:8002", description="Address of the retriever")
    generator_url: str = Field(default="http://127.0.0.1:8003", description="Address of the generator")
    gateway_url: str = Field(
        default="http://127.0.0.1:8000", description="Address of the gateway, which evaluations ask as a client would"
    )
