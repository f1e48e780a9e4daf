"""Settings of the local run and of the command line."""

from pydantic import Field

from services.shared.kit.settings import StateSettings


class LocalSettings(StateSettings):
    """Ports of the local run and where the command line looks for a gateway.

    A port that is null is the usual one, or a free one where that is taken; the gateway's never moves by itself.
    """

    host: str = Field(default="127.0.0.1", description="Address that the gateway listens on")
    port: int = Field(default=8000, ge=1, le=65535, description="Port of the gateway")
    redis_port: int | None = Field(default=None, description="Port of the local Redis; null: 6379 or a free one")
    chroma_port: int | None = Field(default=None, description="Port of the local Chroma; null: 8001 or a free one")
    retriever_port: int | None = Field(default=None, description="Port of the retriever; null: 8002 or a free one")
    generator_port: int | None = Field(default=None, description="Port of the generator; null: 8003 or a free one")
    url: str | None = Field(
        default=None, description="Gateway that the command line asks; null: the one that runs on this state folder"
    )
    start_timeout_s: float = Field(
        default=120.0, gt=0, description="Longest wait for one process to become ready, seconds"
    )
    document_max_bytes: int = Field(
        default=20_000_000, ge=1, description="`ragstone ingest` does not send larger files, bytes; the gateway's limit"
    )
