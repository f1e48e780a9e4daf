"""How a service answers at the moment, by its own word: what an answer depends on beside the content."""

from pydantic import Field

from services.shared.contracts.answers import WriterModel
from services.shared.contracts.base import Response


class WriterInUse(Response):
    """Generator to gateway, ``GET /writer``: who would write an answer now."""

    model: WriterModel
    settings: str = Field(description="Changes with any setting of the generator that decides what is said")


class TuningInUse(Response):
    """Retriever to gateway, ``GET /tuning``."""

    settings: str = Field(description="Changes with any setting of the retriever that decides what is found")
