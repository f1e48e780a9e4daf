"""The three manners of a message: asked over HTTP, answered over HTTP, stored or queued.

An error says what is wrong with which field, and not what stood there: errors end in logs, documents must not.
"""

from pydantic import BaseModel, ConfigDict


class Request(BaseModel):
    """What a client sends: frozen, and a field nobody knows is an error, not a silent miss."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class Response(BaseModel):
    """What a service answers: frozen, and every field is always present (no defaults)."""

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)


class Record(BaseModel):
    """What is stored or queued: an older or newer writer may have left other fields, which are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)

    schema_version: int = 1
