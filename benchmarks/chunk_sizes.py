"""How large should a chunk be, and should neighbours overlap? Evidence within the first words shown, as a table.

Run: python -m benchmarks.chunk_sizes DATA [--sets corpus handbook squad piaf] [--sizes 75 150] [--overlaps 0 30]

The product's own chunker, embedder, BM25, fusion and critic, outside of the services. A piece of evidence is a
quotation or a sentence at its place in a document; it counts as seen within n words when a chunk holds it whole and it
ends among the first n words of the passages as they are ranked. Large chunks hold more and fewer of them are read, so a
budget of words compares sizes fairly, and a number of passages does not. Brackets hold the paired difference to the
first row's size and overlap with its 95 % bootstrap interval, where that excludes zero.

Overlap is tried here only: each chunk that goes on in its section begins up to so many words earlier, with whole
sentences, never in a table or in code, and never past what the embedder reads.
"""

import argparse
import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.fusion import difference
from services.ingestor.adapters.parsers.files import FileParsers
from services.ingestor.domain.chunking import Limits, cut
from services.ingestor.domain.documents import Chunk, Extracted, Incoming, title_of
from services.ingestor.domain.plain_text import plain
from services.retriever.domain.depth import choose_depth
from services.retriever.domain.fusion import LIST_DEPTH, Fused, Fusion, fuse, weighed_by_critic
from services.retriever.domain.hits import Hit, RankedList
from services.retriever.domain.limits import CRITIC_CUT
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.ids import ChunkId, DocumentId
from services.shared.contracts.search import FINAL_PASSAGES
from services.shared.index.analyser import chunk_tokens, question_tokens, tokens
from services.shared.index.bm25 import BM25Index
from services.shared.kit.settings import EmbedderSettings
from services.shared.models.backends import Use
from services.shared.models.critic.features import Candidate, compare
from services.shared.models.critic.matching import Question
from services.shared.models.critic.runtime import shipped
from services.shared.models.embedder import Embedder
from services.shared.models.loader import load_embedder

CORPUS = Path(__file__).parents[1] / "corpus"
QUESTIONS = Path(__file__).parents[1] / "evals" / "questions.jsonl"
BUDGETS = (300, 750)
"""Words: about three passages of today's size, and about what a small model is given."""

COLUMNS = (*(f"seen in {words} words" for words in BUDGETS), "recall@5")
MOST_QUESTIONS = 700
_SENTENCE = re.compile(r"[.!?][\"'”)\]]*\s+")


@dataclass(frozen=True)
class Document:
    """A document as it was read."""

    title: str
    extracted: Extracted


@dataclass(frozen=True)
class Asked:
    """A question; each piece of evidence may stand at several places (document, start, end)."""

    text: str
    evidence: list[list[tuple[str, int, int]]]


@dataclass
class Collection:
    """Documents and questions about them."""

    name: str
    language: str
    documents: dict[str, Document] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)

    def read(self, folder: Path) -> None:
        """Every file of the folder that the parsers know."""
        parsers = FileParsers(20_000_000, TimeoutError)
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            name = file.relative_to(folder).as_posix()
            incoming = Incoming(DocumentId(name), "", name, "", 0, None, None, None, None, {}, None)
            try:
                extracted = parsers.parse(incoming, file.read_bytes())
            except RagstoneError:
                continue
            self.documents[name] = Document(title_of(incoming, extracted), extracted)

    def join(self, folder: Path) -> dict[str, tuple[str, int, str]]:
        """Passages with one title as one long document; the place of each passage in it."""
        places: dict[str, tuple[str, int, str]] = {}
        texts: dict[str, str] = {}
        for row in _rows(folder / "corpus.jsonl"):
            before = texts.get(row["title"], "")
            texts[row["title"]] = f"{before}{row['text']}\n\n"
            places[row["_id"]] = (row["title"], len(before), row["text"])
        for title, text in texts.items():
            self.documents[title] = Document(title, Extracted(text, markdown=False))
        return places

    def ask(self, text: str, quotes: Sequence[tuple[str, str]]) -> None:
        """A question with its quotations (document, words), wherever they stand in the document."""
        found = []
        for name, quote in quotes:
            pattern = r"\s+".join(map(re.escape, quote.split()))
            if name in self.documents:
                spans = [one.span() for one in re.finditer(pattern, self.documents[name].extracted.text)]
                found += [[(name, *span) for span in spans]] if spans else []
        if found:
            self.asked.append(Asked(text, found))

    def ask_passages(self, folder: Path, places: dict[str, tuple[str, int, str]]) -> None:
        """The questions of a SQuAD-like set; their evidence is the sentence that holds the answer."""
        rows = [row for row in _rows(folder / "queries.jsonl") if row["answerable"]]
        for row in rows[:: max(1, math.ceil(len(rows) / MOST_QUESTIONS))]:
            title, offset, passage = places[row["paragraph"]]
            at = passage.find(row["answers"][0])
            if at < 0:
                continue
            ends = [one.end() for one in _SENTENCE.finditer(passage)]
            start = max((end for end in ends if end <= at), default=0)
            end = min((end for end in ends if end >= at + len(row["answers"][0])), default=len(passage))
            end = start + len(passage[start:end].rstrip())
            self.asked.append(Asked(row["text"], [[(title, offset + start, offset + end)]]))


def collections(data: Path, names: Sequence[str]) -> Iterator[Collection]:
    """The wanted ones."""
    if "corpus" in names:
        sample = Collection("corpus", "en")
        sample.read(CORPUS)
        for row in _rows(QUESTIONS):
            if row.get("language", "en") == "en":
                sample.ask(row["text"], [(gold["document_id"], gold["quote"]) for gold in row.get("gold", [])])
        yield sample
    if "handbook" in names:
        site = Collection("18f-handbook", "en")
        site.read(data / "site" / "18f-handbook")
        for row in _rows(data / "site" / "18f-questions.jsonl"):
            site.ask(row["text"], [(page, quote) for page in row["gold"] for quote in row["evidence"]])
        yield site
    if "squad" in names:
        articles = Collection("squad2-dev9 among hotpotqa-200", "en")
        places = articles.join(data / "qa" / "squad2-dev9")
        articles.ask_passages(data / "qa" / "squad2-dev9", places)
        articles.join(data / "qa" / "hotpotqa-200")
        yield articles
    if "piaf" in names:
        french = Collection("piaf-fr-a", "fr")
        french.ask_passages(data / "multi" / "piaf-fr-a", french.join(data / "multi" / "piaf-fr-a"))
        yield french


def overlapped(document: Document, chunks: Sequence[Chunk], wanted: int, most: int, model: Embedder) -> list[Chunk]:
    """The chunks, each with up to ``wanted`` words of whole sentences from the chunk before it in its section."""
    text, made = document.extracted.text, list(chunks)
    for n, (before, chunk) in enumerate(pairwise(chunks), start=1):
        apart = before.section != chunk.section or text[before.end : chunk.start].strip() or chunk.kind != "fact"
        if apart or chunk.lead or "|\n" in chunk.text or "```" in chunk.text:
            continue
        starts = [before.start + one.end() for one in _SENTENCE.finditer(text[before.start : chunk.start])]
        near = [at for at in starts if at < before.end and len(text[at : chunk.start].split()) <= wanted]
        if near:
            longer = text[min(near) : chunk.end]
            own = plain(chunk.text) if document.extracted.markdown else chunk.text
            readable = plain(longer) if document.extracted.markdown else longer
            search = chunk.search_text.removesuffix(own) + readable
            if model.count_tokens([search])[0] <= most:
                made[n] = replace(chunk, text=longer, start=min(near), search_text=search)
    return made


class Trial:
    """One collection, cut and indexed in one way after another; a text is embedded once."""

    def __init__(self, collection: Collection, model: Embedder) -> None:
        self._collection = collection
        self._model = model
        self._known: dict[str, NDArray[np.float32]] = {}
        self._questions = model.embed_questions([one.text for one in collection.asked])

    def measure(self, size: int, overlap: int) -> tuple[NDArray[np.float64], int]:
        """(questions, columns): the share of the evidence that is seen; and how many chunks there are."""
        of: list[str] = []
        chunks: list[Chunk] = []
        most = self._model.spec.max_tokens
        for name, document in self._collection.documents.items():
            made = cut(document.extracted, document.title, Limits(size, most), self._model.count_tokens)
            made = overlapped(document, made, overlap, most, self._model) if overlap else made
            of += [name] * len(made)
            chunks += made
        texts = [chunk.search_text for chunk in chunks]
        index = BM25Index()
        for n, (name, text) in enumerate(zip(of, texts, strict=True)):
            index.add(ChunkId(str(n)), chunk_tokens(text, self._collection.language), document_id=DocumentId(name))
        near = self._questions @ self._embedded(texts).T
        rows = []
        for one, similarities in zip(self._collection.asked, near, strict=True):
            ranked = self._ranked(one.text, similarities, index, texts)
            rows.append(_seen(one, [(of[n], chunks[n]) for n in ranked]))
        return np.array(rows), len(chunks)

    def _embedded(self, texts: Sequence[str]) -> NDArray[np.float32]:
        new = list(dict.fromkeys(text for text in texts if text not in self._known))
        if new:
            self._known |= zip(new, self._model.embed_documents(new), strict=True)
        return np.stack([self._known[text] for text in texts])

    def _ranked(
        self, text: str, similarities: NDArray[np.float32], index: BM25Index, texts: Sequence[str]
    ) -> list[int]:
        nearest = np.argsort(-similarities, kind="stable")[:LIST_DEPTH]
        by_vector = tuple(Hit(ChunkId(str(n)), 1.0 - float(similarities[n])) for n in nearest)
        terms = question_tokens(text, self._collection.language)
        by_words = tuple(Hit(hit.chunk_id, hit.score) for hit in index.search(terms, LIST_DEPTH))
        fused = fuse((RankedList("vector", 0, by_vector), RankedList("bm25", 0, by_words)), Fusion.RELATIVE)
        return [int(one.chunk_id) for one in _criticised(text, fused, index, texts)]


def main() -> None:
    """Print a table a collection."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", nargs="+", default=["corpus", "handbook", "squad", "piaf"])
    parser.add_argument("--sizes", type=int, nargs="+", default=[150, 75, 100, 200, 300])
    parser.add_argument("--overlaps", type=int, nargs="+", default=[0, 15, 30])
    arguments = parser.parse_args()
    model = load_embedder(EmbedderSettings(), Use.DOCUMENTS)
    for collection in collections(arguments.data, arguments.sets):
        trial = Trial(collection, model)
        head = f"{collection.name} ({len(collection.documents)} documents, {len(collection.asked)} questions)"
        print(f"\n| {head} | chunks | {' | '.join(COLUMNS)} |\n|---|---|{'---|' * len(COLUMNS)}", flush=True)
        base: NDArray[np.float64] | None = None
        for size in arguments.sizes:
            for overlap in arguments.overlaps:
                rows, count = trial.measure(size, overlap)
                base = rows if base is None else base
                means = [f"{rows[:, n].mean():.3f}{difference(rows[:, n] - base[:, n])}" for n in range(len(COLUMNS))]
                print(f"| {size} words, overlap {overlap} | {count} | {' | '.join(means)} |", flush=True)


def _criticised(text: str, fused: Sequence[Fused], index: BM25Index, texts: Sequence[str]) -> list[Fused]:
    """The fused order with the critic's word in it, as the retriever has it; what it refuses is left out."""
    head = fused[: choose_depth(text, FINAL_PASSAGES).judged]
    question = Question.of(text, terms=question_tokens, idf=index.idf, highest=math.log(len(index) + 1))
    seen = [
        Candidate(tokens(texts[int(one.chunk_id)]), None if one.distance is None else 1.0 - one.distance, one.bm25)
        for one in head
    ]
    told = {one.chunk_id: p for one, p in zip(head, shipped().judge(compare(question, seen)), strict=True)}
    return [one for one in weighed_by_critic(fused, told) if told.get(one.chunk_id, 1.0) >= CRITIC_CUT]


def _seen(asked: Asked, ranked: Sequence[tuple[str, Chunk]]) -> list[float]:
    """The share of the question's evidence within each budget, and within five passages."""
    first: list[tuple[float, int]] = []
    for places in asked.evidence:
        shown, best = 0, (math.inf, len(ranked))
        for rank, (name, chunk) in enumerate(ranked):
            held = [end for of, start, end in places if of == name and chunk.start <= start and end <= chunk.end]
            if held:
                best = (shown + len(chunk.text[: chunk.lead + min(held) - chunk.start].split()), rank)
                break
            shown += len(chunk.text.split())
        first.append(best)
    seen = [sum(words <= budget for words, _ in first) / len(first) for budget in BUDGETS]
    return [*seen, sum(rank < 5 for _, rank in first) / len(first)]


def _rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.open(encoding="utf-8")]


if __name__ == "__main__":
    main()
