"""Is a claim supported by a text? The retriever's door for services that hold no model."""

from pydantic import Field

from services.shared.contracts.base import Request, Response

PAIRS_MAX = 64


class Pair(Request):
    claim: str
    evidence: str = Field(description="A sentence or a few of one passage")


class GroundRequest(Request):
    """Generator to retriever, ``POST /ground``."""

    pairs: list[Pair] = Field(max_length=PAIRS_MAX)


class Grounding(Response):
    """What the model holds of one pair; the rest to 1 is "the evidence does not say"."""

    supported: float = Field(description="Probability that the evidence supports the claim, 0 to 1")
    contradicted: float = Field(description="Probability that the evidence contradicts the claim, 0 to 1")


class GroundResponse(Response):
    groundings: list[Grounding] = Field(description="In the order of the pairs")
