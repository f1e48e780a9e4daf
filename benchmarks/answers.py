"""Answers to questions with and without an answer in the documents, as a Markdown report.

Run: python -m benchmarks.answers FOLDER [--url URL] [--answerable 150] [--unanswerable 150] [--seed 5] [--out FILE]

FOLDER holds corpus.jsonl and queries.jsonl, whose rows have ``answerable`` and ``answers`` (SQuAD 2.0 in this form).
A seeded sample is asked of a running Ragstone over /v1/ask, in a space of its own, and every quotation is compared
with its source. An answer is right when it holds a gold string; silence is right where nothing is to be found.
Score: +1 right, 0 silent where an answer stands in the documents, -1 wrong.
"""

import argparse
import json
import random
import re
import string
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.quotes import Quotes
from benchmarks.sending import read_jsonl
from services.local.api import Api
from services.local.patience import follow
from services.shared.contracts.answers import AnswerStatus, AskRequest
from services.shared.contracts.documents import DocumentIn
from services.shared.evaluation.reviewers.wording import without_markers
from services.shared.evaluation.statistics import estimate

SPACE = "benchmark-answers"
THRESHOLDS = (0.0, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
_NO_WORDS = re.compile(rf"[{re.escape(string.punctuation)}‘’“”–—\s]+")
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


@dataclass(frozen=True)
class Asked:
    """How one question came out."""

    id: str
    question: str
    answerable: bool
    answered: bool
    holds_gold: bool
    confidence: float
    text: str
    gold: list[str]
    reason: str | None
    degraded: list[str]
    seconds: float

    def score(self, threshold: float) -> int:
        """+1 right, 0 silent where something was to be said, -1 wrong; silent under the threshold."""
        if self.answered and self.confidence >= threshold:
            return 1 if self.holds_gold else -1
        return 0 if self.answerable else 1


def sample(rows: Sequence[dict[str, Any]], answerable: int, unanswerable: int, seed: int) -> list[dict[str, Any]]:
    """So many questions of each side, the same for the same seed, in mixed order."""
    chance = random.Random(seed)
    with_answer = sorted((row for row in rows if row["answerable"]), key=lambda row: str(row["_id"]))
    without = sorted((row for row in rows if not row["answerable"]), key=lambda row: str(row["_id"]))
    chosen = chance.sample(with_answer, min(answerable, len(with_answer)))
    chosen += chance.sample(without, min(unanswerable, len(without)))
    chance.shuffle(chosen)
    return chosen


def plain(text: str) -> str:
    """Words only, as SQuAD compares them: no letter case, punctuation or articles."""
    return " ".join(_ARTICLES.sub(" ", _NO_WORDS.sub(" ", text.casefold())).split())


def holds_gold(text: str, golds: Sequence[str]) -> bool:
    """Does one of the gold strings stand in the text, as whole words?"""
    said = f" {plain(without_markers(text))} "
    return any(f" {plain(gold)} " in said for gold in golds if plain(gold))


def send(api: Api, rows: Sequence[dict[str, Any]]) -> None:
    """The documents as one NDJSON batch, waited for; those that are there already cost nothing."""
    documents = (DocumentIn(id=row["_id"], title=row["title"] or None, text=row["text"]) for row in rows)
    body = "\n".join(document.model_dump_json(exclude_none=True) for document in documents)
    job = follow(api, api.submit_batch(body.encode()).id, lambda _: None, threading.Event())
    print(f"{len(rows)} documents: {job.state.value}, {job.result}", flush=True)


def ask(api: Api, row: dict[str, Any], quotes: Quotes) -> Asked:
    """One question over the public door, its quotations compared with their sources."""
    began = time.perf_counter()
    answer = api.ask(AskRequest(question=row["text"]), fresh=True)
    seconds = time.perf_counter() - began
    quotes.check(answer)
    golds = [str(gold) for gold in row.get("answers") or []]
    return Asked(
        id=str(row["_id"]),
        question=row["text"],
        answerable=bool(row["answerable"]),
        answered=answer.status is AnswerStatus.ANSWERED,
        holds_gold=bool(row["answerable"]) and holds_gold(answer.text, golds),
        confidence=answer.confidence,
        text=answer.text,
        gold=golds,
        reason=answer.reason.value if answer.reason else None,
        degraded=answer.degraded,
        seconds=round(seconds, 3),
    )


def report(asked: Sequence[Asked], quotes: Quotes, seed: int) -> Iterator[str]:
    """The figures as Markdown."""
    can = [one for one in asked if one.answerable]
    cannot = [one for one in asked if not one.answerable]
    said = [one for one in can if one.answered]
    right = sum(one.holds_gold for one in said)
    silent = sum(not one.answered for one in cannot)
    answered = len(said) + len(cannot) - silent
    yield f"{len(can)} answerable and {len(cannot)} unanswerable questions, seed {seed}:\n"
    yield "| figure | measured |\n|---|---|"
    yield f"| answerable ones that were answered (coverage) | {_share(len(said), len(can))} |"
    yield f"| of these, with the gold string | {_share(right, len(said))} |"
    yield f"| unanswerable ones left unanswered | {_share(silent, len(cannot))} |"
    yield f"| wrong among the answered | {_share(answered - right, answered)} |"
    score = estimate([float(one.score(0.0)) for one in asked], seed, least=-1.0)
    yield f"| **score** | **{score.mean:+.3f}** ({score.low:+.3f} to {score.high:+.3f}) |"
    yield f"| score of always abstaining | {len(cannot) / len(asked):+.3f} |"
    always = (len(can) * (2 * right / len(said) - 1) - len(cannot)) / len(asked) if said else -1.0
    yield f"| score of always answering, were the rest as right as those answered | {always:+.3f} |"
    yield f"| quotations | {quotes.told} |"
    yield f"| seconds an answer, median | {median(one.seconds for one in asked):.2f} |"
    yield "\nWhat a stricter confidence trades:\n"
    yield "| answered from | answered of the answerable | wrong among the answered | rest left unanswered | score |"
    yield "|---|---|---|---|---|"
    for threshold in THRESHOLDS:
        yield _trade(asked, threshold)


def _trade(asked: Sequence[Asked], threshold: float) -> str:
    said = [one for one in asked if one.answered and one.confidence >= threshold]
    can = sum(one.answerable for one in asked)
    spoken = sum(one.answerable for one in said)
    wrong = sum(not one.holds_gold for one in said)
    silent = len(asked) - can - (len(said) - spoken)
    score = sum(one.score(threshold) for one in asked) / len(asked)
    cells = (f"{threshold:.1f}", _share(spoken, can), _share(wrong, len(said)), _share(silent, len(asked) - can))
    return f"| {' | '.join(cells)} | {score:+.3f} |"


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({part / whole:.1%})" if whole else "none"


def main() -> None:
    """Run from the command line; exit code 1 when a quotation does not match its source."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--answerable", type=int, default=150)
    parser.add_argument("--unanswerable", type=int, default=150)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--out", type=Path, help="every question with its answer, one JSON object a line")
    options = parser.parse_args()
    rows = sample(read_jsonl(options.folder / "queries.jsonl"), options.answerable, options.unanswerable, options.seed)
    quotes = Quotes(options.url.rstrip("/"), SPACE)
    with Api(options.url, SPACE) as api:
        send(api, read_jsonl(options.folder / "corpus.jsonl"))
        asked = [ask(api, row, quotes) for row in rows]
    if options.out:
        lines = (json.dumps(asdict(one), ensure_ascii=False) for one in asked)
        options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(report(asked, quotes, options.seed)))
    if quotes.faults:
        raise SystemExit("\n".join(["Quotations that do not match:", *quotes.faults]))


if __name__ == "__main__":
    main()
