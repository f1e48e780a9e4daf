"""What the critic is trained and measured on: questions asked of small collections, as the retriever asks them.

The collections are folders of ``corpus.jsonl``, ``queries.jsonl`` and ``qrels.tsv``. Their texts are whole
paragraphs or abstracts, each with its title before it, as the ingestor indexes a chunk.
"""

import json
import math
import random
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from services.shared.contracts.ids import ChunkId, DocumentId
from services.shared.index.analyser import question_tokens, tokens
from services.shared.index.bm25 import BM25Index
from services.shared.models.critic.features import Candidate, Compared, compare
from services.shared.models.critic.matching import Question
from services.shared.models.critic.training import Kind, Lesson

if TYPE_CHECKING:
    from services.shared.models.embedder import Embedder

LIST_DEPTH = 100
"""As deep as the retriever's lists are: candidates further down have no value in that list."""

PER_LIST = 5
"""Candidates are the first of both lists; so many of each when nothing else is said."""

DEPTHS = (5, 5, 7, 10)
"""Of each list in training, drawn for each question: the retriever's own depths, the usual one most often."""

FOREIGN_QUESTIONS = 150
"""Of each other collection, asked of a collection that does not hold their answers."""

QUESTIONS = 700
TEXTS = 2500
"""A larger collection is cut down to so many, chosen by the seed: none is to outweigh the others."""


@dataclass(frozen=True)
class Known:
    """A data set that may be trained on."""

    folder: str
    language: str
    licence: str


HELD_OUT = Known("qa/squad2-dev9", "en", "CC BY-SA 4.0")
"""What is reported is measured here, and nothing here is ever trained on."""

TRAINED_ON = (
    Known("multi/xquad-a-en", "en", "CC BY-SA 4.0"),
    Known("multi/xquad-a-de", "de", "CC BY-SA 4.0"),
    Known("multi/piaf-fr-a", "fr", "MIT; texts CC BY-SA"),
    Known("qa/hotpotqa-200", "en", "CC BY-SA 4.0"),
    Known("ir/scifact-train", "en", "CC BY 4.0; abstracts ODC-By 1.0"),
)

ALSO_HELD_OUT = frozenset({"Southern California", "Victoria (Australia)", "Steam engine"})
"""Articles of squad2-dev9 that XQuAD took some paragraphs of: they are left out of the training."""


@dataclass(frozen=True)
class Asked:
    """A question, the places of the texts that it was written for, and whether these answer it."""

    text: str
    meant: frozenset[int]
    answerable: bool
    group: str


@dataclass(frozen=True)
class Shelf:
    """A collection with both indexes in memory."""

    name: str
    language: str
    titles: list[str]
    texts: list[str]
    tokens: list[list[str]]
    keywords: BM25Index
    vectors: NDArray[np.float32]
    questions: list[Asked]
    question_vectors: NDArray[np.float32]

    def ask(
        self, text: str, vector: NDArray[np.float32], without: Collection[int] = (), per_list: int = PER_LIST
    ) -> tuple[Compared, list[int]]:
        """The candidates of a question beside each other, and the places of their texts, ascending."""
        question = Question.of(
            text,
            terms=lambda words: question_tokens(words, self.language),
            idf=self.keywords.idf,
            highest=math.log(len(self.texts) + 1),
        )
        near = self.vectors @ vector
        near[list(without)] = -np.inf
        order = [int(place) for place in np.argsort(-near, kind="stable")[:LIST_DEPTH] if np.isfinite(near[place])]
        barred = [ChunkId(str(place)) for place in without]
        hits = {int(hit.chunk_id): hit.score for hit in self.keywords.search(question.terms, LIST_DEPTH, None, barred)}
        places = sorted({*order[:per_list], *list(hits)[:per_list]})
        within = set(order)
        candidates = [
            Candidate(self.tokens[place], float(near[place]) if place in within else None, hits.get(place))
            for place in places
        ]
        return compare(question, candidates), places

    def lesson(
        self,
        kind: Kind,
        asked: Asked,
        vector: NDArray[np.float32],
        without: Collection[int] = (),
        per_list: int = PER_LIST,
    ) -> Lesson | None:
        """A question as it is learnt from; None when it has no word or no candidate."""
        compared, places = self.ask(asked.text, vector, without, per_list)
        if not (places and compared.question.terms):
            return None
        return Lesson(self.name, asked.group, kind, compared, tuple(place in asked.meant for place in places))


def read(
    folder: Path, known: Known, embedder: "Embedder", *, seed: int, barred: Collection[str] = (), cut: bool = True
) -> Shelf:
    """Read and index a collection; texts of ``barred`` titles, and questions written for them, are left out."""
    corpus = [row for row in _rows(folder / "corpus.jsonl") if row["title"] not in barred]
    place_of = {row["_id"]: place for place, row in enumerate(corpus)}
    questions = list(_questions(folder, place_of, [row["title"] for row in corpus]))
    if cut:
        corpus, questions = _cut_down(corpus, questions, random.Random(seed))
    texts = [f"{row['title']}\n{row['text']}" for row in corpus]
    analysed = [tokens(text, known.language) for text in texts]
    index = BM25Index()
    for place, terms in enumerate(analysed):
        index.add(ChunkId(str(place)), terms, document_id=DocumentId(str(place)))
    return Shelf(
        name=folder.name,
        language=known.language,
        titles=[row["title"] for row in corpus],
        texts=texts,
        tokens=analysed,
        keywords=index,
        vectors=embedder.embed_documents(texts),
        questions=questions,
        question_vectors=embedder.embed_questions([one.text for one in questions]),
    )


def lessons_of(
    shelf: Shelf, others: Sequence[Shelf], *, seed: int, depths: Sequence[int] = (PER_LIST,)
) -> Iterator[Lesson]:
    """Each question as it is, with its passage left out, with its article left out; and strangers' questions."""
    dice = random.Random(seed)
    article: dict[str, list[int]] = {}
    for place, title in enumerate(shelf.titles):
        article.setdefault(title, []).append(place)

    def made(kind: Kind, asked: Asked, vector: NDArray[np.float32], without: Collection[int] = ()) -> Iterator[Lesson]:
        lesson = shelf.lesson(kind, asked, vector, without, dice.choice(depths))
        if lesson is not None:
            yield lesson

    for asked, vector in zip(shelf.questions, shelf.question_vectors, strict=True):
        if not asked.answerable:
            yield from made(Kind.UNANSWERABLE, asked, vector)
            continue
        yield from made(Kind.ASKED, asked, vector)
        yield from made(Kind.LEFT_OUT, asked, vector, asked.meant)
        whole = {place for one in asked.meant for place in article[shelf.titles[one]]}
        if len(whole) > len(asked.meant):
            yield from made(Kind.ARTICLE_OUT, asked, vector, whole)
    for other in others:
        chosen = dice.sample(range(len(other.questions)), min(FOREIGN_QUESTIONS, len(other.questions)))
        for number in chosen:
            stranger = other.questions[number]
            alone = Asked(stranger.text, frozenset(), False, stranger.group)
            yield from made(Kind.FOREIGN, alone, other.question_vectors[number])


def training_shelves(data: Path, embedder: "Embedder", seed: int, say: Callable[[str], None]) -> list[Shelf]:
    """Every training collection that the folder holds."""
    shelves = []
    for known in TRAINED_ON:
        folder = data / known.folder
        if not folder.is_dir():
            say(f"{known.folder}: not there, left out")
            continue
        shelf = read(folder, known, embedder, seed=seed, barred=ALSO_HELD_OUT)
        say(f"{known.folder}: {len(shelf.texts)} texts, {len(shelf.questions)} questions")
        shelves.append(shelf)
    return shelves


def training_lessons(shelves: Sequence[Shelf], seed: int) -> list[Lesson]:
    """All lessons; a stranger's question never goes to a collection that is a translation of its own."""
    return [
        lesson for shelf in shelves for lesson in lessons_of(shelf, strangers(shelf, shelves), seed=seed, depths=DEPTHS)
    ]


def strangers(shelf: Shelf, shelves: Sequence[Shelf]) -> list[Shelf]:
    """The other collections that have nothing to do with this one."""
    family = shelf.name.split("-")[0]
    return [other for other in shelves if other.name.split("-")[0] != family]


def _questions(folder: Path, place_of: dict[str, int], titles: Sequence[str]) -> Iterator[Asked]:
    meant: dict[str, set[int]] = {}
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        question, text, gain = line.split("\t")
        if int(gain) > 0 and text in place_of:
            meant.setdefault(question, set()).add(place_of[text])
    for row in _rows(folder / "queries.jsonl"):
        if row.get("paragraph") in place_of:
            meant.setdefault(row["_id"], set()).add(place_of[row["paragraph"]])
        if row["_id"] in meant:
            places = frozenset(meant[row["_id"]])
            # XQuAD has the same articles in every language, in one order.
            family = folder.name.rsplit("-", 1)[0] if folder.name.startswith("xquad") else folder.name
            group = f"{family}:{titles[min(places)]}"
            yield Asked(row["text"], places, bool(row.get("answerable", True)), group)


def _cut_down(
    corpus: list[dict[str, Any]], questions: list[Asked], dice: random.Random
) -> tuple[list[dict[str, Any]], list[Asked]]:
    """At most ``QUESTIONS`` of the questions, and ``TEXTS`` of the texts with all that the questions were for."""
    if len(questions) > QUESTIONS:
        questions = dice.sample(questions, QUESTIONS)
    needed = {place for one in questions for place in one.meant}
    rest = [place for place in range(len(corpus)) if place not in needed]
    kept = sorted(needed | set(dice.sample(rest, min(len(rest), max(0, TEXTS - len(needed))))))
    new_place = {place: number for number, place in enumerate(kept)}
    moved = [
        Asked(one.text, frozenset(new_place[place] for place in one.meant), one.answerable, one.group)
        for one in questions
    ]
    return [corpus[place] for place in kept], moved


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)
