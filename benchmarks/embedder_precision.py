"""What does bfloat16 cost in ranking and gain in speed, and which batch is quickest? On SciFact, exact cosine.

Run: python -m benchmarks.embedder_precision [DATA] [TEXTS]   (TEXTS: how many abstracts, judged ones first; all)
Speed is counted in seconds of this process's one thread, so that other work on the machine does not count.
"""

import sys
import time
from pathlib import Path
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from benchmarks.ranking import DEPTH, Judged, load, ndcg
from services.shared.kit.logs import configure_logs
from services.shared.kit.settings import EmbedderSettings, LogSettings
from services.shared.models.embedder import Embedder
from services.shared.models.loader import load_embedder

PRECISIONS = ("float32", "bfloat16")
BATCHES = (4, 8, 16, 32)
TIMED = 300


def main(data: Path, limit: int | None) -> None:
    """Print one table of speed by batch and one of ranking by precision."""
    configure_logs("benchmark", LogSettings(log_level="ERROR"))
    judged = load(data / "ir" / "scifact-train")
    timed = judged.texts[:TIMED]
    print(f"| texts a second of {TIMED} abstracts, batch | {' | '.join(map(str, BATCHES))} |")
    print(f"|---|{'---|' * len(BATCHES)}")
    for precision in PRECISIONS:
        speeds = [f"{speed(embedder(precision, batch), timed):.1f}" for batch in BATCHES]
        print(f"| {precision} | {' | '.join(speeds)} |", flush=True)
    chosen = judged_first(judged)[:limit]
    print(f"\n| ranking {len(chosen)} abstracts | nDCG@{DEPTH} | lowest cosine to float32 |\n|---|---|---|")
    exact: NDArray[np.float32] | None = None
    for precision in PRECISIONS:
        model = embedder(precision, 8)
        texts = model.embed_documents([judged.texts[n] for n in chosen])
        exact = texts if exact is None else exact
        score = ranking(judged, chosen, texts, model.embed_questions(list(judged.questions.values())))
        print(f"| {precision} | {score:.4f} | {float((texts * exact).sum(axis=1).min()):.5f} |", flush=True)


def embedder(precision: str, batch: int) -> Embedder:
    return load_embedder(EmbedderSettings(embedder_precision=precision, embed_batch=batch))


def speed(model: Embedder, texts: list[str]) -> float:
    """Texts a second of processor time."""
    model.embed_documents(texts[:8])
    start = time.thread_time()
    model.embed_documents(texts)
    return len(texts) / (time.thread_time() - start)


def judged_first(judged: Judged) -> list[int]:
    """Places of the texts, those that are relevant to any question first."""
    relevant = {text for gains in judged.gains.values() for text in gains}
    return sorted(range(len(judged.ids)), key=lambda n: judged.ids[n] not in relevant)


def ranking(judged: Judged, chosen: list[int], texts: NDArray[np.float32], asked: NDArray[np.float32]) -> float:
    """Mean nDCG@10 of exact search."""
    order = np.argsort(-(asked @ texts.T), axis=1, kind="stable")[:, :DEPTH]
    ranked = [[judged.ids[chosen[n]] for n in row] for row in order]
    return fmean(ndcg(row, judged.gains[question]) for row, question in zip(ranked, judged.questions, strict=True))


if __name__ == "__main__":
    arguments = sys.argv[1:]
    main(Path(arguments[0] if arguments else "../shared/data"), int(arguments[1]) if len(arguments) > 1 else None)
