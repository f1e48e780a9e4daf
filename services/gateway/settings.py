"""The gateway's own settings; each is RAGSTONE_ and its name in capitals."""

from pathlib import Path

from pydantic import Field
from pydantic_settings import BaseSettings

from services.shared.kit.settings import TABLE


class GatewaySettings(BaseSettings):
    """The public door: its address, its limits, and how long it waits for the others."""

    model_config = TABLE

    host: str = Field(default="127.0.0.1", description="Address to listen on; the default is this machine only")
    port: int = Field(default=8000, ge=0, le=65535, description="Port to listen on")
    allowed_origins: list[str] = Field(
        default_factory=list,
        description='Web addresses beside its own whose pages may send to it, as ["https://example.com"]',
    )
    profile: Path | None = Field(
        default=None, description="YAML file that says who the content is about; null is a neutral profile"
    )
    question_max_chars: int = Field(default=2000, ge=1, description="Longest question, Unicode code points")
    history_max_chars: int = Field(
        default=40_000, ge=0, description="Longest conversation that may come with a question, Unicode code points"
    )
    document_max_bytes: int = Field(default=20_000_000, ge=1, description="Largest single document, bytes")
    body_max_bytes: int = Field(default=100_000_000, ge=1, description="Largest upload of several documents, bytes")
    answer_keep_s: int = Field(
        default=86_400,
        ge=0,
        description="How long Redis remembers an answer for feedback on it, seconds; 0 remembers none",
    )
    retriever_timeout_s: float = Field(default=30.0, gt=0, description="Longest wait for passages, seconds")
    generator_timeout_s: float = Field(
        default=180.0, gt=0, description="Longest silence of the generator, a cold model's load included, seconds"
    )
    decompose_wait_s: float = Field(
        default=12.0,
        gt=0,
        description="Longest wait for the parts of a question, seconds; a little more than the generator gives itself",
    )
    forget_wait_s: float = Field(
        default=5.0,
        gt=0,
        description="Longest wait for the indexes to forget a deleted document, seconds; then a job does it",
    )
    ready_timeout_s: float = Field(default=3.0, gt=0, description="Longest wait for one part's readiness, seconds")
