"""Which fusion ranks best? nDCG@10 and recall@5 of each list alone, of ranks and of scores, as a Markdown table.

Run: python -m benchmarks.fusion FOLDER…   (collections in BEIR form; add --cache FOLDER to keep their vectors)

The product's own chunks, embedder and BM25, outside of the services; passages are folded to documents. Brackets
hold the paired difference to reciprocal rank fusion with its 95 % bootstrap interval.
"""

import argparse
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.ranking import Judged, load, ndcg
from services.ingestor.domain.chunking import Limits, cut
from services.ingestor.domain.documents import Extracted
from services.retriever.domain.fusion import LIST_DEPTH, Fusion, fuse, weighed_by_critic
from services.retriever.domain.hits import Hit, RankedList
from services.retriever.domain.limits import CRITIC_CUT
from services.shared.contracts.ids import ChunkId, DocumentId
from services.shared.index.analyser import question_tokens, tokens
from services.shared.index.bm25 import BM25Index
from services.shared.kit.settings import EmbedderSettings
from services.shared.models.critic.features import Candidate, compare
from services.shared.models.critic.matching import Question
from services.shared.models.critic.runtime import shipped
from services.shared.models.embedder import Embedder
from services.shared.models.loader import load_embedder

RESAMPLES = 2000
Array = NDArray[np.float64]
Lists = tuple[RankedList, RankedList]
Order = Callable[["Asked", str], list[str]]
JUDGED = 14
"""Candidates that the critic judges of a question of middling length."""


@dataclass(frozen=True)
class Asked:
    """A collection with the two lists of each question, and which document each chunk is of."""

    judged: Judged
    documents: list[str]
    texts: list[str]
    index: BM25Index
    lists: dict[str, Lists]


def _fused(method: Fusion, depth: int = LIST_DEPTH) -> Order:
    return lambda asked, id: [one.chunk_id for one in fuse(asked.lists[id], method, depth)]


def _with_critic(asked: Asked, id: str) -> list[str]:
    """Relative scores, and the critic's word on the first of them."""
    fused = fuse(asked.lists[id], Fusion.RELATIVE)
    head = fused[:JUDGED]
    question = Question.of(
        asked.judged.questions[id], terms=question_tokens, idf=asked.index.idf, highest=math.log(len(asked.index) + 1)
    )
    seen = [
        Candidate(
            tokens(asked.texts[int(one.chunk_id)]), None if one.distance is None else 1.0 - one.distance, one.bm25
        )
        for one in head
    ]
    judged = shipped().judge(compare(question, seen))
    told = {one.chunk_id: p for one, p in zip(head, judged, strict=True)}
    return [one.chunk_id for one in weighed_by_critic(fused, told) if told.get(one.chunk_id, 1.0) >= CRITIC_CUT]


WAYS: dict[str, Order] = {
    "vectors": lambda asked, id: [hit.chunk_id for hit in asked.lists[id][0].hits],
    "BM25": lambda asked, id: [hit.chunk_id for hit in asked.lists[id][1].hits],
    "RRF of 10 hits": _fused(Fusion.RRF, 10),
    f"RRF of {LIST_DEPTH} hits": _fused(Fusion.RRF),
    "relative scores": _fused(Fusion.RELATIVE),
    "relative scores and critic": _with_critic,
}
BASE = f"RRF of {LIST_DEPTH} hits"


def main() -> None:
    """Print a table a collection."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--cache", type=Path)
    arguments = parser.parse_args()
    model = load_embedder(EmbedderSettings())
    for folder in arguments.folders:
        asked = ask(load(folder), model, arguments.cache)
        rows = {name: measure(asked, order) for name, order in WAYS.items()}
        print(f"\n| {folder.name} ({len(asked.judged.ids)}, {len(asked.lists)}) | nDCG@10 | recall@5 |\n|---|---|---|")
        for name, row in rows.items():
            cells = [
                f"{row[:, n].mean():.4f}{'' if name == BASE else difference(row[:, n] - rows[BASE][:, n])}"
                for n in range(2)
            ]
            print(f"| {name} | {' | '.join(cells)} |", flush=True)


def ask(judged: Judged, model: Embedder, cache: Path | None) -> Asked:
    """Cut, embed, index and ask."""
    texts: list[str] = []
    documents: list[str] = []
    for id, text in zip(judged.ids, judged.texts, strict=True):
        title, _, body = text.partition("\n")
        extracted = Extracted(text=body or title, markdown=False)
        for chunk in cut(extracted, title or id, Limits(150, model.spec.max_tokens), model.count_tokens):
            texts.append(chunk.search_text)
            documents.append(id)
    vectors = _kept(cache, judged.name, texts, model)
    index = BM25Index()
    for n, (text, document) in enumerate(zip(texts, documents, strict=True)):
        index.add(ChunkId(str(n)), tokens(text), document_id=DocumentId(document))
    near = model.embed_questions(list(judged.questions.values())) @ vectors.T
    lists = {}
    for (id, question), similarities in zip(judged.questions.items(), near, strict=True):
        nearest = np.argsort(-similarities, kind="stable")[:LIST_DEPTH]
        by_vector = tuple(Hit(ChunkId(str(n)), 1.0 - float(similarities[n])) for n in nearest)
        by_words = tuple(Hit(hit.chunk_id, hit.score) for hit in index.search(question_tokens(question), LIST_DEPTH))
        lists[id] = (RankedList("vector", 0, by_vector), RankedList("bm25", 0, by_words))
    return Asked(judged, documents, texts, index, lists)


def measure(asked: Asked, order: Order) -> Array:
    """(questions, 2): nDCG@10 and recall@5 of each."""
    rows = []
    for id in asked.lists:
        ranked = list(dict.fromkeys(asked.documents[int(chunk)] for chunk in order(asked, id)))
        gains = asked.judged.gains[id]
        rows.append([ndcg(ranked, gains), len(set(ranked[:5]) & set(gains)) / len(gains)])
    return np.array(rows)


def difference(paired: Array) -> str:
    """The mean difference with its interval, where that excludes zero."""
    drawn = np.random.default_rng(0).integers(0, len(paired), (RESAMPLES, len(paired)))
    low, high = np.quantile(paired[drawn].mean(axis=1), [0.025, 0.975])
    return f" ({paired.mean():+.3f}, {low:+.3f} to {high:+.3f})" if low > 0 or high < 0 else ""


def _kept(cache: Path | None, name: str, texts: Sequence[str], model: Embedder) -> NDArray[np.float32]:
    """The texts' vectors, from the cache where they were kept of the same texts."""
    file = None if cache is None else cache / f"{name}.npz"
    if file is not None and file.exists():
        with np.load(file) as kept:
            if json.loads(bytes(kept["texts"])) == list(texts):
                return np.asarray(kept["vectors"], dtype=np.float32)
    vectors = model.embed_documents(texts)
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        np.savez(file, vectors=vectors, texts=np.frombuffer(json.dumps(list(texts)).encode(), dtype=np.uint8))
    return vectors


if __name__ == "__main__":
    main()
