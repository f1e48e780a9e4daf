"""Pairs of claim and evidence to probabilities: the embedder reads each text once, the shipped weights judge.

The weights were trained on the vectors of one embedder. A process whose indexes have another loads that one beside
theirs, when the first pair comes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.grounding import Grounding, Pair
from services.shared.models.embedder import Embedder, Pieces
from services.shared.models.embedders import Embedders, Key
from services.shared.models.grounding.features import FEATURES, row
from services.shared.models.grounding.reading import Read, Rows, read, sentence_spans
from services.shared.models.grounding.runtime import Judge, shipped

NOTHING_SAID = Grounding(supported=0.0, contradicted=0.0)
"""Of a claim or an evidence without words."""


@dataclass(frozen=True)
class Grounder:
    """Judges pairs. Threads may share it."""

    reader: "Reader"
    judge: Judge

    def ground(self, pairs: Sequence[Pair]) -> list[Grounding]:
        """What the model holds of each pair, in their order. Raises: RagstoneError (model_unavailable)."""
        reads = self.reader.read([text for pair in pairs for text in (pair.claim, pair.evidence)])
        readable = [(place, reads[one.claim], reads[one.evidence]) for place, one in enumerate(pairs)]
        rows = [(place, row(claim, evidence)) for place, claim, evidence in readable if claim and evidence]
        found = [NOTHING_SAID] * len(pairs)
        values: Rows = np.array([one for _, one in rows]).reshape(-1, len(FEATURES))
        for (place, _), (supported, contradicted) in zip(rows, self.judge.judge(values).tolist(), strict=True):
            found[place] = Grounding(supported=supported, contradicted=contradicted)
        return found


@dataclass(frozen=True)
class Reader:
    """Texts as the grounding model sees them."""

    embedder: Embedder

    def read(self, texts: Sequence[str]) -> dict[str, Read | None]:
        """Each distinct text; one that the embedder cannot read in one go is read in parts.

        Raises: RagstoneError (model_unavailable).
        """
        distinct = list(dict.fromkeys(texts))
        spans = self._parts(distinct)
        cut = [(text, begin, text[begin:end]) for text in distinct for begin, end in spans[text]]
        pieces = self.embedder.embed_pieces([part for _, _, part in cut])
        if pieces is None:
            raise RagstoneError(
                ErrorCode.MODEL_UNAVAILABLE,
                f"Claims cannot be checked: {self.embedder.spec.name} gives no vectors of its word pieces "
                f"({self.embedder.engine}); export it anew.",
            )
        parts: dict[str, list[tuple[int, Pieces]]] = {text: [] for text in distinct}
        for (text, begin, _), one in zip(cut, pieces, strict=True):
            parts[text].append((begin, one))
        return {text: read(text, _joined(own)) if own else None for text, own in parts.items()}

    def _parts(self, texts: Sequence[str]) -> dict[str, list[tuple[int, int]]]:
        """As many whole sentences in a row as fit; most texts fit whole."""
        limit = self.embedder.spec.max_tokens
        lengths = self.embedder.count_tokens(texts)
        return {
            text: [(0, len(text))] if length <= limit else self._packed(text, limit)
            for text, length in zip(texts, lengths, strict=True)
        }

    def _packed(self, text: str, limit: int) -> list[tuple[int, int]]:
        spans = sentence_spans(text)
        lengths = self.embedder.count_tokens([text[begin:end] for begin, end in spans])
        packed: list[tuple[int, int]] = []
        room = 0
        for (begin, end), length in zip(spans, lengths, strict=True):
            if packed and length <= room:
                packed[-1] = (packed[-1][0], end)
                room -= length
            else:
                packed.append((begin, end))
                room = limit - length
        return packed


def load_grounder(embedders: Embedders) -> Grounder:
    """The grounder, over the model that it was trained with, whatever the indexes are made of.

    Raises: RagstoneError (model_unavailable).
    """
    judge = shipped()
    try:
        embedder = embedders.model(judge.manifest.embedder, judge.manifest.revision)
    except RagstoneError as error:
        raise RagstoneError(ErrorCode.MODEL_UNAVAILABLE, f"Claims cannot be checked: {error.detail}") from error
    return Grounder(Reader(embedder), judge)


def wanted_model() -> Key | None:
    """Which model ``load_grounder`` takes; None when the shipped weights are damaged, as ``load_grounder`` says."""
    try:
        manifest = shipped().manifest
    except RagstoneError:
        return None
    return manifest.embedder, manifest.revision


def _joined(parts: Sequence[tuple[int, Pieces]]) -> Pieces:
    """The pieces of a text's parts, placed in the whole text."""
    return Pieces(
        spans=[(begin + shift, end + shift) for shift, one in parts for begin, end in one.spans],
        ids=[number for _, one in parts for number in one.ids],
        vectors=np.concatenate([one.vectors for _, one in parts]),
    )
