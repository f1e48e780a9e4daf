"""Pairs of claim and evidence for training and measuring groundedness: data sets, and the product's own.

The data sets are `grounded/*.jsonl` ({"id", "claim", "context", "label"}, SciFact's with "evidence_sentences").
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from services.shared.models.grounding.features import row
from services.shared.models.grounding.grounder import Reader
from services.shared.models.grounding.reading import Read, sentence_spans
from services.shared.models.grounding.training import Lesson

SCIFACT = "grounded/scifact-train-pairs.jsonl"
CLIMATE = "grounded/climate-fever-a-pairs.jsonl"
OWN = Path(__file__).parents[1] / "tests/unit/models_grounding/pairs.jsonl"

BATCH = 64
"""Pairs whose texts are read at a time; their vectors are let go of after that."""


@dataclass(frozen=True)
class Pair:
    """A claim, an evidence and what people say of the two."""

    claim: str
    evidence: str
    label: str
    source: str
    kind: str
    """Of the own pairs: what was done to the claim."""
    group: str
    reasons: tuple[str, ...] = ()
    """Sentences of the evidence that decide, where the data set names them."""


def people(path: Path) -> list[Pair]:
    """The pairs of a data set."""
    name = path.stem
    return [
        Pair(
            claim=found["claim"],
            evidence=found["context"],
            label=found["label"],
            source=name,
            kind="",
            group=f"{name}:{found['claim']}",
            reasons=tuple(found.get("evidence_sentences") or ()),
        )
        for found in _rows(path)
    ]


def own() -> list[Pair]:
    """The product's own pairs: invented content, near paraphrases and one fault at a time."""
    return [
        Pair(one["claim"], one["evidence"], one["label"], "own", one["kind"], one["evidence"]) for one in _rows(OWN)
    ]


def lessons(reader: Reader, pairs: Sequence[Pair], *, views: bool) -> list[list[Lesson]]:
    """Of each pair the lessons that it gives: itself first and, with ``views``, parts of its evidence.

    An abstract has ten sentences where a writer's evidence has one to three; its parts are as long as these.
    """
    found: list[list[Lesson]] = []
    for start in range(0, len(pairs), BATCH):
        batch = pairs[start : start + BATCH]
        reads = reader.read([text for pair in batch for text in (pair.claim, pair.evidence)])
        for pair in batch:
            claim, evidence = reads[pair.claim], reads[pair.evidence]
            if claim is None or evidence is None:
                found.append([])
                continue
            parts = [evidence, *(_views(pair, claim, evidence) if views else ())]
            found.append([Lesson(row(claim, one), pair.label, pair.group, pair.source) for one in parts])
    return found


def _views(pair: Pair, claim: Read, evidence: Read) -> Iterator[Read]:
    """The sentence that is likest to the claim, the two likest, and those that people named."""
    near = np.argsort(-(evidence.sentence_vectors @ claim.vector), kind="stable")
    with_words = [int(number) for number in near if (evidence.sentences == number).any()]
    if len(with_words) > 1:
        yield evidence.part(with_words[:1])
        yield evidence.part(sorted(with_words[:2]))
    spans = sentence_spans(pair.evidence)
    places = [pair.evidence.find(reason.strip()[:60]) for reason in pair.reasons]
    named = {next(n for n, (_, end) in enumerate(spans) if place < end) for place in places if place >= 0}
    if chosen := sorted(named & set(with_words))[:3]:
        yield evidence.part(chosen)


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
