"""Texts to words with vectors: each once, long ones in parts, and a plain word where the embedder cannot."""

from collections.abc import Sequence

import numpy as np
import pytest

from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.models.embedder import Embedder, ModelSpec, Pieces, Vectors
from services.shared.models.grounding.grounder import Reader

from .reads import WIDTH, pieces_of

LIMIT = 12


class WordEncoder:
    """A word is a piece; what is longer than the limit is cut, as a model cuts it."""

    def __init__(self, *, gives_pieces: bool = True) -> None:
        self.asked: list[str] = []
        self._gives_pieces = gives_pieces

    def encode(self, texts: Sequence[str], prompt: str) -> Vectors:
        return np.ones((len(texts), WIDTH), dtype=np.float32)

    def lengths(self, texts: Sequence[str], prompt: str) -> list[int]:
        return [2 + len(pieces_of(text).ids) for text in texts]

    def pieces(self, texts: Sequence[str]) -> list[Pieces] | None:
        self.asked += texts
        whole = [pieces_of(text) for text in texts]
        cut = LIMIT - 2
        return (
            [Pieces(one.spans[:cut], one.ids[:cut], one.vectors[:cut]) for one in whole] if self._gives_pieces else None
        )


def reader(encoder: WordEncoder) -> Reader:
    return Reader(Embedder(encoder, ModelSpec("words", "r", WIDTH, "", "", LIMIT), batch=4, engine="words"))


def test_a_text_that_stands_in_several_pairs_is_read_once() -> None:
    encoder = WordEncoder()
    reader(encoder).read(["Tea is hot.", "Pumps are not.", "Tea is hot."])
    assert sorted(encoder.asked) == ["Pumps are not.", "Tea is hot."]


def test_a_long_text_is_read_in_whole_sentences_to_its_end() -> None:
    sentences = [f"Sentence {number} has some words." for number in range(7)]
    text = " ".join(sentences)
    encoder = WordEncoder()
    found = reader(encoder).read([text])[text]
    assert found is not None
    assert found.words == tuple(word.casefold().strip(".") for word in text.split())
    assert found.sentences.max() == 6
    assert all(one in sentences for one in encoder.asked)


def test_a_sentence_over_the_limit_is_cut_and_the_next_one_read() -> None:
    text = f"{'word ' * 30}end. Short text."
    found = reader(WordEncoder()).read([text])[text]
    assert found is not None
    assert found.words[-2:] == ("short", "text")
    assert len(found.words) < 20


def test_an_embedder_without_pieces_is_said_to_be_unfit() -> None:
    with pytest.raises(RagstoneError, match="no vectors of its word pieces") as refused:
        reader(WordEncoder(gives_pieces=False)).read(["Tea is hot."])
    assert refused.value.code is ErrorCode.MODEL_UNAVAILABLE
