"""What Chroma's ef_search costs, and what it finds among chunks that are nearly equal: recall@5 as a Markdown table.

Run: python -m benchmarks.search_crowd

Two collections: 1,500 and 20,000 vectors in one narrow direction (a log of near-equal notes), and a fifth as many
anywhere. Asked from anywhere ("far"), from the crowd's own subject ("near"), and for one of its members ("member").
The setting takes effect when the server loads a collection, so it is started anew for each.
"""

import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray

from benchmarks.search_latency import chroma
from services.shared.index.chroma_http import COLLECTIONS, ChromaHttp

WIDTH = 384
CROWDS = {"crowd-1500": 1500, "crowd-20000": 20_000}
EFS = (100, 200, 500, 1000, 2000, 4000)
QUESTIONS = 60
NARROW, NEAR = 0.15, 0.7
"""How far a member, and a question about the crowd, lie from its middle; all vectors have length 1."""

Vectors = NDArray[np.float32]


def main() -> None:
    """Fill both collections, then measure each setting."""
    made = {name: crowd(size, seed) for seed, (name, size) in enumerate(CROWDS.items())}
    heads = [f"{name}: {kind}" for name in made for kind in ("far", "near", "member")]
    print(f"| ef_search | {' | '.join(heads)} |\n|---|{'---|' * len(heads)}")
    with tempfile.TemporaryDirectory() as folder:
        with chroma(Path(folder)) as url:
            ids = {name: stored(ChromaHttp(url, timeout_s=60), name, vectors) for name, (vectors, _) in made.items()}
        for ef in EFS:
            with chroma(Path(folder)) as url:
                for id in ids.values():
                    ChromaHttp(url, timeout_s=60).call(
                        "PUT", f"{COLLECTIONS}/{id}", {"new_configuration": {"hnsw": {"ef_search": ef}}}
                    )
            with chroma(Path(folder)) as url:
                server = ChromaHttp(url, timeout_s=60)
                row = [
                    measured(server, ids[name], vectors, asked)
                    for name, (vectors, all) in made.items()
                    for asked in all
                ]
                print(f"| {ef} | {' | '.join(row)} |", flush=True)


def crowd(size: int, seed: int) -> tuple[Vectors, list[Vectors]]:
    """The vectors, and three sets of questions."""
    random = np.random.default_rng(seed)
    middle = unit(random.normal(size=(1, WIDTH)))
    members = unit(middle + NARROW * unit(random.normal(size=(size, WIDTH))))
    others = unit(random.normal(size=(size // 5, WIDTH)))
    far = unit(random.normal(size=(QUESTIONS, WIDTH)))
    return np.concatenate([members, others]), [far, unit(middle + NEAR * far), unit(members[:QUESTIONS] + 0.05 * far)]


def unit(vectors: NDArray[np.floating]) -> Vectors:
    """The same directions, length 1."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / lengths, dtype=np.float32)


def stored(server: ChromaHttp, name: str, vectors: Vectors) -> str:
    """Make the collection; its id."""
    made = server.call("POST", COLLECTIONS, {"name": name, "configuration": {"hnsw": {"space": "cosine"}}})
    for first in range(0, len(vectors), 2000):
        part = vectors[first : first + 2000]
        body = {"ids": [str(first + n) for n in range(len(part))], "embeddings": part}
        server.call("POST", f"{COLLECTIONS}/{made['id']}/upsert", body)
    return str(made["id"])


def measured(server: ChromaHttp, id: str, vectors: Vectors, asked: Vectors) -> str:
    """Recall of the five nearest against a scan, and the median time of a query."""
    nearest = np.argsort(-(vectors @ asked.T), axis=0, kind="stable")[:5].T
    hits, taken = 0, []
    for question, right in zip(asked, nearest, strict=True):
        began = time.perf_counter()
        found = server.ask(id, "query", {"query_embeddings": question[None, :], "n_results": 100, "include": []})
        taken.append(1000 * (time.perf_counter() - began))
        hits += len(set(map(str, right)) & set(found["ids"][0][:5]))
    return f"{hits / 5 / len(asked):.3f}, {median(taken):.1f} ms"


if __name__ == "__main__":
    main()
