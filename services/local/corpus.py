"""Sends the documents of a data set and waits until they can be found."""

import threading
from collections.abc import Iterator

from rich.console import Console

from services.local import mirror, show
from services.local.api import Api
from services.local.outcome import Failed, Report
from services.local.patience import follow
from services.local.question_files.sets import Corpus
from services.shared.contracts.documents import DocumentIn
from services.shared.contracts.jobs import Job, JobState

BATCH_BYTES = 8_000_000


def send(api: Api, console: Console, corpus: Corpus, what: str, stop: threading.Event) -> Report:
    """Every document that is new or changed; those that the space holds beside them are left alone.

    Raises: RagstoneError, Unreachable.
    """
    report = Report(path=what, origin=None)
    with show.IngestBar(console, what) as bar:
        bar.total(len(corpus.ids))
        jobs = list[tuple[str, int]]()
        for lines, documents in batches(corpus):
            if stop.is_set():
                report.interrupted = True
                break
            jobs.append((api.submit_batch(lines).id, documents))
        for job_id, documents in jobs:
            _follow(api, job_id, documents, report, bar, stop)
    return report


def batches(corpus: Corpus) -> Iterator[tuple[bytes, int]]:
    """NDJSON bodies of a reasonable size, with how many documents each holds."""
    body, documents = bytearray(), 0
    for document in corpus.documents():
        line = _line(document)
        if body and len(body) + len(line) > BATCH_BYTES:
            yield bytes(body), documents
            body, documents = bytearray(), 0
        body += line
        documents += 1
    if body:
        yield bytes(body), documents


def strangers(api: Api, corpus: Corpus) -> int:
    """Documents of the space that do not belong to the corpus and are searched all the same."""
    return sum(document.id not in corpus.ids for document in api.documents())


def _line(document: DocumentIn) -> bytes:
    return document.model_dump_json(exclude_none=True).encode() + b"\n"


def _follow(api: Api, job_id: str, documents: int, report: Report, bar: mirror.Progress, stop: threading.Event) -> None:
    told = 0

    def seen(job: Job) -> None:
        nonlocal told
        there = documents if job.state.final else job.done
        bar.done(max(0, there - told))
        told = max(there, told)
        bar.stage(job)

    job = follow(api, job_id, seen, stop)
    if not job.state.final:
        report.interrupted = True
        return
    failed = [Failed(str(item.document_id), item.reason or "no reason given") for item in api.failed_items(job_id)]
    if job.state is not JobState.SUCCEEDED and not failed:
        failed = [Failed(report.path, job.reason or f"the job was {job.state}")]
    report.failed += failed
