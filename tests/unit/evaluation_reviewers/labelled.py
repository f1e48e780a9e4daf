"""Labelled answers and texts. About a third are a small language model's own words, the rest sentences and traps.

The similarities in the files are those of all-MiniLM-L6-v2; ``fit.py`` makes them again.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from services.shared.evaluation.reviewers.accuracy import AccuracyCase

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class LabelledAnswer:
    """An answer, whether a person calls it right, and its likeness to what is expected."""

    case: AccuracyCase
    right: bool
    trap: str
    similarity: float


@dataclass(frozen=True)
class LabelledWriting:
    """A text, whether a person calls it sound, and its likenesses to the exemplars."""

    text: str
    sound: bool
    trap: str
    to_sound: list[float]
    to_unsound: list[float]


def answers() -> list[LabelledAnswer]:
    """In the order of the file; rows of even number are the half that thresholds are fitted on."""
    return [
        LabelledAnswer(
            AccuracyCase(row["question"], row["expected"], row["facts"], None, row["answer"]),
            row["right"],
            row["trap"],
            row["similarity"],
        )
        for row in rows("labelled_answers.jsonl")
    ]


def writing() -> list[LabelledWriting]:
    """In the order of the file."""
    return [
        LabelledWriting(row["text"], row["sound"], row["trap"], row["to_sound"], row["to_unsound"])
        for row in rows("labelled_writing.jsonl")
    ]


def rows(name: str) -> list[dict[str, Any]]:
    """The lines of a file of this folder."""
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]
