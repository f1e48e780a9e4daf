"""The three manners of a message: asked over HTTP, answered over HTTP, stored or queued."""

from pydantic import BaseModel, ConfigDict


class Request(BaseModel):
    """What a client sends: frozen, and a field nobody knows is an error, not a silent miss."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Response(BaseModel):
    """What a service answers: frozen, and every field is always present (no defaults)."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Record(BaseModel):
    """What is stored or queued: an older or newer writer may have left other fields, which are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    schema_version: int = 1
