"""The generator's own settings."""

import hashlib
from typing import Literal

from pydantic import AliasChoices, Field, SecretStr

from services.generator.domain import extractive, support
from services.shared.kit.settings import Table

DECIDING = {
    "num_ctx",
    "num_predict",
    "temperature",
    "writer_silence_s",
    "answer_threshold",
    "support_threshold",
    "grounding_threshold",
}
"""Settings that change what is said; which model says it is told apart."""


def _formerly(name: str) -> AliasChoices:
    """The setting's variable, and the one it had when Ollama was the only model server."""
    return AliasChoices(f"RAGSTONE_WRITER_{name}", f"RAGSTONE_OLLAMA_{name}")


class GeneratorSettings(Table):
    """Who writes, and within which limits."""

    host: str = Field(default="127.0.0.1", description="Address that the service listens on")
    generator_port: int = Field(default=8003, ge=1, le=65535, description="Port of the generator")
    writer: Literal["auto", "extractive", "ollama", "openai"] = Field(
        default="auto",
        description=(
            "ollama or openai (any server of OpenAI's chat API): that model while it answers, else verbatim sentences;"
            " extractive: those alone; auto: ollama if OLLAMA_HOST is set, else openai if RAGSTONE_OPENAI_URL is, else"
            " ollama as soon as it answers at its usual address with the model"
        ),
    )
    ollama_host: str | None = Field(
        default=None,
        validation_alias=AliasChoices("OLLAMA_HOST", "RAGSTONE_OLLAMA_HOST", "ollama_host"),
        description="Address of Ollama, such as http://ollama:11434",
    )
    ollama_model: str = Field(default="qwen3:8b", description="The model that writes; pull it first")
    ollama_keep_alive: str = Field(default="30m", description="How long Ollama keeps the unused model loaded")
    openai_url: str | None = Field(
        default=None, description="Address of llama.cpp, vLLM or their like, such as http://127.0.0.1:8080"
    )
    openai_model: str | None = Field(
        default=None, description="The model that writes; null: the first one that the server names"
    )
    openai_api_key: SecretStr | None = Field(default=None, description="Key that the server wants, if it wants one")
    writer_probe_s: float = Field(
        default=60.0,
        gt=0,
        validation_alias=_formerly("PROBE_S"),
        description="Time between two looks at the model's server, seconds",
    )
    writer_cold_timeout_s: float = Field(
        default=300.0,
        gt=0,
        validation_alias=_formerly("COLD_TIMEOUT_S"),
        description="Longest wait for the first words, a model load included, seconds",
    )
    writer_idle_timeout_s: float = Field(
        default=30.0,
        gt=0,
        validation_alias=_formerly("IDLE_TIMEOUT_S"),
        description="Longest silence between words, seconds",
    )
    writer_silence_s: float = Field(
        default=150.0,
        gt=0,
        description="Longest time without a sentence that holds, then the passages speak for themselves, seconds; keep"
        " it under RAGSTONE_GENERATOR_TIMEOUT_S",
    )
    writer_parallel: int = Field(
        default=2, ge=1, validation_alias=_formerly("PARALLEL"), description="Answers that the model writes at once"
    )
    writer_waiting: int = Field(
        default=4,
        ge=0,
        validation_alias=_formerly("WAITING"),
        description="Questions that may wait for the model; more are busy",
    )
    num_ctx: int = Field(
        default=8192,
        ge=1024,
        description="The model's window for prompt and answer, tokens; an openai server may tell a smaller one",
    )
    num_predict: int = Field(default=400, ge=16, description="Longest answer of the model, tokens")
    temperature: float = Field(default=0.1, ge=0, le=2, description="Freedom of the model's wording")
    decompose_timeout_s: float = Field(
        default=10.0,
        gt=0,
        description="Longest wait for the model to take a question apart, its turn included, seconds; then a rule does",
    )
    daily_tokens: int = Field(
        default=0,
        ge=0,
        description="Tokens of the model, read and written, that one client may use a day (UTC); then its answers are"
        " verbatim sentences; 0: no limit",
    )
    answer_threshold: float = Field(
        default=extractive.THRESHOLD, ge=0, le=1, description="Least confidence of a verbatim answer"
    )
    support_threshold: float = Field(
        default=support.THRESHOLD, ge=0, le=1, description="Least similarity of a model's sentence to its source"
    )
    grounding_threshold: float = Field(
        default=support.GROUNDED,
        ge=0,
        le=1,
        description="Least probability, by the groundedness model, that a model's sentence is supported",
    )
    score_timeout_s: float = Field(default=15.0, gt=0, description="Longest wait for the retriever's scores, seconds")

    def deciding(self) -> str:
        """Stands for all settings that decide what is said, whoever writes it."""
        return hashlib.sha256(self.model_dump_json(include=DECIDING).encode()).hexdigest()
