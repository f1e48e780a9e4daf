"""Vectors of word pieces: the same from both libraries, in the texts' order, with their places in the text."""

import numpy as np

from services.shared.models.loader import load_embedder

from .conftest import Together

TEXTS = ["The tea is hot.", "", "THE PUMP of the fountain: 8,5 + x? " * 20, "pump", "tea tea pump"]


def test_exported_pieces_are_those_of_torch(together: Together) -> None:
    exported = load_embedder(together.settings.model_copy(update={"embedder_precision": "float32"}))
    own = {"embedder_backend": "torch", "embedder_precision": "float32"}
    by_torch = load_embedder(together.settings.model_copy(update=own))
    assert (exported.engine, by_torch.engine) == ("onnx in float32", "torch in float32")
    found, expected = exported.embed_pieces(TEXTS), by_torch.embed_pieces(TEXTS)
    assert found is not None
    assert expected is not None
    for text, one, other in zip(TEXTS, found, expected, strict=True):
        assert (one.spans, one.ids) == (other.spans, other.ids)
        assert one.vectors.shape == (len(one.ids), exported.spec.dimension)
        assert np.allclose(one.vectors, other.vectors, atol=1e-4)
        assert all(0 <= begin < end <= len(text) for begin, end in one.spans)
    assert found[1].ids == []


def test_a_piece_knows_its_neighbours(together: Together) -> None:
    exported = load_embedder(together.settings.model_copy(update={"embedder_precision": "float32"}))
    found = exported.embed_pieces(["tea is hot", "the tea pump"])
    assert found is not None
    tea, other = found[0].vectors[0], found[1].vectors[1]
    assert found[0].ids[0] == found[1].ids[1]
    assert not np.allclose(tea, other, atol=1e-3)
