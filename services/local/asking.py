"""`ragstone ask`, `search` and `jobs`."""

import threading
from collections.abc import Callable

from rich.console import Console

from services.local import show
from services.local.api import Api, Unreachable
from services.shared.contracts.answers import Answer, AskRequest, SentenceEvent
from services.shared.contracts.jobs import JobList, JobState
from services.shared.contracts.search import SearchRequest, SearchResponse

WATCH_EVERY_S = 1.0


def ask(api: Api, question: str) -> Answer:
    """The whole answer at once."""
    return api.ask(AskRequest(question=question))


def ask_aloud(api: Api, console: Console, question: str) -> Answer:
    """Print each sentence as it arrives, and where they come from at the end.

    Raises: RagstoneError; Unreachable also when the stream ends without an answer.
    """
    shown = ended = False
    try:
        for event in api.ask_stream(AskRequest(question=question, stream=True)):
            if event.name == "sentence":
                show.sentence(console, SentenceEvent.model_validate(event.data).text)
                shown = True
            elif event.name == "answer":
                answer = Answer.model_validate(event.data)
                ended = True
                show.answer_end(console, answer, api.url, text_shown=shown)
                return answer
    finally:
        if shown and not ended:
            console.print()  # what went wrong begins a line of its own
    raise Unreachable(f"{api.url} ended the answer before it was whole; ask again.")


def search(api: Api, request: SearchRequest) -> SearchResponse:
    """Passages for a question."""
    return api.search(request)


def watch_jobs(
    look: Callable[[], JobList], console: Console, stop: threading.Event, *, watch: bool, quiet: bool
) -> JobList:
    """List the newest jobs; with ``watch`` again and again until nothing is queued or running."""
    while True:
        found = look()
        busy = found.counts[JobState.QUEUED] + found.counts[JobState.RUNNING]
        if not quiet:
            if watch and console.is_terminal:
                console.clear()
            show.jobs(console, found)
        if not watch or not busy or stop.wait(WATCH_EVERY_S):
            return found
