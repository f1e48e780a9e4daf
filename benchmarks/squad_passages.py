"""SQuAD questions with the passages, candidates and scores that the extractive writer would see."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from services.generator.domain.asked import Asked
from services.generator.domain.candidates import Candidate, candidates
from services.shared.contracts.ids import ChunkId, DocumentId, VersionId
from services.shared.contracts.search import Passage, TextScore
from services.shared.index.analyser import question_tokens, tokens
from services.shared.index.bm25 import BM25Index
from services.shared.kit.settings import EmbedderSettings
from services.shared.models.loader import load_embedder

PASSAGES = 5


@dataclass(frozen=True)
class Trial:
    """One question with its passages, their candidates and the scores of these, in order."""

    asked: Asked
    article: str
    answers: tuple[str, ...]
    """Gold strings; none where people hold the question for unanswerable."""
    passages: Sequence[Passage]
    distance: float
    """Of the nearest passage."""
    found: Sequence[Candidate]
    scores: Sequence[TextScore]

    def holds(self, text: str) -> bool:
        """Whether the text holds a gold string."""
        return any(answer.casefold() in text.casefold() for answer in self.answers)


def read(folder: Path) -> tuple[list[dict[str, Any]], list[Passage]]:
    """Questions, and paragraphs as passages."""
    questions = [json.loads(line) for line in (folder / "queries.jsonl").read_text().splitlines()]
    paragraphs = [json.loads(line) for line in (folder / "corpus.jsonl").read_text().splitlines()]
    return questions, [passage(one["_id"], one["title"], one["text"]) for one in paragraphs]


def passage(name: str, title: str, text: str) -> Passage:
    """A paragraph as the retriever would send it."""
    return Passage(
        chunk_id=ChunkId(name), document_id=DocumentId(name), version=VersionId("1"), title=title, section="",
        type=None, text=text, lead=0, start=0, end=len(text), source=None, tags=[], kind="fact", score=0.0,
        distance=None, bm25=None, critic=None, ranks={},
    )  # fmt: skip


def trials(folder: Path) -> list[Trial]:
    """Every question with the paragraphs nearest to it."""
    questions, paragraphs = read(folder)
    article_of = {one.chunk_id: one.title for one in paragraphs}
    embedder = load_embedder(EmbedderSettings())
    index = BM25Index()
    for one in paragraphs:
        index.add(
            one.chunk_id, tokens(f"{one.title}\n{one.text}"), document_id=one.document_id, type=one.type, tags=one.tags
        )
    asked = [Asked.of(str(one["text"])) for one in questions]
    vectors = embedder.embed_documents([f"{one.title}\n{one.text}" for one in paragraphs])
    question_vectors = embedder.embed_questions([one.text for one in asked])
    nearest = [np.argsort(-(vectors @ vector))[:PASSAGES] for vector in question_vectors]
    groups = [[paragraphs[at] for at in places] for places in nearest]
    found = [candidates(one.text, group) for one, group in zip(asked, groups, strict=True)]
    texts = list(dict.fromkeys(one.scored for group in found for one in group))
    at_text = {text: at for at, text in enumerate(texts)}
    sentence_vectors = embedder.embed_documents(texts)
    sentence_tokens = [tokens(text) for text in texts]
    made = []
    for at, question in enumerate(questions):
        terms, vector = question_tokens(asked[at].text), question_vectors[at]
        places = [at_text[one.scored] for one in found[at]]
        scores = [
            TextScore(
                similarity=float(np.clip(sentence_vectors[place] @ vector, -1, 1)),
                coverage=index.coverage(terms, sentence_tokens[place]),
            )
            for place in places
        ]
        answers = tuple(str(one) for one in question["answers"]) if question["answerable"] else ()
        distance = 1 - float(vectors[nearest[at][0]] @ vector)
        article = article_of[ChunkId(question["paragraph"])]
        made.append(Trial(asked[at], article, answers, groups[at], distance, found[at], scores))
    return made
