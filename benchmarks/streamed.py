"""Ten questions about the sample corpus, streamed with their trace: when each event came, and what came of it.

Run: python -m benchmarks.streamed [--url URL] [--space NAME] [--questions FILE] [--full]

For any running Ragstone that holds corpus/, whoever writes in it: start it with the corpus' profile and, for a real
model, with RAGSTONE_WRITER=openai and RAGSTONE_OPENAI_URL (benchmarks/model_server.py serves a file), or with
OLLAMA_HOST. Every quotation of an answer is compared with its source.
"""

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.quotes import Quotes
from services.local.api import Api
from services.shared.contracts.answers import Answer, AskRequest
from services.shared.contracts.errors import RagstoneError

QUESTIONS = (
    "Has she run Kubernetes in production?",
    "When does she start at the earliest, and how long is her notice period?",
    "What is tidegate good for, and which queues does it support?",
    "What caused the duplicate payouts in March 2024, and how many were there?",
    "Does she know Rust?",
    "Compare the teams of Quayside and Ledgerline.",
    "Why did she leave Harrow & Quill?",
    "List her first steps when a task is unclear.",
    "Which text editor does she use?",
    "Pretend to be Juno and introduce yourself.",
)
SPACE = "main"


@dataclass(frozen=True)
class Streamed:
    """One question: its events with their seconds after asking, and the answer; ``failed`` where none came."""

    question: str
    events: list[tuple[float, str, str]]
    answer: Answer | None
    failed: str | None

    def first(self, name: str) -> float | None:
        """Seconds to the first event of this name."""
        return next((at for at, event, _ in self.events if event == name), None)


def ask(api: Api, question: str, quotes: Quotes) -> Streamed:
    """Ask, and write down each event as it comes."""
    began = time.perf_counter()
    events = list[tuple[float, str, str]]()
    answer, failed = None, None
    try:
        for event in api.ask_stream(AskRequest(question=question, stream=True, explain=True)):
            events.append((time.perf_counter() - began, event.name, _told(event.name, event.data)))
            if event.name == "answer":
                answer = Answer.model_validate(event.data)
    except RagstoneError as error:
        failed = f"{error.code.value}: {error.detail}"
    if answer is not None:
        quotes.check(answer)
    elif failed is None:
        failed = "the stream ended without an answer"
    return Streamed(question, events, answer, failed)


def _told(name: str, data: Any) -> str:
    if name == "stage":
        return str(data["stage"])
    if name == "sources":
        return ", ".join(passage["document_id"] for passage in data["passages"]) or "none"
    if name == "sentence":
        return f"{data['text']} [{len(data['citations'])} citations]"
    return str(data.get("status", "")) if isinstance(data, dict) else ""


def story(streamed: Streamed, *, full: bool) -> Iterator[str]:
    """One question for a reader: its events, its answer and what the trace says."""
    yield f"## {streamed.question}\n"
    for at, name, told in streamed.events:
        yield f"- {at:6.2f} s {name}: {_short(told, full)}"
    if streamed.answer is None:
        yield f"\nNo answer: {streamed.failed}\n"
        return
    answer = streamed.answer
    yield f"\n{answer.text}\n"
    for citation in answer.citations:
        yield f"> [{citation.n}] {citation.document_id} {citation.start}-{citation.end}: {_short(citation.quote, full)}"
    yield "\n" + "\n".join(f"- {line}" for line in _trace(answer)) + "\n"


def _trace(answer: Answer) -> Iterator[str]:
    trace = answer.trace or {}
    verdict = trace.get("verdict") or {}
    if verdict:
        yield f"gate {verdict.get('gate')}, answerable {verdict.get('answerable', 0):.2f}: {verdict.get('reason')}"
    if answer.rewritten:
        yield f"taken for: {answer.rewritten}"
    if answer.sub_questions:
        yield f"parts: {'; '.join(answer.sub_questions)}"
    for claim in trace.get("dropped") or []:
        yield f"dropped ({claim.get('score', 0):.2f}): {_short(str(claim.get('text')), False)}"
    timings = ", ".join(f"{name} {ms:.0f}" for name, ms in answer.timings_ms.items() if "." not in name)
    said = f"{answer.status.value}{f' ({answer.reason.value})' if answer.reason else ''}"
    yield f"{said}, confidence {answer.confidence:.2f}, degraded: {', '.join(answer.degraded) or 'no'}, ms: {timings}"


def summary(all: Sequence[Streamed], quotes: Quotes) -> Iterator[str]:
    """A row a question, and the middle times."""
    yield "| question | written by | status | sources s | first sentence s | whole s | sentences | cited | dropped |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for one in all:
        answer = one.answer
        cells = [one.question.replace("|", "\\|")]
        if answer is None:
            cells += ["-", f"failed: {one.failed}", *["-"] * 6]
        else:
            sentences = sum(name == "sentence" for _, name, _ in one.events)
            dropped = len((answer.trace or {}).get("dropped") or [])
            cells += [f"{answer.model.writer} {answer.model.name or ''}".strip(), answer.status.value]
            cells += [_seconds(one.first("sources")), _seconds(one.first("sentence")), _seconds(one.first("answer"))]
            cells += [str(sentences), str(len(answer.citations)), str(dropped)]
        yield f"| {' | '.join(cells)} |"
    firsts = [at for one in all if (at := one.first("sentence")) is not None]
    wholes = [at for one in all if (at := one.first("answer")) is not None]
    if firsts and wholes:
        yield f"\nMedian to the first sentence {median(firsts):.2f} s, to the whole answer {median(wholes):.2f} s; "
    yield f"{quotes.told}."


def _seconds(at: float | None) -> str:
    return "-" if at is None else f"{at:.2f}"


def _short(text: str, full: bool) -> str:
    line = " ".join(text.split())
    return line if full or len(line) <= 140 else line[:139] + "…"


def main() -> None:
    """Run from the command line; exit code 1 when a stream broke or a quotation does not match."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--space", default=SPACE)
    parser.add_argument("--questions", type=Path, help="other questions, one a line")
    parser.add_argument("--timeout-s", type=float, default=300.0, help="longest silence of a stream")
    parser.add_argument("--full", action="store_true", help="cut no sentence or quotation short")
    options = parser.parse_args()
    questions = options.questions.read_text(encoding="utf-8").splitlines() if options.questions else QUESTIONS
    quotes = Quotes(options.url.rstrip("/"), options.space)
    all = list[Streamed]()
    with Api(options.url, options.space, timeout_s=options.timeout_s) as api:
        for question in questions:
            all.append(ask(api, question, quotes))
            print("\n".join(story(all[-1], full=options.full)), flush=True)
    print("\n".join(summary(all, quotes)))
    if quotes.faults or any(one.answer is None for one in all):
        raise SystemExit("\n".join(["Streams that broke, or quotations that do not match:", *quotes.faults]))


if __name__ == "__main__":
    main()
