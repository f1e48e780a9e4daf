"""Making vectors again that an index lost. The catalog holds the text of every live chunk."""

from collections.abc import Iterator, Sequence
from contextlib import suppress

from services.ingestor.domain.documents import StoredChunk
from services.ingestor.domain.reasons import is_outage
from services.ingestor.flow.outages import fail_or_put_off
from services.ingestor.flow.progress import Progress
from services.ingestor.ports.content import EmbeddingStopped, KeepGoing, Switched, Target
from services.ingestor.ports.jobs import ClaimedJob, Lease, ProgressNote
from services.ingestor.ports.tools import Tools
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.ids import IndexId, SpaceId, VersionId


class Mend:
    """Runs MEND jobs. What has its vector already is left alone, so that a second run changes nothing.

    The job may name an index; else it is the one that serves.
    """

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    def run(self, job: ClaimedJob) -> None:
        """Embed and store the chunks without a vector of the named versions, as far as these are live."""
        tools = self._tools
        named = [VersionId(str(version)) for version in job.payload.get("version_ids", [])]
        try:
            with tools.leases.hold([job.id]) as lease:
                target = self._target(job)
                mended = {"versions": 0, "chunks": 0} if target is None else self._mend(job, target, named, lease)
        except EmbeddingStopped:
            # The vectors that were stored are good ones and stay.
            tools.ledger.drop(job)
        except Switched:
            # The index was taken out meanwhile, and needs nothing any more.
            tools.ledger.succeed(job, {"versions": 0, "chunks": 0}, None)
        except tools.time_up:
            raise
        except Exception as error:
            fail_or_put_off(tools.ledger, job, error, f"mending {job.id}")
        else:
            tools.ledger.succeed(job, mended, None)

    def _target(self, job: ClaimedJob) -> Target | None:
        index = job.payload.get("index_id")
        if index is None:
            return self._tools.vectors.target(job.space)
        return self._tools.vectors.named(job.space, IndexId(str(index)))

    def _mend(self, job: ClaimedJob, target: Target, named: Sequence[VersionId], lease: Lease) -> dict[str, int]:
        """Group after group; an error that only some chunks meet is raised when all others are stored."""
        tools = self._tools
        progress = Progress(tools.ledger, tools.clock)
        versions = chunks = done = 0
        errors: list[Exception] = []

        def keep_going(_: int) -> bool:
            progress.say([ProgressNote(job.id, "embed", done, len(named))])
            return lease.keeps(job.id)

        for looked_through, group in self._groups(job.space, named):
            if not keep_going(0):
                raise EmbeddingStopped
            there = tools.vectors.present(target, [chunk.item.chunk_id for chunk in group])
            missing = [chunk for chunk in group if chunk.item.chunk_id not in there]
            if missing:
                errors += self._store(target, missing, keep_going)
                touched = {chunk.item.version_id for chunk in missing}
                self._forget_dead(job.space, sorted(touched))
                versions += len(touched)
                chunks += len(missing)
            done = looked_through
        if errors:
            raise errors[0]
        return {"versions": versions, "chunks": chunks}

    def _groups(self, space: SpaceId, named: Sequence[VersionId]) -> Iterator[tuple[int, list[StoredChunk]]]:
        """Live chunks, whole versions together, each group with the number of versions up to its end."""
        group: list[StoredChunk] = []
        for n, version in enumerate(named, start=1):
            group += self._tools.ledger.live_chunks(space, version)
            if group and (n == len(named) or len(group) >= self._tools.rules.group_chunks):
                yield n, group
                group = []

    def _store(self, target: Target, chunks: Sequence[StoredChunk], keep_going: KeepGoing) -> list[Exception]:
        """Embed and store; when that fails, by halves, so that one bad chunk keeps no other from its vector."""
        tools = self._tools
        try:
            vectors = tools.embedders.of(target).embed([chunk.search_text for chunk in chunks], keep_going)
            tools.vectors.upsert(target, [chunk.item for chunk in chunks], vectors)
        except (EmbeddingStopped, Switched, tools.time_up):
            raise
        except Exception as error:
            if is_outage(error):
                raise
            if len(chunks) == 1:
                return [error]
            half = len(chunks) // 2
            return [*self._store(target, chunks[:half], keep_going), *self._store(target, chunks[half:], keep_going)]
        return []

    def _forget_dead(self, space: SpaceId, versions: Sequence[VersionId]) -> None:
        """A version may have been replaced or deleted meanwhile. Nothing can answer from its vectors, so a failure
        may wait for the reconciler's sweep."""
        tools = self._tools
        with suppress(RagstoneError):
            needed = tools.ledger.needed_versions(space, versions)
            gone = [version for version in versions if version not in needed]
            if gone:
                tools.vectors.delete_versions(space, gone)
