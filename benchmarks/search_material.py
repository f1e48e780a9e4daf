"""A space of any size for the benchmarks of searching: real sentences and vectors, mixed to the number wanted.

Embedding 200,000 texts would take an hour, so a few thousand are embedded and the others lie between two of them,
in their words and in their vectors, a little to the side.
"""

import hashlib
import json
import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from services.shared.catalog import chunks, documents, indexes
from services.shared.catalog.documents import Draft, NewChunk
from services.shared.catalog.engine import Catalog
from services.shared.contracts.ids import DocumentId, IndexId, SpaceId
from services.shared.index.chroma import VectorIndex, VectorItem
from services.shared.models.embedder import Embedder, ModelSpec

COLLECTIONS = ("scifact-train", "cranfield", "medline")
EMBEDDED = 4000
CHUNKS_A_DOCUMENT = 20
WORDS_A_CHUNK = 75
"""About 100 tokens."""

DOCUMENTS_AT_ONCE = 50
ASIDE = 0.25
"""Length of the step that a mixed vector is moved to the side; the vectors have length 1."""

TYPES = {"rare": 1, "some": 10, "most": 89}
"""Each type's share of the documents, percent."""

_SENTENCE = re.compile(r"(?<=[.!?])\s+")


@dataclass(frozen=True)
class Material:
    """What spaces are made of: texts, the vector of each, and questions about them."""

    texts: list[str]
    vectors: NDArray[np.float32]
    questions: list[str]
    spec: ModelSpec


def material(data: Path, embedder: Embedder, kept: Path) -> Material:
    """Texts and questions of the collections, or of made-up words where there are none; vectors kept in a file."""
    texts, questions = _collected(data) if (data / "ir").is_dir() else _made_up()
    vectors = np.load(kept) if kept.exists() else embedder.embed_documents(texts)
    if not kept.exists():
        np.save(kept, vectors)
    return Material(texts, vectors, questions, embedder.spec)


def fill(catalog: Catalog, chroma_url: str, space: SpaceId, wanted: int, mixed_of: Material) -> None:
    """Publish documents until the space holds so many chunks; goes on where an earlier run stopped."""
    with catalog.write() as tx:
        row = indexes.create(tx, space, id=IndexId(uuid.uuid4().hex), embedder=mixed_of.spec, now=datetime.now(UTC))
    with catalog.read() as tx:
        number, _ = chunks.counts(tx, space)
    index = VectorIndex(chroma_url, row, timeout_s=120)
    for first in range(number, wanted // CHUNKS_A_DOCUMENT, DOCUMENTS_AT_ONCE):
        last = min(first + DOCUMENTS_AT_ONCE, wanted // CHUNKS_A_DOCUMENT)
        _publish(catalog, index, space, range(first, last), mixed_of)
        if first % 1000 == 0:
            print(f"{space}: {last * CHUNKS_A_DOCUMENT} chunks", flush=True)


def type_of(number: int) -> str:
    """The type of a document by its number."""
    place = number * 37 % 100
    return "rare" if place < TYPES["rare"] else "some" if place < TYPES["rare"] + TYPES["some"] else "most"


def tags_of(number: int) -> list[str]:
    """A document's tags: one that half of all have, and one that 2 % have."""
    return [f"shelf-{number % 50}", *(["even"] if number % 2 == 0 else [])]


def _publish(catalog: Catalog, index: VectorIndex, space: SpaceId, numbers: range, mixed_of: Material) -> None:
    now = datetime.now(UTC)
    items, vectors, staged = [], [], []
    with catalog.write() as tx:
        for number in numbers:
            pieces, rows = _mixed(number, mixed_of)
            text = "\n\n".join(pieces)
            kind, tags, id = type_of(number), tags_of(number), DocumentId(f"document-{number:06d}")
            draft = Draft(
                document_id=id,
                blob_sha256=hashlib.sha256(text.encode()).hexdigest(),
                filename=None,
                media_type="text/plain",
                size_bytes=len(text),
                title=None,
                type=kind,
                tags=tags,
                source=None,
                metadata={},
                origin=None,
            )
            submitted = documents.submit(tx, space, draft, now)
            assert submitted.revision is not None
            cut = list(_cut(pieces))
            version = documents.save_version(
                tx,
                space,
                draft,
                title=f"Document {number}",
                type=kind,
                tags=tags,
                source=None,
                metadata={},
                language="en",
                text=text,
                chunks=cut,
                now=now,
            )
            staged.append((id, version, submitted.revision))
            items += [VectorItem(chunk.id(version), id, version, kind, tags, chunk.kind) for chunk in cut]
            vectors.append(rows)
    index.upsert(items, np.concatenate(vectors))
    with catalog.write() as tx:
        for id, version, revision in staged:
            documents.publish(tx, space, id, version, revision, now)


def _mixed(number: int, mixed_of: Material) -> tuple[list[str], NDArray[np.float32]]:
    """A document's pieces and their vectors, the same for the same number."""
    random = np.random.default_rng(number)
    pairs = random.integers(0, len(mixed_of.texts), size=(CHUNKS_A_DOCUMENT, 2))
    share = random.uniform(0.5, 0.9, size=(CHUNKS_A_DOCUMENT, 1))
    aside = random.normal(size=(CHUNKS_A_DOCUMENT, mixed_of.vectors.shape[1]))
    aside *= ASIDE / np.linalg.norm(aside, axis=1, keepdims=True)
    rows = share * mixed_of.vectors[pairs[:, 0]] + (1 - share) * mixed_of.vectors[pairs[:, 1]] + aside
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    pieces = []
    for (one, other), part in zip(pairs, share[:, 0], strict=True):
        left, right = mixed_of.texts[one].split(), mixed_of.texts[other].split()
        words = left[: int(part * WORDS_A_CHUNK)] + right[: WORDS_A_CHUNK - int(part * WORDS_A_CHUNK)]
        pieces.append(" ".join(words))
    return pieces, rows.astype(np.float32)


def _cut(pieces: list[str]) -> Iterator[NewChunk]:
    at = 0
    for ordinal, piece in enumerate(pieces):
        yield NewChunk(
            ordinal=ordinal,
            text=piece,
            lead=0,
            start=at,
            end=at + len(piece),
            section="",
            kind="fact",
            search_text=piece,
        )
        at += len(piece) + 2


def _collected(data: Path) -> tuple[list[str], list[str]]:
    texts: list[str] = []
    questions: list[str] = []
    for name in COLLECTIONS:
        folder = data / "ir" / name
        for line in (folder / "corpus.jsonl").open(encoding="utf-8"):
            words: list[str] = []
            for sentence in _SENTENCE.split(json.loads(line)["text"]):
                words += sentence.split()
                if len(words) >= WORDS_A_CHUNK:
                    texts.append(" ".join(words[: 2 * WORDS_A_CHUNK]))
                    words = []
        questions += [json.loads(line)["text"] for line in (folder / "queries.jsonl").open(encoding="utf-8")]
    random = np.random.default_rng(4)
    return [texts[n] for n in random.permutation(len(texts))[:EMBEDDED]], [
        questions[n] for n in random.permutation(len(questions))
    ]


def _made_up() -> tuple[list[str], list[str]]:
    random = np.random.default_rng(4)
    letters = np.array(list("abcdefghiklmnoprstuvw"))
    words = ["".join(random.choice(letters, size=random.integers(3, 10))) for _ in range(20_000)]
    shares = 1 / np.arange(1, len(words) + 1)
    shares /= shares.sum()
    texts = [" ".join(random.choice(words, size=WORDS_A_CHUNK, p=shares)) for _ in range(EMBEDDED)]
    return texts, [" ".join(text.split()[n % 20 : n % 20 + 9]) for n, text in enumerate(texts[:500])]
