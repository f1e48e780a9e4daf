"""Fits and measures the extractive writer on SQuAD 2.0: `python -m benchmarks.extractive_fit DATA_FOLDER`.

DATA_FOLDER holds corpus.jsonl and queries.jsonl (squad2-dev9). Every question gets five passages: its paragraph
and the nearest others, in the order of their similarity; a second time its paragraph is left out ("absent").
Articles are split in two halves: weights are fitted on one and measured on the other, and the printed constants
are fitted on both. Three figures per formula: "holds" = the chosen sentences hold a gold answer, of the answerable
questions that are answered; "kept" = answerable questions that are answered; "abstained" = share of questions
without an answer that are recognised, on SQuAD's adversarial ones and on absent ones.
"""

import json
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

from services.generator.domain import extractive
from services.generator.domain.candidates import Candidate, Signals, candidates, signals
from services.generator.domain.extractive import Weights
from services.shared.contracts.ids import ChunkId, DocumentId, VersionId
from services.shared.contracts.search import Passage, TextScore
from services.shared.index.analyser import question_tokens, tokens
from services.shared.index.bm25 import BM25Index
from services.shared.kit.settings import EmbedderSettings
from services.shared.models.loader import load_embedder

PASSAGES = 5
KEEP = 0.9
"""Share of the answerable questions that the threshold lets through on the fitting half."""
FORMULAS: dict[str, tuple[str, ...]] = {
    "similarity": ("similarity",),
    "coverage": ("coverage",),
    "similarity + coverage": ("similarity", "coverage"),
    "similarity + coverage + hint": ("similarity", "coverage", "hint"),
}


@dataclass(frozen=True)
class Trial:
    """One question with its passages, their candidates and scores."""

    question: str
    kind: str
    article: str
    answers: list[str]
    passages: list[Passage]
    found: list[Candidate]
    scores: list[TextScore]

    def holds(self, text: str) -> bool:
        return any(answer.casefold() in text.casefold() for answer in self.answers)


def read(folder: Path) -> tuple[list[dict[str, object]], list[Passage]]:
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
    """Every question with five passages, and again without its own."""
    questions, paragraphs = read(folder)
    embedder = load_embedder(EmbedderSettings())
    index = BM25Index()
    for one in paragraphs:
        index.add(
            one.chunk_id, tokens(f"{one.title}\n{one.text}"), document_id=one.document_id, type=one.type, tags=one.tags
        )
    found = [candidates("", [one]) for one in paragraphs]
    texts = [one.scored for group in found for one in group]
    ends = np.cumsum([len(group) for group in found])
    sentence_vectors = embedder.embed_documents(texts)
    sentence_tokens = [tokens(text) for text in texts]
    vectors = embedder.embed_documents([f"{one.title}\n{one.text}" for one in paragraphs])
    asked = embedder.embed_questions([str(one["text"]) for one in questions])
    made = []
    for question, vector in zip(questions, asked, strict=True):
        nearest = [int(at) for at in np.argsort(-(vectors @ vector))]
        gold = next(at for at, one in enumerate(paragraphs) if one.chunk_id == question["paragraph"])
        terms = question_tokens(str(question["text"]))
        for absent in (False, True) if question["answerable"] else (False,):
            top = [at for at in nearest if at != gold][: PASSAGES - (not absent)]
            if not absent:
                top = [at for at in nearest if at == gold or at in top]
            group: list[Candidate] = []
            scores: list[TextScore] = []
            for rank, at in enumerate(top):
                for k, own in enumerate(found[at], start=int(ends[at]) - len(found[at])):
                    group.append(replace(own, passage=rank))
                    scores.append(
                        TextScore(
                            similarity=float(sentence_vectors[k] @ vector),
                            coverage=index.coverage(terms, sentence_tokens[k]),
                        )
                    )
            kind = "absent" if absent else "answerable" if question["answerable"] else "adversarial"
            made.append(
                Trial(str(question["text"]), kind, paragraphs[gold].title, [str(a) for a in question["answers"]],  # type: ignore[attr-defined]
                      [paragraphs[at] for at in top], group, scores)
            )  # fmt: skip
    return made


def fit(chosen: Sequence[Trial], names: Sequence[str], *, lexical: bool) -> Weights:
    """Weights of the named signals, then the line from the best sentence to P(answerable)."""
    rows: list[list[float]] = []
    labels: list[bool] = []
    seen: list[list[Signals]] = []
    for trial in chosen:
        seen.append(seen_of(trial, lexical=lexical))
        for one, signal in zip(trial.found, seen[-1], strict=True):
            quote = trial.passages[one.passage].text[one.start : one.end]
            rows.append([getattr(signal, name) for name in names])
            labels.append(trial.kind == "answerable" and trial.holds(quote))
    model = LogisticRegression(C=10, max_iter=2000).fit(np.array(rows), np.array(labels))
    blank = dict.fromkeys((field.name for field in fields(Weights)), 0.0)
    weights = Weights(
        **{**blank, **dict(zip(names, model.coef_[0].tolist(), strict=True)), "bias": float(model.intercept_[0])}
    )
    best = np.array([[max(map(weights.logit, group))] for group in seen])
    line = LogisticRegression(C=10).fit(best, [trial.kind == "answerable" for trial in chosen])
    return replace(weights, slope=float(line.coef_[0, 0]), intercept=float(line.intercept_[0]))


def seen_of(trial: Trial, *, lexical: bool) -> list[Signals]:
    """The signals of every candidate."""
    return [
        signals(trial.question, trial.passages, one, None if lexical else score)
        for one, score in zip(trial.found, trial.scores, strict=True)
    ]


def threshold_for(chosen: Sequence[Trial], weights: Weights, *, lexical: bool) -> float:
    """The confidence that KEEP of the answerable questions reach."""
    best = [
        weights.confidence(max(map(weights.logit, seen_of(trial, lexical=lexical))))
        for trial in chosen
        if trial.kind == "answerable"
    ]
    return float(np.quantile(best, 1 - KEEP))


def measure(chosen: Sequence[Trial], weights: Weights, threshold: float, *, lexical: bool) -> dict[str, float]:
    """Runs the writer's own choice over the trials."""
    answered: dict[str, list[bool]] = defaultdict(list)
    holds, lengths = [], []
    for trial in chosen:
        choice = extractive.choose(
            trial.question, trial.passages, trial.found, None if lexical else trial.scores,
            threshold=threshold, weights=weights,
        )  # fmt: skip
        answered[trial.kind].append(bool(choice.sentences))
        if trial.kind == "answerable" and choice.sentences:
            holds.append(trial.holds(" ".join(one.text for one in choice.sentences)))
            lengths.append(len(choice.sentences))
    silent = {kind: 1 - float(np.mean(values)) for kind, values in answered.items()}
    wrong = sum(len(answered[kind]) * silent[kind] for kind in ("adversarial", "absent"))
    return {
        "holds": float(np.mean(holds)),
        "kept": 1 - silent["answerable"],
        "abstained_adversarial": silent["adversarial"],
        "abstained_absent": silent["absent"],
        "abstention_precision": wrong / (wrong + len(answered["answerable"]) * silent["answerable"]),
        "sentences": float(np.mean(lengths)),
    }


def main() -> None:
    """Print a table for every formula, then the constants of the kept one."""
    everything = trials(Path(sys.argv[1]))
    articles = sorted({trial.article for trial in everything})
    halves = [[trial for trial in everything if articles.index(trial.article) % 2 == side] for side in (0, 1)]
    for lexical in (False, True):
        for title, names in FORMULAS.items():
            results = []
            for side in (0, 1):
                weights = fit(halves[1 - side], names, lexical=lexical)
                threshold = threshold_for(halves[1 - side], weights, lexical=lexical)
                results.append(measure(halves[side], weights, threshold, lexical=lexical))
            figures = "  ".join(f"{name} {' / '.join(f'{one[name]:.3f}' for one in results)}" for name in results[0])
            print(f"{'words alone: ' if lexical else ''}{title}: {figures}")
        kept = FORMULAS["similarity + coverage + hint"] if not lexical else ("coverage", "hint")
        weights = fit(everything, kept, lexical=lexical)
        print(weights, "threshold", round(threshold_for(everything, weights, lexical=lexical), 3))


if __name__ == "__main__":
    main()
