"""What each way of computing vectors costs: a question, many documents, memory, a start; and its loss in ranking.

Run: python -m benchmarks.embedder_backends [--data DATA] [--texts 1500] [--questions 300] [--only RANKING|SPEED]

Every backend runs in a process of its own with one thread. Questions and documents are timed in seconds of that
process's thread, so that other work on the machine counts little; the start is from a process's beginning to its
first vector, by the clock. Ranking is nDCG@10 of exact search over SciFact abstracts, all that are judged among
them, for every pair of a backend for the questions and one for the documents. Prints three Markdown tables.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import fmean, median

import numpy as np
from numpy.typing import NDArray

from benchmarks.ranking import DEPTH, Judged, load, ndcg
from services.shared.kit.logs import configure_logs
from services.shared.kit.settings import EmbedderSettings, LogSettings
from services.shared.models.backends import Backend
from services.shared.models.embedder import Embedder
from services.shared.models.export import export

BACKENDS = (
    Backend("torch", "float32"),
    Backend("torch", "bfloat16"),
    Backend("onnx", "float32"),
    Backend("onnx", "int8"),
)
BATCHES = (1, 4, 8, 16, 32)
TIMED = 96
CHUNK_WORDS = 150
STARTS = 3
LOSS = 0.005

Matrix = NDArray[np.float32]


def main() -> None:
    """Run it from the command line; a child runs one backend."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--texts", type=int, default=1500)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--only", choices=("speed", "ranking"))
    parser.add_argument("--child", choices=("first", "speed", "vectors"))
    parser.add_argument("--backend", nargs=2, default=("onnx", "float32"))
    parser.add_argument("--into", type=Path)
    options = parser.parse_args()
    configure_logs("benchmark", LogSettings(log_level="ERROR"))
    backend = Backend(*options.backend)
    if options.child == "first":
        embedder(backend).embed_questions(["How is it?"])
        print("first", flush=True)
        return
    judged = chosen(load(options.data / "ir" / "scifact-train"), options.texts, options.questions)
    if options.child == "speed":
        print(json.dumps(speeds(backend, judged)))
        return
    if options.child == "vectors":
        model = embedder(backend)
        asked = model.embed_questions(list(judged.questions.values()))
        np.savez(options.into, asked=asked, texts=model.embed_documents(judged.texts))
        return
    for one in BACKENDS:
        export(settings(one))
    if options.only != "ranking":
        speed_table(options.data)
    if options.only != "speed":
        ranking_table(judged, options.data)


def settings(backend: Backend) -> EmbedderSettings:
    """The settings that choose this backend."""
    return EmbedderSettings(embedder_backend=backend.library, embedder_precision=backend.precision)


def embedder(backend: Backend) -> Embedder:
    """The backend itself, not one that stands in for it."""
    from services.shared.models.loader import load_embedder

    model = load_embedder(settings(backend))
    if model.engine != str(backend):
        raise SystemExit(f"{backend} was asked for and {model.engine} was loaded")
    return model


def chosen(judged: Judged, texts: int, questions: int) -> Judged:
    """The first questions, every text that is relevant to any of them, and others up to the number of texts."""
    asked = dict(list(judged.questions.items())[:questions])
    gains = {question: judged.gains[question] for question in asked}
    relevant = {text for texts_of in gains.values() for text in texts_of}
    order = sorted(range(len(judged.ids)), key=lambda n: judged.ids[n] not in relevant)[: max(texts, len(relevant))]
    return Judged(judged.name, [judged.ids[n] for n in order], [judged.texts[n] for n in order], asked, gains)


def speeds(backend: Backend, judged: Judged) -> dict[str, float | str]:
    """One backend's figures, measured in this process."""
    import psutil

    model = embedder(backend)
    questions = list(judged.questions.values())[:100]
    words = " ".join(judged.texts).split()
    chunks = [" ".join(words[n * CHUNK_WORDS : (n + 1) * CHUNK_WORDS]) for n in range(TIMED)]
    model.embed_questions(questions[:5])
    one = [seconds(lambda question=question: model.embed_questions([question])) for question in questions]  # type: ignore[misc]
    four = [seconds(lambda n=n: model.embed_questions(questions[n : n + 4])) for n in range(0, 96, 4)]  # type: ignore[misc]
    resting = psutil.Process().memory_info().rss
    model.embed_documents(chunks[:32])
    working = psutil.Process().memory_info().rss
    by_batch = {}
    for batch in BATCHES:
        sized = Embedder(model.encoder, model.spec, batch, model.engine)
        sized.embed_documents(chunks[:batch])
        by_batch[batch] = TIMED / seconds(lambda sized=sized: sized.embed_documents(chunks))  # type: ignore[misc]
    best = max(by_batch, key=lambda batch: by_batch[batch])
    return {
        "one_ms": 1000 * median(one),
        "four_ms": 1000 * median(four),
        "documents": by_batch[best],
        "batch": best,
        "all": " ".join(f"{batch}:{speed:.0f}" for batch, speed in by_batch.items()),
        "rss_mb": resting / 1e6,
        "rss_documents_mb": working / 1e6,
    }


def seconds(work: Callable[[], object]) -> float:
    """Of this thread's processor time."""
    began = time.thread_time()
    work()
    return time.thread_time() - began


def child(*words: str) -> str:
    """Output of this module run as a child."""
    command = [sys.executable, "-m", "benchmarks.embedder_backends", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def speed_table(data: Path) -> None:
    """Seconds and megabytes of each backend."""
    heads = ["backend", "question p50", "4 questions p50", "documents/s (best batch)", "documents/s by batch"]
    heads += ["resident, questions only", "resident, documents too", "process start to first vector"]
    print(f"| {' | '.join(heads)} |")
    print(f"|{'---|' * len(heads)}")
    for backend in BACKENDS:
        words = ("--data", str(data), "--backend", backend.library, backend.precision)
        starts = []
        for _ in range(STARTS):
            began = time.perf_counter()
            child("--child", "first", *words)
            starts.append(time.perf_counter() - began)
        own = json.loads(child("--child", "speed", *words).splitlines()[-1])
        print(
            f"| {backend} | {own['one_ms']:.1f} ms | {own['four_ms']:.1f} ms | {own['documents']:.1f} "
            f"({own['batch']}) | {own['all']} | {own['rss_mb']:.0f} MB | {own['rss_documents_mb']:.0f} MB "
            f"| {min(starts):.1f} s |",
            flush=True,
        )


def ranking_table(judged: Judged, data: Path) -> None:
    """nDCG of every pair of backends, and the loss to the exact one for both."""
    made: dict[Backend, tuple[Matrix, Matrix]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for backend in BACKENDS:
            file = Path(folder) / f"{backend.library}-{backend.precision}.npz"
            size = ("--texts", str(len(judged.texts)), "--questions", str(len(judged.questions)))
            words = ("--data", str(data), "--backend", backend.library, backend.precision, *size)
            child("--child", "vectors", *words, "--into", str(file))
            with np.load(file) as saved:
                made[backend] = (saved["asked"], saved["texts"])
    exact = made[BACKENDS[0]]
    best = ranking(judged, *exact)
    heads = " | ".join(f"documents {backend}" for backend in BACKENDS)
    print(f"\n| nDCG@{DEPTH}, {len(judged.questions)} questions, {len(judged.texts)} abstracts | {heads} |")
    print(f"|---|{'---|' * len(BACKENDS)}")
    for asking in BACKENDS:
        scores = [ranking(judged, made[asking][0], made[backend][1]) for backend in BACKENDS]
        cells = [f"{score:.4f} ({score - best:+.4f}{' too much' if best - score > LOSS else ''})" for score in scores]
        print(f"| questions {asking} | {' | '.join(cells)} |")
    print("\n| backend | lowest cosine to torch in float32, questions | documents |\n|---|---|---|")
    for backend, (asked, texts) in made.items():
        lowest = [
            float((own * reference).sum(axis=1).min()) for own, reference in zip((asked, texts), exact, strict=True)
        ]
        print(f"| {backend} | {lowest[0]:.5f} | {lowest[1]:.5f} |")


def ranking(judged: Judged, asked: Matrix, texts: Matrix) -> float:
    """Mean nDCG@10 of exact search."""
    order = np.argsort(-(asked @ texts.T), axis=1, kind="stable")[:, :DEPTH]
    ranked = [[judged.ids[n] for n in row] for row in order]
    return fmean(ndcg(row, judged.gains[question]) for row, question in zip(ranked, judged.questions, strict=True))


if __name__ == "__main__":
    main()
