"""How quick and how large is BM25? Ragstone's index against rank-bm25 over the same chunks, in one run.

Run: python -m benchmarks.bm25_speed [--chunks 100000] [--words 100000]

Words are drawn by Zipf's law. Times are medians and, behind the stroke, the worst; a question counts as cold when
the index was changed just before it, as warm when it is asked again. Loading is measured in fresh processes whose
imports are done. On a busy machine ``--cpu`` measures the time that the work itself took on a core.
"""

import argparse
import gc
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import TypeVar

import numpy as np
import psutil
from numpy.typing import NDArray
from rank_bm25 import BM25Plus

from services.shared.contracts.ids import ChunkId, DocumentId, VersionId, chunk_id
from services.shared.index import bm25_snapshot
from services.shared.index.bm25 import Bm25Chunk, BM25Index

LENGTH = 100
CHUNKS_PER_DOCUMENT = 5
QUESTION = 5
DEPTH = 10
ASKED = 200
ASKED_ORACLE = 20
CHANGES = 30
STARTS = 3
SAVES = 3
SEED = 20260301

Question = list[str]
T = TypeVar("T")

clock = time.perf_counter


def main(chunks: int, words: int) -> None:
    """Print the figures as Markdown."""
    rng = np.random.default_rng(SEED)
    numbers = drawn(rng, chunks, words)
    names = np.array([f"w{n}" for n in range(words)], dtype=object)
    texts: list[Question] = [row.tolist() for row in names[numbers]]
    before = memory()
    start = clock()
    index = BM25Index()
    for first in range(0, chunks, CHUNKS_PER_DOCUMENT):
        put(index, first // CHUNKS_PER_DOCUMENT, texts[first : first + CHUNKS_PER_DOCUMENT])
    print(f"built from tokens in {clock() - start:.1f} s, {memory() - before:.0f} MB\n")
    before = memory()
    oracle = BM25Plus(texts, delta=0, k1=index.k1, b=index.b)
    print(f"rank-bm25 built, {memory() - before:.0f} MB\n")
    with tempfile.TemporaryDirectory() as folder:
        start = clock()
        index.save(Path(folder), index_id="i", seq=1)
        size = (Path(folder) / bm25_snapshot.FILE).stat().st_size / 1e6
        print(f"snapshot written in {clock() - start:.2f} s, {size:.0f} MB\n")
        starts(Path(folder))
        loaded = BM25Index.load(Path(folder), index_id="i")
    assert loaded is not None
    for name, one in (("as built", index), ("as loaded", loaded[0])):
        print(f"### {name}\n")
        asked = questions(rng, texts, numbers, names)
        compare(one, oracle, asked)
        change(one, texts, numbers, names, rng)
        while_saving(one, asked["5 words drawn from a chunk"])


def drawn(rng: np.random.Generator, chunks: int, words: int) -> NDArray[np.intp]:
    """Word numbers, a row a chunk; number 0 is the commonest."""
    shares = 1 / np.arange(1, words + 1)
    return np.searchsorted(np.cumsum(shares / shares.sum()), rng.random((chunks, LENGTH))).clip(max=words - 1)


def questions(
    rng: np.random.Generator, texts: Sequence[Question], numbers: NDArray[np.intp], names: NDArray[np.object_]
) -> dict[str, list[Question]]:
    """Kinds of questions, each question asked once."""
    held = np.bincount(np.concatenate([np.unique(row) for row in numbers]), minlength=len(names))
    share = held / len(numbers)
    common, middling = np.flatnonzero(share > 0.05), np.flatnonzero((share > 0.001) & (share <= 0.05))
    rare = np.flatnonzero((held > 0) & (share <= 0.001))

    def mixed() -> Question:
        groups = ((common, 1), (middling, 2), (rare, 2))
        return [str(names[n]) for group, many in groups for n in rng.choice(group, many, replace=False)]

    def of_a_text() -> Question:
        return [str(word) for word in rng.choice(texts[int(rng.integers(len(texts)))], QUESTION, replace=False)]

    def all_rare() -> Question:
        return [str(names[n]) for n in rng.choice(rare, QUESTION, replace=False)]

    def commonest() -> Question:
        return [str(names[n]) for n in rng.permutation(np.argsort(-held)[: 2 * QUESTION])[:QUESTION]]

    kinds = {
        "1 common, 2 middling, 2 rare words": mixed,
        "5 words drawn from a chunk": of_a_text,
        "5 rare words": all_rare,
        "5 of the 10 commonest words": commonest,
    }
    return {name: [make() for _ in range(ASKED)] for name, make in kinds.items()}


def compare(index: BM25Index, oracle: BM25Plus, kinds: dict[str, list[Question]]) -> None:
    """A row a kind of question; rank-bm25 is asked in between, and every score that both gave is compared."""
    print(
        "| question | rank-bm25 get_scores, ms | ours cold, ms | ratio | ours warm, ms | ratio | largest difference |"
    )
    print("|---|---|---|---|---|---|---|")
    for name, asked in kinds.items():
        theirs: list[float] = []
        cold: list[float] = []
        warm: list[float] = []
        worst = 0.0
        for n, one in enumerate(asked):
            search = partial(index.search, one, DEPTH)
            if n % (ASKED // ASKED_ORACLE) == 0:
                taken, expected = timed(partial(oracle.get_scores, one))
                theirs.append(taken)
                scores = np.fromiter(index.scores(one).values(), float)
                worst = max(worst, float(np.abs(scores - expected).max()))
            nudge(index)
            cold.append(timed(search)[0])
            warm.append(timed(search)[0])
        print(
            f"| {name} | {shown(theirs)} | {shown(cold)} | {median(theirs) / median(cold):.0f} | "
            f"{shown(warm)} | {median(theirs) / median(warm):.0f} | {worst:.1e} |",
            flush=True,
        )
    print()


def change(
    index: BM25Index,
    texts: Sequence[Question],
    numbers: NDArray[np.intp],
    names: NDArray[np.object_],
    rng: np.random.Generator,
) -> None:
    """Documents added, replaced and removed, each with the first search after it."""
    asked = questions(rng, texts, numbers[:2000], names)["5 words drawn from a chunk"]
    fresh = [[str(word) for word in names[row]] for row in drawn(rng, CHUNKS_PER_DOCUMENT * CHANGES * 2, len(names))]
    after = len(texts) // CHUNKS_PER_DOCUMENT

    def step(number: int, chunks: list[Question]) -> float:
        def work() -> None:
            put(index, number, chunks)
            index.search(asked[number % len(asked)], DEPTH)

        return timed(work)[0]

    def of(n: int) -> list[Question]:
        return fresh[n * CHUNKS_PER_DOCUMENT : (n + 1) * CHUNKS_PER_DOCUMENT]

    print("| change of a document of 5 chunks and the first search after it | ms |\n|---|---|")
    print(f"| added | {shown([step(after + n, of(n)) for n in range(CHANGES)])} |")
    print(f"| replaced | {shown([step(after + n, of(CHANGES + n)) for n in range(CHANGES)])} |")
    print(f"| removed | {shown([step(after + n, []) for n in range(CHANGES)])} |")
    left_out = frozenset(list(index.scores(["w9"]))[:200])
    warm = [timed(partial(index.search, one, DEPTH, without=left_out))[0] for one in asked]
    print(f"| (no change; 200 chunks left out by id) | {shown(warm)} |\n", flush=True)


def while_saving(index: BM25Index, asked: Sequence[Question]) -> None:
    """Searches while a thread writes snapshots, as the follower's does behind the questions."""
    with tempfile.TemporaryDirectory() as folder:
        save = partial(index.save, Path(folder), index_id="i", seq=1)
        rounds: list[float] = []
        for n in range(SAVES):
            nudge(index)
            writer = threading.Thread(target=save)
            writer.start()
            while writer.is_alive():
                rounds.append(timed(partial(index.search, asked[(n + len(rounds)) % len(asked)], DEPTH))[0])
            writer.join()
    print(f"{len(rounds)} searches while {SAVES} snapshots were written: {shown(rounds)} ms\n", flush=True)


def starts(folder: Path) -> None:
    """Loads in fresh processes."""
    command = [sys.executable, "-m", "benchmarks.bm25_speed", "--load", str(folder)]
    if clock is time.thread_time:
        command.append("--cpu")
    for _ in range(STARTS):
        told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        print(
            f"loaded in {told['load']:.0f} ms, first search {told['first']:.1f} ms, second {told['second']:.1f} ms; "
            f"resident {told['before']:.0f} MB before, {told['after']:.0f} MB after; arrays {told['arrays']:.0f} MB\n"
        )


def load(folder: Path) -> None:
    """What a fresh process does: one load, two searches."""
    before = memory()
    taken, loaded = timed(lambda: BM25Index.load(folder, index_id="i"))
    assert loaded is not None
    index = loaded[0]
    first, _ = timed(lambda: index.search(["w3", "w77", "w1500", "w40000", "w80"], DEPTH))
    second, _ = timed(lambda: index.search(["w5", "w78", "w1501", "w40001", "w81"], DEPTH))
    gc.collect()
    told = {"load": taken, "first": first, "second": second, "before": before, "after": memory()}
    snapshot = bm25_snapshot.read(folder, index_id="i")
    assert snapshot is not None
    columns = [*vars(snapshot[1].chunks).values(), *vars(snapshot[1].postings).values()]
    arrays = sum(column.nbytes for column in columns if isinstance(column, np.ndarray)) / 1e6
    print(json.dumps(told | {"arrays": arrays}))


def put(index: BM25Index, number: int, texts: Sequence[Question]) -> None:
    """A document's chunks, with ids of the real length."""
    document, version = DocumentId(f"folder/document-{number}.md"), VersionId(f"{number:032x}")
    index.replace_document(
        document, [Bm25Chunk(chunk_id(version, n), text, document, "md", ("a",)) for n, text in enumerate(texts)]
    )


def nudge(index: BM25Index) -> None:
    """A change that leaves every score as it is."""
    index.add(ChunkId("nudge"), ["nudge"], document_id=DocumentId("nudge"))
    index.remove(ChunkId("nudge"))


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """Milliseconds, and what came of it."""
    start = clock()
    result = work()
    return (clock() - start) * 1000, result


def memory() -> float:
    """Resident megabytes of this process."""
    return float(psutil.Process().memory_info().rss) / 1e6


def shown(milliseconds: Sequence[float]) -> str:
    return f"{median(milliseconds):.2f} / {max(milliseconds):.2f}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--words", type=int, default=100_000)
    parser.add_argument("--load", type=Path, help="only load a snapshot from this folder and tell how it went")
    parser.add_argument("--cpu", action="store_true", help="measure time on the core instead of time on the wall")
    options = parser.parse_args()
    if options.cpu:
        clock = time.thread_time
    if options.load:
        load(options.load)
    else:
        main(options.chunks, options.words)
