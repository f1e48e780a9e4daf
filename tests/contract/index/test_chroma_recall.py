"""Nothing nearer is missed: the approximate search against an exact one."""

import json
from pathlib import Path

import numpy as np
import pytest

from services.shared.catalog.indexes import EmbedderSpec
from services.shared.contracts.search import Filters
from services.shared.index.chroma import VectorIndex, Vectors
from services.shared.index.filters import wanted

from .vectors import item, reader, row, rows

CORPUS = Path(__file__).parents[4] / "shared" / "cases" / "files" / "v20_filter_corpus.jsonl"


def exact(vectors: Vectors, names: list[str], asked: Vectors, k: int) -> list[list[str]]:
    near = vectors / np.linalg.norm(vectors, axis=1, keepdims=True) @ asked.T
    return [[names[n] for n in np.argsort(-column, kind="stable")[:k]] for column in near.T]


def test_recall_with_a_narrow_filter_among_near_equal_vectors(chroma_url: str) -> None:
    """The shape of a shift log with a handful of policies in it: 1,500 notes that are almost one, 6 others."""
    random = np.random.default_rng(20)
    notes = random.normal(size=64) + random.normal(scale=0.02, size=(1500, 64))
    policies = random.normal(size=(6, 64))
    vectors = np.concatenate([notes, policies]).astype(np.float32)
    names = [f"note-{n:04d}" for n in range(1500)] + [f"policy-{n}" for n in range(6)]
    index = VectorIndex(chroma_url, row(EmbedderSpec("m", "r", 64, "", "", 256)))
    index.upsert([item(name, type=name[:4]) for name in names], vectors)
    asked = np.concatenate([random.normal(size=(50, 64)), vectors[::30] + 0.01]).astype(np.float32)
    near = reader(index)
    best = exact(vectors[1500:], names[1500:], asked, 5)
    five = near.query(asked, 5, wanted(Filters(type="poli")))
    assert [[hit.chunk_id for hit in hits] for hits in five] == best
    assert [len(hits) for hits in near.query(asked, 50, wanted(Filters(type="poli")))] == [6] * len(asked)
    few, many = near.query(asked, 5), near.query(asked, 50)
    assert few == [hits[:5] for hits in many]
    truth = exact(vectors, names, asked, 5)
    shared = [len(set(right) & {hit.chunk_id for hit in hits}) / 5 for right, hits in zip(truth, few, strict=True)]
    assert np.mean(shared) >= 0.99


def test_what_the_approximate_search_leaves_out_is_measured(chroma_url: str) -> None:
    index = VectorIndex(chroma_url, row())
    index.upsert([item("c1"), item("c2"), item("c3")], rows([1, 0, 0, 0], [1, 1, 0, 0], [-1, 0, 0, 0]))
    near: list[dict[str, float]] = [{"c2": 0.25}, {}]
    reader(index)._complete(near, rows([1, 0, 0, 0], [0, 1, 0, 0]), {})
    assert near[0] == pytest.approx({"c1": 0, "c2": 0.25, "c3": 2}, abs=1e-6)
    assert near[1] == pytest.approx({"c1": 1, "c2": 1 - 0.5**0.5, "c3": 1}, abs=1e-6)


@pytest.mark.skipif(not CORPUS.exists(), reason="the filter corpus is not beside the checkout")
@pytest.mark.slow
def test_policies_are_found_among_the_notes(chroma_url: str) -> None:
    from services.shared.kit.settings import EmbedderSettings
    from services.shared.models.loader import load_embedder

    corpus = [json.loads(line) for line in CORPUS.open(encoding="utf-8")]
    model = load_embedder(EmbedderSettings(embed_batch=32))
    index = VectorIndex(chroma_url, row(model.spec))
    vectors = model.embed_documents([entry["text"] for entry in corpus])
    index.upsert([item(entry["id"], type=entry["type"]) for entry in corpus], vectors)
    near = reader(index)
    asked = model.embed_questions(["who approves holiday requests"])
    (hits,) = near.query(asked, 5, wanted(Filters(type="policy")))
    policies = [n for n, entry in enumerate(corpus) if entry["type"] == "policy"]
    assert [hit.chunk_id for hit in hits] == exact(vectors[policies], [corpus[n]["id"] for n in policies], asked, 5)[0]
    assert hits[0].chunk_id == "policy-0"
    questions = vectors[:: len(vectors) // 100]
    few, many = near.query(questions, 5), near.query(questions, 50)
    assert few == [found[:5] for found in many]
    truth = vectors @ questions.T
    for column, found in zip(truth.T, few, strict=True):
        # Near-equal notes tie: what counts is that nothing nearer was missed.
        assert found[-1].distance <= 1 - np.sort(column)[-5] + 1e-5
