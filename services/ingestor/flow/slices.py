"""A document of more chunks than a group: staged, then embedded slice by slice, and it makes way between them.

A staged version is saved and invisible. What has its vector in the index already is left alone, so that the work
goes on where it was, after a time slice as after a death.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TypeVar

from services.ingestor.domain.documents import Prepared, StoredChunk
from services.ingestor.ports.content import EmbeddingStopped, KeepGoing, Switched, Target
from services.ingestor.ports.tools import Background, Tools
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.ids import DocumentId, SpaceId, VersionId

Made = TypeVar("Made")

SHARE_OF_LIMIT = 0.5
"""Of a task's time limit, after which long work makes way even if nobody waits."""


LEAST_S = 2.0
"""So long at least, so that a document that waits all the time does not make the work go round in circles."""


class TimeSlice:
    """How long one piece of long work may go on."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._began = tools.clock()

    @property
    def over(self) -> bool:
        """A document waits that nobody began, or anybody and the slice is over, or the task's limit comes near."""
        worked = self._tools.clock() - self._began
        rules, ledger = self._tools.rules, self._tools.ledger
        if worked > rules.time_limit_s * SHARE_OF_LIMIT:
            return True
        if worked > min(LEAST_S, rules.time_slice_s) and ledger.fresh_waits():
            return True
        return worked > rules.time_slice_s and ledger.anything_waits()


class Pace:
    """How many chunks a group may have, so that even a slow model comes to its end several times in a time slice."""

    FIRST = 64

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._in_a_second: float | None = None

    @property
    def most(self) -> int:
        """Chunks of the next group."""
        rules = self._tools.rules
        wanted = self.FIRST if self._in_a_second is None else int(self._in_a_second * rules.time_slice_s / 4)
        return max(1, min(rules.group_chunks, max(wanted, self.FIRST // 4)))

    def timed(self, chunks: int, work: Callable[[], Made]) -> Made:
        """Do the work and remember how long so many chunks took."""
        began = self._tools.clock()
        made = work()
        took = self._tools.clock() - began
        if chunks and took > 0:
            self._in_a_second = chunks / took
        return made


def is_large(tools: Tools, prepared: Prepared) -> bool:
    """Does it take more than one slice?"""
    return len(prepared.chunks) > tools.rules.group_chunks


def stage(tools: Tools, space: SpaceId, prepared: Prepared, revision: int) -> list[StoredChunk]:
    """Save the version beside what is live; its chunks as they are to be embedded."""
    version = prepared.version_id
    if version not in tools.ledger.live_versions(space, [version]):
        # What an earlier failure left of it may come from other chunks, and is not to pass for done.
        tools.vectors.delete_versions(space, [version])
    tools.ledger.stage(space, prepared, revision)
    return tools.ledger.staged(space, prepared.incoming.document_id, version)


def unstage(tools: Tools, space: SpaceId, document_id: DocumentId, version: VersionId) -> None:
    """Take a staged version out again, with its vectors, unless it answers or is on its way in again.

    Nothing can answer from it, so a failure may wait for the reconciler's sweep.
    """
    with suppress(RagstoneError):
        if version not in tools.ledger.needed_versions(space, [version]):
            tools.ledger.discard(space, document_id, version)
            tools.vectors.delete_versions(space, [version])


def embed_in_slices(
    tools: Tools,
    space: SpaceId,
    chunks: Sequence[StoredChunk],
    keep_going: KeepGoing,
    writer: Background,
    pace: Pace,
    makes_way: Callable[[], bool],
) -> Target | None:
    """Give every chunk its vector in the index that serves; None when the work makes way before the end.

    ``keep_going`` is told how many chunks are done. Raises EmbeddingStopped, and Switched when the index is gone.
    """
    target = tools.vectors.target(space)
    embedder = tools.embedders.of(target)
    done = 0
    while done < len(chunks):
        if not keep_going(done):
            raise EmbeddingStopped
        part = chunks[done : done + pace.most]
        there = tools.vectors.present(target, [chunk.item.chunk_id for chunk in part])
        missing = [chunk for chunk in part if chunk.item.chunk_id not in there]
        if missing:
            texts = [chunk.search_text for chunk in missing]
            told = partial(_from, keep_going, done + len(there))
            vectors = pace.timed(len(texts), partial(embedder.embed, texts, told))
            writer.run(partial(tools.vectors.upsert, target, [chunk.item for chunk in missing], vectors))
        done += len(part)
        if done < len(chunks) and makes_way():
            writer.wait()
            return None
    writer.wait()
    return target


def until_published(embed: Callable[[], Target | None], publish: Callable[[Target], None]) -> bool:
    """Embed and publish, for another index as often as one was promoted meanwhile; False when the work makes way."""
    while True:
        with suppress(Switched):
            target = embed()
            if target is None:
                return False
            publish(target)
            return True


def _from(keep_going: KeepGoing, before: int, done: int) -> bool:
    return keep_going(before + done)
