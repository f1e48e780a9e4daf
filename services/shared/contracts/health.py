"""What /healthz and /readyz say."""

from pydantic import Field

from services.shared.contracts.base import Response


class Health(Response):
    status: str = Field(description="ok")
    service: str
    version: str


class PartHealth(Response):
    ready: bool
    detail: str = Field(description="What is wrong and what to do, or what is served")


class Readiness(Response):
    ready: bool
    parts: dict[str, PartHealth]


class Warmth(Response):
    """What ``POST /v1/warmup`` says: the parts that hold models, ready when these are loaded."""

    parts: dict[str, PartHealth]
