"""The generator's own settings."""

from typing import Literal

from pydantic import AliasChoices, Field
from pydantic_settings import BaseSettings

from services.generator.domain import extractive, support
from services.shared.kit.settings import TABLE


class GeneratorSettings(BaseSettings):
    """Who writes, and within which limits."""

    model_config = TABLE

    host: str = Field(default="127.0.0.1", description="Address that the service listens on")
    generator_port: int = Field(default=8003, ge=1, le=65535, description="Port of the generator")
    writer: Literal["auto", "extractive", "ollama"] = Field(
        default="auto",
        description="auto: the model while Ollama answers at OLLAMA_HOST, else verbatim sentences; or one of both",
    )
    ollama_host: str | None = Field(
        default=None,
        validation_alias=AliasChoices("OLLAMA_HOST", "RAGSTONE_OLLAMA_HOST", "ollama_host"),
        description="Address of Ollama, such as http://ollama:11434",
    )
    ollama_model: str = Field(default="qwen3:8b", description="The model that writes; pull it first")
    ollama_keep_alive: str = Field(default="30m", description="How long Ollama keeps the unused model loaded")
    ollama_probe_s: float = Field(default=60.0, gt=0, description="Time between two looks at Ollama, seconds")
    ollama_cold_timeout_s: float = Field(
        default=300.0, gt=0, description="Longest wait for the first words, a model load included, seconds"
    )
    ollama_idle_timeout_s: float = Field(default=30.0, gt=0, description="Longest silence between words, seconds")
    ollama_parallel: int = Field(default=2, ge=1, description="Answers that the model writes at once")
    ollama_waiting: int = Field(default=4, ge=0, description="Questions that may wait for the model; more are busy")
    num_ctx: int = Field(default=8192, ge=1024, description="The model's window for prompt and answer, tokens")
    num_predict: int = Field(default=400, ge=16, description="Longest answer of the model, tokens")
    temperature: float = Field(default=0.1, ge=0, le=2, description="Freedom of the model's wording")
    answer_threshold: float = Field(
        default=extractive.THRESHOLD, ge=0, le=1, description="Least confidence of a verbatim answer"
    )
    support_threshold: float = Field(
        default=support.THRESHOLD, ge=0, le=1, description="Least similarity of a model's sentence to its source"
    )
    score_timeout_s: float = Field(default=15.0, gt=0, description="Longest wait for the retriever's scores, seconds")
