"""`ragstone eval`: what is asked, the corpus that it is asked about, and the files that are kept."""

import re
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from rich.console import Console

from services.local import corpus
from services.local.api import Api
from services.local.evaluation_api import EvaluationApi
from services.local.folder import shown
from services.local.question_files.sets import QuestionSet, sample
from services.local.terminal import FAILED, INTERRUPTED, complain
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.evaluation import Comparison, Evaluation, EvaluationRequest, StartedEvaluation, Subject
from services.shared.contracts.golden import QUESTIONS_MAX, GoldenState, Question
from services.shared.evaluation.comparison import compare
from services.shared.evaluation.report.html import html
from services.shared.evaluation.report.markdown import markdown

LISTED = 5
USUAL_DEPTH = 10
DATA_SET_DEPTH = 100
"""Published figures of data sets include recall@100."""
_FOLDER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_GOLDEN = "golden"
NONE_EARLIER = (
    "No finished evaluation of this space that was not vetoed has asked any of these questions before (same id, text "
    "and expectations), so nothing was compared and nothing vetoed."
)
_WHAT_ELSE = "`ragstone golden import FILE` takes in reviewed ones; --questions FILE or --data FOLDER asks others."


@dataclass(frozen=True)
class Wish:
    """What the options say of the evaluation itself."""

    subject: Subject
    limit: int | None
    seed: int
    ablate: bool
    judge: bool
    against: str | None
    risk: float


def send_corpus(api: Api, console: Console, chosen: QuestionSet, stop: threading.Event) -> None:
    """The documents of a data set, ready to be found; else the command ends here.

    Raises: RagstoneError, Unreachable.
    """
    if chosen.corpus is None:
        return
    report = corpus.send(api, console, chosen.corpus, chosen.name, stop)
    if report.interrupted:
        detail = (
            "Interrupted. What was sent is worked on all the same; `ragstone jobs` shows it, nothing was evaluated."
        )
        complain("interrupted", detail, INTERRUPTED)
    if report.failed:
        named = "; ".join(f"{failure.document_id}: {failure.reason}" for failure in report.failed[:LISTED])
        detail = f"{len(report.failed)} documents of {chosen.name} failed, so nothing was evaluated ({named})."
        complain("corpus_incomplete", f"{detail} --no-ingest evaluates with what is there.", FAILED)
    others = corpus.strangers(api, chosen.corpus)
    if others:
        said = f"The space also holds {others} documents that are not of {chosen.name}; they are searched with them."
        console.print(said, style="yellow", markup=False, soft_wrap=True)


def request_for(doors: EvaluationApi, wish: Wish, chosen: QuestionSet | None) -> EvaluationRequest:
    """The request, with a sample of the questions where a limit is set.

    Raises: RagstoneError, Unreachable.
    """
    name = chosen.name if chosen else _GOLDEN
    questions: list[Question] | None = None if chosen is None else list(chosen.questions)
    if wish.limit is not None:
        if questions is None:
            approved = doors.golden(GoldenState.APPROVED, flagged=False)
            questions = [item.question for item in approved if item.flagged is None] or None
        if questions is not None and wish.limit < len(questions):
            questions = sample(questions, wish.limit, wish.seed)
            name = f"{name} (sample of {wish.limit}, seed {wish.seed})"
    if questions is not None and len(questions) > QUESTIONS_MAX:
        detail = f"{name} holds {len(questions)} questions; one evaluation may ask {QUESTIONS_MAX}. Set --limit."
        raise RagstoneError(ErrorCode.INVALID_REQUEST, detail)
    return EvaluationRequest(
        subject=wish.subject,
        questions=questions,
        name=name[:200],
        ablate=wish.ablate,
        judge=wish.judge,
        against=wish.against,
        seed=wish.seed,
        risk=wish.risk,
        top_k=DATA_SET_DEPTH if chosen is not None and chosen.corpus is not None else USUAL_DEPTH,
    )


def start(doors: EvaluationApi, request: EvaluationRequest) -> StartedEvaluation:
    """Ids of the evaluation and of its job.

    Raises: RagstoneError, with what to do where the golden set is empty; Unreachable.
    """
    try:
        return doors.start_evaluation(request)
    except RagstoneError as error:
        if error.code is not ErrorCode.GOLDEN_SET_EMPTY:
            raise
        raise RagstoneError(error.code, f"{error.detail} {_WHAT_ELSE}") from error


def save(evaluation: Evaluation, folder: Path) -> dict[str, str]:
    """Write evaluation.json, report.md and report.html; their paths by form.

    Raises: RagstoneError.
    """
    texts = {
        "json": ("evaluation.json", evaluation.model_dump_json()),
        "markdown": ("report.md", markdown(evaluation)),
        "html": ("report.html", html(evaluation)),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.values():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        detail = f"{shown(str(error.filename or folder))} cannot be written: {error.strerror}."
        raise RagstoneError(ErrorCode.INVALID_REQUEST, f"{detail} Choose another folder with --out.") from error
    return {form: shown(folder / name) for form, (name, _) in texts.items()}


def usual_folder(state_dir: Path, evaluation_id: str) -> Path:
    """Where the files of an evaluation are kept.

    Raises: RagstoneError for an id that is no folder's name, which a wrong server may send.
    """
    if not _FOLDER_NAME.fullmatch(evaluation_id):
        detail = f"The evaluation's id {evaluation_id[:80]!r} cannot name a folder; choose one with --out."
        raise RagstoneError(ErrorCode.INVALID_REQUEST, detail)
    return state_dir / "evaluations" / evaluation_id


def kept_earlier(against: str | None) -> Evaluation | None:
    """What ``--against`` names, when it names a kept evaluation.json or its folder.

    Raises: RagstoneError.
    """
    return _kept(Path(against)) if against and Path(against).exists() else None


def with_comparison(before: Evaluation, after: Evaluation) -> Evaluation:
    """``after``, compared with a kept one."""
    return after.model_copy(update={"comparison": compare(before, after, after.seed)})


def earlier(doors: EvaluationApi, named: str) -> Evaluation:
    """An evaluation by its id, or by the evaluation.json (or its folder) that was kept.

    Raises: RagstoneError, Unreachable.
    """
    return _kept(Path(named)) if Path(named).exists() else doors.evaluation(named)


def _kept(path: Path) -> Evaluation:
    kept = path / "evaluation.json" if path.is_dir() else path
    try:
        return Evaluation.model_validate_json(kept.read_bytes())
    except OSError as error:
        raise RagstoneError(ErrorCode.INVALID_REQUEST, f"{shown(kept)} cannot be read: {error.strerror}.") from error
    except ValidationError as error:
        detail = f"{shown(kept)} is not an evaluation that `ragstone eval` has kept."
        raise RagstoneError(ErrorCode.INVALID_REQUEST, detail) from error


def got_worse(comparison: Comparison) -> list[str]:
    """What vetoes the change: metrics beyond their intervals, and questions that are answered and should not be."""
    metrics = ", ".join(change.metric for change in comparison.changes if change.worse)
    asked = ", ".join(comparison.gave_in)
    said = [f"{metrics} got worse"] if metrics else []
    return [*said, f"{asked} should be declined, was, and is answered now"] if asked else said


def for_programs(evaluation: Evaluation, files: dict[str, str]) -> dict[str, Any]:
    """All but questions and outcomes, which fill megabytes and stand in the file."""
    return evaluation.model_dump(mode="json", exclude={"questions", "outcomes"}) | {"files": files}
