"""The gateway's own settings; each is RAGSTONE_ and its name in capitals."""

from pathlib import Path
from typing import Literal

from pydantic import Field, IPvAnyNetwork

from services.shared.kit.settings import Listed, Table

_RATE = r"^[1-9]\d* ?/ ?([1-9]\d* ?)?(second|minute|hour|day)s?$"


class GatewaySettings(Table):
    """The public door: its address, its limits, and how long it waits for the others."""

    host: str = Field(default="127.0.0.1", description="Address to listen on; the default is this machine only")
    port: int = Field(default=8000, ge=0, le=65535, description="Port to listen on")
    allowed_origins: Listed[str] = Field(
        default_factory=list,
        examples=["https://example.com,https://shop.example"],
        description="Web addresses beside its own whose pages may send to it, as https://example.com,https://shop.example",
    )
    without_keys: bool = Field(
        default=False,
        description="While no key was made, everybody who reaches the gateway may do everything; for a container whose "
        "port is published on loopback only",
    )
    allowed_hosts: Listed[str] = Field(
        default_factory=list,
        examples=["gateway,docs.example"],
        description="Names beside localhost by which the gateway is called while no key was made, as gateway; "
        "others could be a web page's",
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
    cache_s: int = Field(
        default=3600,
        ge=0,
        description="How long an answer is given again to an equal question while nothing that it rests on changes, "
        "seconds; 0: each question is answered anew",
    )
    gaps_keep_days: float = Field(
        default=90.0,
        ge=0,
        description="How long questions without an answer are kept for the owner, from when they were asked last, days;"
        " 0: none is noted, and those that were are forgotten at the next sweep",
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
    asker_concurrency: int = Field(
        default=2, ge=1, description="Questions that one asker answers at once of those that were asked for later"
    )
    ready_timeout_s: float = Field(
        default=2.5, gt=0, description="Longest wait for one part's readiness, seconds; all are asked at once"
    )
    trusted_proxies: Listed[IPvAnyNetwork] = Field(
        default_factory=list,
        examples=["127.0.0.1,10.0.0.0/8"],
        description="Networks of the proxies whose X-Forwarded-For is believed, as 127.0.0.1,10.0.0.0/8",
    )
    limit_address: str | None = Field(
        default=None,
        examples=["60/minute"],
        pattern=_RATE,
        description="Questions of one client address without a key of its own, as 60/minute; null: none while no key"
        " exists, 60/minute once one does",
    )
    limit_key: str = Field(
        default="600/minute", pattern=_RATE, description="Questions of one key, if the key itself names no limit"
    )
    limit_requests: str | None = Field(
        default=None,
        examples=["3000/minute"],
        pattern=_RATE,
        description="All other requests of one private key, or of one address; null: none while no key exists,"
        " 3000/minute once one does",
    )
    limit_wrong_keys: str = Field(
        default="20/minute", pattern=_RATE, description="Wrong keys of one address before its next ones are 429"
    )
    limits_when_away: Literal["allow", "refuse"] = Field(
        default="allow",
        description="While Redis does not answer: allow (each gateway counts for itself) or refuse what has a limit",
    )
    answers_at_once: int = Field(
        default=32, ge=1, description="Answers that one gateway makes at once; more are busy, none waits"
    )
    answers_per_caller: int | None = Field(
        default=None,
        ge=1,
        description="Those of one private key, or of one address; null: no own limit while no key exists, 8 once one"
        " does",
    )
    body_timeout_s: float = Field(
        default=30.0,
        gt=0,
        description="Longest wait for a request's head, for a question's body, and for the next part of an upload,"
        " seconds",
    )
