"""Settings that several services share: typed, prefixed RAGSTONE_, the unit in the name."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, NoReturn, Self, TypeVar

from pydantic import (
    AliasChoices,
    BeforeValidator,
    Field,
    ModelWrapValidatorHandler,
    ValidationError,
    model_validator,
)
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.jobs import Queue
from services.shared.kit.setting_words import allowed, variable_of

TABLE = SettingsConfigDict(env_prefix="RAGSTONE_", extra="ignore", frozen=True, populate_by_name=True)


class WrongSetting(Exception):
    """A setting cannot be used; the text names it, its value and what is allowed."""


def started(main: Callable[[], int | None]) -> NoReturn:
    """Run a process to its end; what does not let it start ends it with 1 and the one sentence that tells it."""
    try:
        sys.exit(main())
    except WrongSetting as error:
        sys.exit(str(error))
    except RagstoneError as error:
        sys.exit(error.detail)


class Table(BaseSettings):
    """A table of settings. Raises WrongSetting for the first that cannot be used."""

    model_config = TABLE

    @model_validator(mode="wrap")
    @classmethod
    def _or_one_sentence(cls, values: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return handler(values)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = str(first["loc"][0])
            name, field = variable_of(cls, place)
            value = values.get(place, first["input"])
            raise WrongSetting(f"{name} is {value!r}; allowed is {allowed(field)}.") from error


def _listed(value: object) -> object:
    if not isinstance(value, str):
        return value
    if value.strip().startswith("["):
        return json.loads(value)
    return [one.strip() for one in value.split(",") if one.strip()]


Item = TypeVar("Item")
Listed = Annotated[list[Item], NoDecode, BeforeValidator(_listed)]
"""A list in one variable: with commas between, or as JSON."""


class LogSettings(Table):
    """How a process speaks to its operator."""

    log_level: str = Field(default="INFO", description="DEBUG, INFO, WARNING or ERROR")
    log_format: str = Field(default="text", description="text for people, json for machines")


class TraceSettings(Table):
    """Where traces go; nowhere unless an address is set."""

    otlp_url: str | None = Field(
        default=None,
        validation_alias=AliasChoices("RAGSTONE_OTLP_URL", "OTEL_EXPORTER_OTLP_ENDPOINT", "otlp_url"),
        description="OpenTelemetry collector that takes OTLP over HTTP, such as http://127.0.0.1:4318; null is no "
        "traces",
    )


class StateSettings(Table):
    """Where the record of truth lies."""

    state_dir: Path = Field(default=Path(".ragstone"), description="Folder of the catalog, originals, indexes and logs")
    database_url: str | None = Field(
        default=None,
        validation_alias=AliasChoices("DATABASE_URL", "RAGSTONE_DATABASE_URL", "database_url"),
        description="Catalog in PostgreSQL, as postgresql://user@host/name; null is SQLite in the state folder",
    )
    blobs_url: str | None = Field(
        default=None,
        pattern=r"^(s3://[A-Za-z0-9][A-Za-z0-9._-]+(/.*)?)?$",
        examples=["s3://bucket/prefix"],
        description="Originals in an S3-compatible bucket, as s3://bucket/prefix (see scale.md); null is the folder"
        " blobs in the state folder",
    )
    blobs_timeout_s: float = Field(
        default=10.0, gt=0, description="Longest silence of the bucket of RAGSTONE_BLOBS_URL, seconds"
    )

    @property
    def catalog_url(self) -> str:
        """SQLAlchemy URL of the catalog."""
        return self.database_url or f"sqlite:///{self.state_dir.absolute() / 'catalog.db'}"

    @property
    def blob_dir(self) -> Path:
        return self.state_dir / "blobs"


class RedisSettings(Table):
    """The queue, events and cache. Nothing in it is missed when it is lost."""

    redis_url: str = Field(default="redis://127.0.0.1:6379/0", description="Redis or Valkey")
    redis_timeout_s: float = Field(default=2.0, gt=0, description="Longest wait for a connection or a reply, seconds")


class ChromaSettings(Table):
    """The vector store."""

    chroma_url: str = Field(default="http://127.0.0.1:8001", description="Address of the Chroma server")
    chroma_dir: Path | None = Field(
        default=None,
        description="Folder of the Chroma server where a worker sees it, so that a removed index gives its disk space"
        " back; null is chroma in the state folder, if it is there",
    )


class EmbedderSettings(Table):
    """The embedder of new indexes; an existing index keeps its own."""

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
    shipped_models: Path | None = Field(
        default=None,
        description="Folder of exported models that came with an image: looked into before the model cache, never"
        " written to",
    )
    torch_threads: int = Field(default=1, ge=1, description="Threads of one process's model")
    embed_batch: int = Field(default=8, ge=1, description="Texts that the model takes at once")


class JobSettings(Table):
    """Leases and limits of background work."""

    lease_s: float = Field(
        default=60.0, gt=0, description="A job whose worker is silent this long is taken again, seconds"
    )
    max_attempts: int = Field(default=3, ge=1, description="Times a job is begun before it fails for good")
    job_time_limit_s: int = Field(default=600, ge=1, description="Longest run of one task before it is killed, seconds")
    queues: Listed[Queue] = Field(
        default=[Queue.INGEST, Queue.INDEX], min_length=1, description="Queues that a worker serves"
    )
    calibrate_again_share: float = Field(
        default=0.3,
        gt=0,
        description="A calibration is made anew in the background when more than this share of the content changed",
    )


class ServiceSettings(Table):
    """Where the services find each other."""

    retriever_url: str = Field(default="http://127.0.0.1:8002", description="Address of the retriever")
    generator_url: str = Field(default="http://127.0.0.1:8003", description="Address of the generator")
    gateway_url: str = Field(
        default="http://127.0.0.1:8000", description="Address of the gateway, which evaluations ask as a client would"
    )
