"""Texts of others on the terminal: nothing in them is taken for a command."""

import io
import json
import unicodedata
from typing import Any

import pytest
from rich.console import Console

from services.local import show, show_evaluation
from services.local.terminal import Terminal, out
from services.shared.contracts.answers import Answer
from services.shared.contracts.evaluation import Evaluation
from services.shared.contracts.golden import Feedback, GoldenQuestion
from services.shared.contracts.jobs import Job, JobList, JobState
from tests.unit.local.fakes import NOW, a_comparison, a_golden_question, an_evaluation

EVIL = "a\x1b[2Jb\x9b31mc\x07d\u202ee\u2066f\rg\u2028h\x1b]0;title\x07"


@pytest.fixture
def console() -> Console:
    return Terminal(file=io.StringIO(), width=200)


def printed(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def check_harmless(said: str) -> None:
    assert "[2Jb" in said, "the words themselves are shown"
    steering = {
        f"U+{ord(char):04X}" for char in said if unicodedata.category(char) in ("Cc", "Cf", "Zl") and char != "\n"
    }
    assert not steering


def a_job() -> Job:
    body: dict[str, Any] = {"id": "j", "kind": "document", "state": "failed", "stage": EVIL, "done": 0, "total": None}
    body |= {"attempts": 1, "reason": EVIL, "warning": None, "document_id": "d", "result": None}
    return Job.model_validate(body | {"created_at": NOW, "updated_at": NOW})


def test_what_visitors_said_is_harmless(console: Console) -> None:
    said: dict[str, Any] = {
        "id": "f1",
        "answer_id": "a1",
        "question": EVIL,
        "answer_text": f"{EVIL}\n{EVIL}",
        "comment": EVIL,
    }
    said |= {"answer_status": "answered", "verdict": "bad", "state": "open", "golden_id": None, "created_at": NOW}
    show_evaluation.feedback(console, [Feedback.model_validate(said)])
    check_harmless(printed(console))


def test_golden_questions_and_evaluations_are_harmless(console: Console) -> None:
    golden = a_golden_question("g", flagged=EVIL)
    golden["question"] |= {"text": EVIL, "kind": EVIL}
    show_evaluation.golden(console, [GoldenQuestion.model_validate(golden)])
    compared = a_comparison(vetoed=True)
    compared["questions"][0]["text"] = EVIL
    told = an_evaluation(name=EVIL, comparison=compared)
    told["outcomes"][0]["error"] = EVIL
    show_evaluation.evaluation(console, Evaluation.model_validate(told))
    check_harmless(printed(console))


def test_answers_and_jobs_are_harmless(console: Console) -> None:
    show.sentence(console, EVIL)
    citation: dict[str, Any] = {
        "n": 1,
        "document_id": "d",
        "version": "v",
        "title": EVIL,
        "source": None,
        "section": EVIL,
    }
    citation |= {"type": None, "chunk_id": "v-00000", "start": 0, "end": 1, "quote": EVIL, "url": f"x{EVIL}"}
    body: dict[str, Any] = {
        "id": "a",
        "status": "answered",
        "text": EVIL,
        "reason": None,
        "confidence": 0.9,
        "citations": [citation],
    }
    body |= {"claims": [], "sub_questions": [], "passages_used": [], "degraded": [EVIL], "timings_ms": {}}
    body |= {"model": {"writer": "extractive", "name": EVIL}, "index": {"id": None, "embedder": None, "seq": 1}}
    answer = Answer.model_validate(body | {"trace_id": "t", "trace": None})
    show.answer_end(console, answer, "http://gateway", text_shown=False)
    show.jobs(console, JobList(items=[a_job()], next_cursor=None, counts=dict.fromkeys(JobState, 1)))
    show.job(console, a_job())
    check_harmless(printed(console))


def test_what_a_question_was_taken_for_is_told_and_harmless(console: Console) -> None:
    answer = Answer.model_validate(
        {
            "id": "a",
            "status": "abstained",
            "text": "No.",
            "reason": "nothing_relevant",
            "confidence": 0.1,
            "citations": [],
            "claims": [],
            "rewritten": f"Why did it close?{EVIL}",
            "sub_questions": ["When did it close?", EVIL],
            "passages_used": [],
            "degraded": [],
            "model": {"writer": "none", "name": None},
            "index": {"id": None, "embedder": None, "seq": 1},
            "timings_ms": {},
            "trace_id": "t",
            "trace": None,
        }
    )
    show.answer_end(console, answer, "http://gateway", text_shown=False)
    said = printed(console)
    assert "understood as: Why did it close?" in said
    assert "looked up in parts: When did it close? | " in said
    check_harmless(said)


def test_the_sentences_of_a_stream_make_one_text(console: Console) -> None:
    for text in ("One [1].", " Two [2].", "\n\n- three"):
        show.sentence(console, text)
    assert printed(console) == "One [1]. Two [2].\n\n- three"


def test_the_lines_of_an_answer_stay_apart(console: Console) -> None:
    show.sentence(console, "one\n\ttwo")
    assert printed(console).splitlines()[0] == "one"


def test_a_program_gets_the_same_text_and_the_terminal_no_command(capsys: pytest.CaptureFixture[str]) -> None:
    out({"text": EVIL})
    said = capsys.readouterr().out
    check_harmless(said)
    assert json.loads(said) == {"text": EVIL}


def test_questions_that_failed_are_counted_once_however_often_they_were_asked(console: Console) -> None:
    told = an_evaluation()
    told["outcomes"] = [{"question_id": "q1", "variant": name, "error": "away"} for name in ("full", "BM25", "vectors")]
    told["outcomes"].append({"question_id": "q2", "variant": "BM25", "error": "late"})
    show_evaluation.evaluation(console, Evaluation.model_validate(told))
    assert "1 question came to nothing; the first, q1: away" in printed(console)
    assert "1 question came to nothing with stages switched off; the first, q2: late" in printed(console)


def test_a_bar_takes_ids_for_what_they_are() -> None:
    console = Terminal(file=io.StringIO(), width=200, force_terminal=True)
    with show.IngestBar(console, "[/x]") as bar:
        bar.total(1)
        bar.stage(a_job().model_copy(update={"document_id": "[/dim]"}))
    assert "[/x]" in printed(console)
