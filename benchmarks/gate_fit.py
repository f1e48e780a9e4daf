"""How well do distance and coverage tell whether the content answers a question? Fits the retriever's logistic.

Run: python -m benchmarks.gate_fit [DATA]   (DATA holds qa/squad2-dev9 and qa/hotpotqa-200)

Three kinds of question over squad2-dev9: answerable; unanswerable by SQuAD's authors, who wrote them to look
answerable beside the very paragraph; and answerable ones whose whole article is left out, as a stray question
finds it. The fit weighs answerable and not equally. hotpotqa-200 (its passages left out or not) is held out.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from services.retriever.domain.gate import RARE, Evidence, answerable_by_lists
from services.retriever.domain.hits import Covered
from services.retriever.domain.limits import BM25_FLOOR, GATE_DISTANCE
from services.shared.contracts.ids import ChunkId, DocumentId
from services.shared.index.analyser import question_tokens, tokens
from services.shared.index.bm25 import BM25Index
from services.shared.kit.settings import EmbedderSettings
from services.shared.models.embedder import Embedder
from services.shared.models.loader import load_embedder

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Asked:
    """A question over texts of which some are left out."""

    kind: str
    question: str
    without: frozenset[str]


def main(data: Path) -> None:
    """Print the fitted coefficients, AUROC by kind of question, and what the gate and the floor do."""
    model = load_embedder(EmbedderSettings())
    rows, asked = squad(data / "qa" / "squad2-dev9")
    seen = evidence(model, rows, asked)
    answered = np.array([one.kind == "answerable" for one in asked])
    x = np.array([[1.0, one.distance or 0.0, one.covered.share if one.covered else 0.0] for one in seen])
    weights = fit(x, answered.astype(float))
    print(f"fitted: intercept {weights[0]:.2f}, distance {weights[1]:.2f}, coverage {weights[2]:.2f}\n")
    print("| squad2-dev9 | questions | AUROC, refitted on four fifths | AUROC of the product |\n|---|---|---|---|")
    folded, product = cross_fitted(x, answered), np.array([answerable_by_lists(one) for one in seen])
    kinds = np.array([one.kind for one in asked])
    for kind in ("written to mislead", "article left out"):
        chosen = answered | (kinds == kind)
        row = [auroc(scores[chosen], answered[chosen]) for scores in (folded, product)]
        print(f"| answerable against {kind} | {chosen.sum()} | {row[0]:.3f} | {row[1]:.3f} |")
    print(f"| all | {len(asked)} | {auroc(folded, answered):.3f} | {auroc(product, answered):.3f} |\n")
    gate_table(seen, kinds)
    rows, asked = hotpot(data / "qa" / "hotpotqa-200")
    seen = evidence(model, rows, asked)
    answered = np.array([one.kind == "answerable" for one in asked])
    print(
        f"\nhotpotqa-200, held out: AUROC {auroc(np.array([answerable_by_lists(one) for one in seen]), answered):.3f}"
    )


def squad(folder: Path) -> tuple[list[dict[str, str]], list[Asked]]:
    """The paragraphs, and every question with its kind."""
    rows = read(folder / "corpus.jsonl")
    titles = {row["_id"]: row["title"] for row in rows}
    articles = {title: frozenset(id for id, other in titles.items() if other == title) for title in titles.values()}
    asked = []
    for row in read(folder / "queries.jsonl"):
        kind = "answerable" if row["answerable"] else "written to mislead"
        asked.append(Asked(kind, row["text"], frozenset()))
        if row["answerable"]:
            asked.append(Asked("article left out", row["text"], articles[titles[row["paragraph"]]]))
    return rows, asked


def hotpot(folder: Path) -> tuple[list[dict[str, str]], list[Asked]]:
    """Each question twice: with its passages and without them."""
    gone = json.loads((folder / "unanswerable_if_dropped.json").read_text(encoding="utf-8"))
    asked = []
    for row in read(folder / "queries.jsonl"):
        asked.append(Asked("answerable", row["text"], frozenset()))
        asked.append(Asked("left out", row["text"], frozenset(gone.get(row["_id"], row["gold"]))))
    return read(folder / "corpus.jsonl"), asked


def evidence(model: Embedder, rows: Sequence[dict[str, str]], asked: Sequence[Asked]) -> list[Evidence]:
    """What the retriever's two indexes would say of each question: exact nearest text, best BM25 text."""
    ids = [row["_id"] for row in rows]
    texts = [f"{row['title']}\n{row['text']}" for row in rows]
    held = {id: tokens(text) for id, text in zip(ids, texts, strict=True)}
    index = BM25Index()
    for id in ids:
        index.add(ChunkId(id), held[id], document_id=DocumentId(id))
    near = model.embed_questions([one.question for one in asked]) @ model.embed_documents(texts).T
    highest = np.log(len(index) + 1)
    found = []
    for one, similarities in zip(asked, near, strict=True):
        terms = question_tokens(one.question)
        best = next((hit.chunk_id for hit in index.search(terms, 100) if hit.chunk_id not in one.without), None)
        share = index.coverage(terms, held[best]) if best else 0.0
        allowed = [similarity for id, similarity in zip(ids, similarities, strict=True) if id not in one.without]
        rarity = max((index.idf(term) for term in terms), default=0.0) / highest
        found.append(Evidence(1.0 - float(max(allowed)), Covered(share, rarity), vectors_asked=True))
    return found


def fit(x: Array, answered: Array) -> Array:
    """Logistic regression by Newton's method; both classes weigh the same."""
    weight = np.where(answered == 1, 0.5 / answered.mean(), 0.5 / (1 - answered.mean()))
    weights = np.zeros(x.shape[1])
    for _ in range(30):
        p = 1 / (1 + np.exp(-x @ weights))
        gradient = x.T @ (weight * (answered - p))
        curvature = (x * (weight * p * (1 - p))[:, None]).T @ x
        weights += np.linalg.solve(curvature, gradient)
    return weights


def cross_fitted(x: Array, answered: NDArray[np.bool_]) -> Array:
    """Each question's score by a fit that has not seen it."""
    folds = np.arange(len(x)) % 5
    scores = np.zeros(len(x))
    for fold in range(5):
        scores[folds == fold] = x[folds == fold] @ fit(x[folds != fold], answered[folds != fold].astype(float))
    return scores


def auroc(scores: Array, answered: NDArray[np.bool_]) -> float:
    """Chance that an answerable question scores above another; ties count half."""
    yes, no = scores[answered], scores[~answered]
    return float((yes[:, None] > no).mean() + (yes[:, None] == no).mean() / 2)


def gate_table(seen: Sequence[Evidence], kinds: NDArray[np.str_]) -> None:
    """Share of each kind of question that passes the gate, with and without confident words."""
    near = np.array([one.distance is not None and one.distance <= GATE_DISTANCE for one in seen])
    shares = np.array([one.covered.share if one.covered else 0.0 for one in seen])
    rare = np.array([one.covered is not None and one.covered.rarity >= RARE for one in seen])
    print("| passes the gate | by distance | or words ≥ 0.7 | ≥ 0.8 | ≥ 0.9 | under the floor |")
    print("|---|---|---|---|---|---|")
    for kind in dict.fromkeys(kinds):
        of = kinds == kind
        cells = [near[of].mean(), *((near | (rare & (shares >= limit)))[of].mean() for limit in (0.7, 0.8, 0.9))]
        cells.append((shares < BM25_FLOOR)[of].mean())
        print(f"| {kind} | {' | '.join(f'{cell:.3f}' for cell in cells)} |")
    floors = (0.2, 0.25, 0.3, 0.35)
    likely = np.array([answerable_by_lists(one) for one in seen])
    print(f"\n| share that is less likely answerable than | {' | '.join(map(str, floors))} |")
    print(f"|---|{'---|' * len(floors)}")
    for kind in dict.fromkeys(kinds):
        print(f"| {kind} | {' | '.join(f'{(likely[kinds == kind] < floor).mean():.3f}' for floor in floors)} |")


def read(path: Path) -> list[dict[str, str]]:
    """The rows of a JSON-lines file."""
    return [json.loads(line) for line in path.open(encoding="utf-8")]


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/data"))
