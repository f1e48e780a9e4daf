"""Which BM25 ranks best with Ragstone's analyser? rank-bm25's three variants, nDCG@10, as a Markdown table.

Run: python -m benchmarks.bm25_variants [DATA]   (DATA holds ir/scifact-train, ir/cranfield, ir/medline)
"""

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean

import numpy as np
from rank_bm25 import BM25L, BM25Okapi, BM25Plus

from benchmarks.ranking import DEPTH, Judged, load, ndcg
from services.shared.contracts.ids import ChunkId, DocumentId
from services.shared.index.analyser import question_tokens, tokens
from services.shared.index.bm25 import BM25Index

COLLECTIONS = ("scifact-train", "cranfield", "medline")
VARIANTS = {"BM25Okapi": BM25Okapi, "BM25L": BM25L, "BM25Plus": BM25Plus}
K1 = (0.9, 1.2, 1.5, 2.0)
B = (0.4, 0.55, 0.75)

Rank = Callable[[list[str]], Sequence[str]]


def main(data: Path) -> None:
    """Print a row a variant and setting, then what Ragstone's own index gives and how quickly."""
    sets = [load(data / "ir" / name) for name in COLLECTIONS]
    texts = {judged.name: [tokens(text) for text in judged.texts] for judged in sets}
    print(f"| variant | k1 | b | {' | '.join(COLLECTIONS)} | mean |\n|---|---|---|{'---|' * (len(COLLECTIONS) + 1)}")
    for variant, scorer in VARIANTS.items():
        for k1 in K1:
            for b in B:
                row = [measure(judged, oracle(judged, scorer(texts[judged.name], k1=k1, b=b))) for judged in sets]
                print(_row(variant, k1, b, row), flush=True)
    row = []
    for judged in sets:
        index = BM25Index()
        for id, text in zip(judged.ids, texts[judged.name], strict=True):
            index.add(ChunkId(id), text, document_id=DocumentId(id))
        start = time.perf_counter()
        row.append(measure(judged, product(index)))
        milliseconds = (time.perf_counter() - start) * 1000 / len(judged.questions)
        print(f"<!-- {judged.name}: {milliseconds:.2f} ms a question over {len(index)} texts -->")
    print(_row("Ragstone", index.k1, index.b, row))


def measure(judged: Judged, rank: Rank) -> float:
    """Mean nDCG@10 over the questions."""
    return fmean(ndcg(rank(question_tokens(text)), judged.gains[id]) for id, text in judged.questions.items())


def oracle(judged: Judged, scorer: BM25Okapi | BM25L | BM25Plus) -> Rank:
    """rank-bm25's order, ties by place in the collection."""

    def rank(asked: list[str]) -> list[str]:
        order = np.argsort(-scorer.get_scores(asked), kind="stable")[:DEPTH]
        return [judged.ids[n] for n in order]

    return rank


def product(index: BM25Index) -> Rank:
    """The order of Ragstone's own index."""
    return lambda asked: [hit.chunk_id for hit in index.search(asked, DEPTH)]


def _row(variant: str, k1: float, b: float, row: Sequence[float]) -> str:
    return f"| {variant} | {k1} | {b} | {' | '.join(f'{value:.4f}' for value in [*row, fmean(row)])} |"


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/data"))
