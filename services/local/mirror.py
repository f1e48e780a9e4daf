"""Makes the server's documents equal to a folder (or sends single files), and waits for the work to end."""

import shlex
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from services.local.api import Api, Unreachable, Upload
from services.local.folder import (
    EVERYTHING,
    Checksums,
    Known,
    LocalFile,
    Patterns,
    Plan,
    Scan,
    is_utf8,
    origin_of,
    plan_mirror,
    read,
    scan,
    shown,
)
from services.local.outcome import Failed, Report, Warned
from services.local.patience import LOOK_EVERY_S, patiently
from services.shared.contracts.documents import DocumentDescription, SubmittedJob
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.jobs import Job, JobState

GROUP_FILES = 20
GROUP_BYTES = 8_000_000
LOOK_AT = 25


@dataclass(frozen=True)
class Choice:
    """What the user chose for a mirror."""

    name: str | None = None
    prefix: str = ""
    patterns: Patterns = EVERYTHING
    dry_run: bool = False
    allow_empty: bool = False
    again: bool = False
    max_bytes: int = 20_000_000
    sums: Checksums = field(default_factory=Checksums)
    """Kept from one look at a folder to the next."""


class Progress:
    """Told what happens; the default keeps silent."""

    def total(self, documents: int) -> None:
        """So many documents are to be done."""

    def done(self, documents: int) -> None:
        """So many more are done."""

    def stage(self, job: Job) -> None:
        """A job that is under way."""


def ingest(api: Api, path: Path, choice: Choice, progress: Progress, stop: threading.Event) -> Report:
    """Mirror a folder, or send one file.

    Raises: RagstoneError, Unreachable; invalid_request when the path is nothing that can be sent.
    """
    report, plan = _plan(api, path, choice)
    if not choice.dry_run:
        _carry_out(api, report, plan, progress, stop)
    return report


def _plan(api: Api, path: Path, choice: Choice) -> tuple[Report, Plan]:
    if path.is_dir():
        origin: str | None = origin_of(path, choice.name)
        usual = origin_of(path, None)
        found = _scanned(path, choice)
        if not (found.files or found.skipped or choice.patterns or choice.allow_empty):
            detail = (
                f"{shown(path)} holds no document, so nothing was touched; --allow-empty forgets all that came from it."
            )
            raise RagstoneError(ErrorCode.INVALID_REQUEST, detail)
        known = _known(api, origin, found.files)
    else:
        origin, usual = None, None
        found = Scan([_single(path, choice)])
        document_id = found.files[0].document_id
        there = api.document(document_id) if is_utf8(document_id) else None
        known = {} if there is None else {there.id: Known(there.sha256, there.origin)}
    plan = plan_mirror(
        found.files,
        known,
        origin=origin,
        prefix=choice.prefix,
        patterns=choice.patterns,
        skipped=found.skipped,
        former=usual,
        again=choice.again,
    )
    gone = set(plan.moved.values())
    report = Report(
        path=shown(path),
        origin=origin,
        new=[file.document_id for file in plan.new if file.document_id not in plan.moved],
        changed=[file.document_id for file in plan.changed],
        moved=plan.moved,
        vanished=[document_id for document_id in plan.vanished if document_id not in gone],
        unchanged=plan.unchanged,
        failed=[Failed(shown(choice.prefix) + refused.path, refused.reason) for refused in plan.refused],
        skipped=found.skipped,
        ignored=dict(found.ignored.most_common()),
        advice=None if origin is None else _take_over(path, plan, choice),
        dry_run=choice.dry_run,
    )
    return report, plan


def _take_over(path: Path, plan: Plan, choice: Choice) -> str | None:
    """How a folder that was moved or renamed gets its documents back; null when it does not look like one."""
    if len(plan.owners) != 1:
        return None
    (owner,) = plan.owners
    same_name = owner.rpartition("-")[0] == shown(path.resolve().name)
    if not same_name and (plan.new or plan.changed or plan.unchanged):
        return None
    words = ["ragstone", "ingest", shown(path), "--name", owner]
    words += ["--prefix", choice.prefix] if choice.prefix else []
    return (
        f"If {shown(path)} is the folder {owner}, moved or renamed, take its documents over: {shlex.join(words)} "
        "(what is not in the folder any more is forgotten then)."
    )


def _scanned(path: Path, choice: Choice) -> Scan:
    try:
        return scan(path, prefix=choice.prefix, patterns=choice.patterns, max_bytes=choice.max_bytes, sums=choice.sums)
    except OSError as error:
        detail = (
            f"{shown(error.filename)} cannot be listed ({error.strerror}), so nothing was touched; make it readable."
        )
        raise RagstoneError(ErrorCode.INVALID_REQUEST, detail) from error


def _single(path: Path, choice: Choice) -> LocalFile:
    try:
        return read(path, document_id=choice.prefix + path.name, relative=path.name)
    except OSError as error:
        raise RagstoneError(ErrorCode.INVALID_REQUEST, f"{shown(path)} cannot be read: {error.strerror}.") from error


def _known(api: Api, origin: str | None, files: Sequence[LocalFile]) -> dict[str, Known]:
    """The folder's documents; everybody's when there are ids that the folder does not own yet."""
    own = _listed(api, origin)
    if own and all(file.document_id in own for file in files):
        return own
    return _listed(api, None)


def _listed(api: Api, origin: str | None) -> dict[str, Known]:
    return {str(document.id): Known(document.sha256, document.origin) for document in api.documents(origin)}


def _carry_out(api: Api, report: Report, plan: Plan, progress: Progress, stop: threading.Event) -> None:
    to_send = plan.new + plan.changed
    progress.total(len(to_send))
    jobs: dict[str, str] = {}
    for document_id in report.vanished:
        _forget(api, document_id)
    for group in groups(to_send):
        if stop.is_set():
            report.interrupted = True
            return
        for file, outcome in _send(api, group, report.origin):
            if isinstance(outcome, Failed):
                report.failed.append(outcome)
                progress.done(1)
            elif outcome.unchanged and outcome.state.final:
                progress.done(1)
            else:
                jobs[outcome.id] = file.document_id
    wait_for(api, jobs, report, progress, stop)
    failed = {failure.document_id for failure in report.failed}
    report.new = [document_id for document_id in report.new if document_id not in failed]
    report.changed = [document_id for document_id in report.changed if document_id not in failed]
    if not report.interrupted:
        for new_id, old_id in report.moved.items():
            if new_id not in failed:
                _forget(api, old_id)


def groups(files: Sequence[LocalFile]) -> Iterator[list[LocalFile]]:
    """Files in order, in groups that make requests of a reasonable size."""
    group, size = list[LocalFile](), 0
    for file in files:
        if group and (len(group) == GROUP_FILES or size + file.size > GROUP_BYTES):
            yield group
            group, size = [], 0
        group.append(file)
        size += file.size
    if group:
        yield group


def _send(
    api: Api, group: Sequence[LocalFile], origin: str | None
) -> Iterator[tuple[LocalFile, SubmittedJob | Failed]]:
    """Send a group; when it is refused, each file alone, so that only the faulty one fails."""
    uploads: list[tuple[LocalFile, Upload]] = []
    for file in group:
        try:
            uploads.append((file, _upload(file, origin)))
        except OSError as error:
            yield file, Failed(file.document_id, f"cannot be read: {error.strerror}")
    try:
        sent = api.submit_files([upload for _, upload in uploads]) if uploads else []
    except RagstoneError as error:
        if len(uploads) == 1:
            yield uploads[0][0], Failed(uploads[0][0].document_id, error.detail)
        else:
            for file, _ in uploads:
                yield from _send(api, [file], origin)
        return
    yield from zip([file for file, _ in uploads], sent, strict=True)


def _upload(file: LocalFile, origin: str | None) -> Upload:
    described = DocumentDescription(id=file.document_id, source=file.relative, origin=origin)
    return Upload(described, file.path.name, file.media_type, file.path.read_bytes())


def _forget(api: Api, document_id: str) -> None:
    try:
        api.delete(document_id)
    except RagstoneError as error:
        if error.code is not ErrorCode.DOCUMENT_NOT_FOUND:
            raise


def wait_for(api: Api, jobs: dict[str, str], report: Report, progress: Progress, stop: threading.Event) -> None:
    """Until every job has ended. ``jobs`` maps job ids to document ids, oldest first.

    Workers take the oldest first, so only the first few are asked for; the pauses grow while nothing changes.
    """
    pause = LOOK_EVERY_S[0]
    while jobs:
        ended = 0
        for job_id in list(jobs)[:LOOK_AT]:
            try:
                job = patiently(partial(api.job, job_id), stop)
            except (Unreachable, RagstoneError):
                if not stop.is_set():
                    raise
                report.interrupted = True
                return
            if job.state.final:
                ended += 1
                document_id = jobs.pop(job_id)
                progress.done(1)
                if job.state is not JobState.SUCCEEDED:
                    report.failed.append(Failed(document_id, job.reason or f"the job was {job.state}"))
                elif job.warning is not None:
                    report.warned.append(Warned(document_id, job.warning))
            elif job.state is JobState.RUNNING:
                progress.stage(job)
        pause = LOOK_EVERY_S[0] if ended else min(pause * 1.5, LOOK_EVERY_S[1])
        if jobs and ended < LOOK_AT and stop.wait(pause):
            report.interrupted = True
            return
