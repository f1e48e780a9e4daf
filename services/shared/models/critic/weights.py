"""What training the critic yields, as it lies in a file: numbers by name, and a manifest that vouches for them."""

from pydantic import Field

from services.shared.contracts.base import Record
from services.shared.contracts.calibration import Logistic

FORMAT = 1

WEIGHTS = "weights.json"
MANIFEST = "manifest.json"


class Net(Record):
    """One hidden layer of rectified units and a logistic output; its inputs are standardised and cut."""

    hidden: list[list[float]] = Field(description="(features, units)")
    hidden_bias: list[float]
    out: list[float] = Field(description="(units)")
    out_bias: float


class Weights(Record):
    """The critic: the mean of several nets, made a probability by Platt's method; and the weights of answerability."""

    schema_version: int = FORMAT
    features: list[str] = Field(description="Names of the inputs, in order")
    mean: list[float]
    scale: list[float]
    cut: float = Field(description="Standardised inputs beyond this are cut to it")
    nets: list[Net]
    platt_slope: float = Field(description="Of the log odds of the nets' mean")
    platt_intercept: float
    answerability: Logistic


class Source(Record):
    """A data set that was trained on."""

    name: str
    licence: str
    questions: int = Field(description="Asked as they are, with their passage in reach")
    rows: int = Field(description="Question and passage pairs")


class Manifest(Record):
    """What the weights were made of, and how they did on what they had not seen."""

    schema_version: int = FORMAT
    sha256: str = Field(description="Of the weights' file, hex")
    seed: int
    embedder: str = Field(description="Name of the embedder that gave the similarities")
    analyser: str = Field(description="Version of the analyser that gave the tokens")
    sources: list[Source]
    held_out: dict[str, float] = Field(description="AUC by name, on questions that were not trained on")
    versions: dict[str, str] = Field(description="Libraries that made it")
