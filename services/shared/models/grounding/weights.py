"""What training the grounding model yields, as it lies in a file: numbers by name, and a manifest that vouches."""

from pydantic import Field

from services.shared.contracts.base import Record

FORMAT = 1

WEIGHTS = "weights.json"
MANIFEST = "manifest.json"


class Stage(Record):
    """A logistic regression over standardised and cut features."""

    weights: list[float] = Field(description="In the order of the features; 0 for one that this stage leaves out")
    intercept: float


class Weights(Record):
    """Two questions in turn: is the claim supported, and if it is not, is it contradicted?"""

    schema_version: int = FORMAT
    features: list[str] = Field(description="Names of the inputs, in order")
    mean: list[float]
    scale: list[float]
    cut: float = Field(description="Standardised inputs beyond this are cut to it")
    supported: Stage
    contradicted: Stage


class Source(Record):
    """A data set that was trained on."""

    name: str
    licence: str
    pairs: int = Field(description="Claims, each with an evidence")


class Manifest(Record):
    """What the weights were made of, and how they did on what they had not seen."""

    schema_version: int = FORMAT
    sha256: str = Field(description="Of the weights' file, hex")
    seed: int
    embedder: str = Field(description="Name of the embedder whose vectors of word pieces are compared")
    revision: str = Field(description="SHA-256 of that embedder's weights, hex")
    sources: list[Source]
    held_out: dict[str, float] = Field(description="Figures by name, on pairs that were not trained on")
    versions: dict[str, str] = Field(description="Libraries that made it")
