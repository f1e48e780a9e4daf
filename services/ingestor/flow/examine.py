"""Comparing every store with the catalog at once, and putting right what differs. For a person who asks.

What the reconciler does bit by bit and after a grace period is done here in one go: only work under way is spared.
"""

from collections.abc import Iterator

from services.ingestor.domain.differences import Difference
from services.ingestor.domain.lost import missing_vectors, share_of_one_job
from services.ingestor.ports.housekeeping import Housekeeping, KeywordIndex, Ring, StoredIndex, StoredVectors
from services.ingestor.ports.jobs import Doorbell
from services.shared.contracts.ids import SpaceId, VersionId


class Examination:
    """One look over everything; with ``repair`` also the repairs."""

    def __init__(
        self,
        catalog: Housekeeping,
        vectors: StoredVectors,
        keywords: KeywordIndex,
        bell: Doorbell,
        *,
        repair: bool,
    ) -> None:
        self._catalog = catalog
        self._vectors = vectors
        self._keywords = keywords
        self._bell = bell
        self._repair = repair

    def differences(self) -> Iterator[Difference]:
        """Everything that differs, as it is found. Raises RagstoneError when a store does not answer."""
        yield from self._jobs()
        for index in self._catalog.indexes():
            yield from self._index(index)
        yield from self._retired()
        for space in self._catalog.spaces():
            yield from self._space(space)
        yield from self._left_over()

    def _jobs(self) -> Iterator[Difference]:
        back = self._catalog.reap() if self._repair else 0
        if back:
            yield Difference("jobs", None, f"{back} jobs of workers that are gone", "they wait again, or failed", True)
        waiting = self._catalog.unrung()
        if waiting:
            rung = self._repair and self._rung(waiting)
            found = f"{len(waiting)} jobs wait without a message in the queue"
            yield Difference("jobs", None, found, "they are rung for", rung)

    def _index(self, index: StoredIndex) -> Iterator[Difference]:
        fault = self._vectors.fault(index)
        if fault is not None:
            if self._repair:
                self._vectors.drop(index)
            found = f"the collection {index.collection} cannot be used: {fault}"
            yield Difference(
                "vectors", index.space, found, "it is made anew, its vectors from the catalog's texts", self._repair
            )
            if not self._repair:
                return
        sizes = self._vectors.sizes(index)
        # In this order: a version that is published between two of these looks is seen as live.
        at_work = self._catalog.at_work(index.space)
        live = self._catalog.live_sizes(index.space)
        if index.level:
            yield from self._missing(index, missing_vectors(live, sizes, at_work.versions))
        unowned = sizes.keys() - live.keys() - at_work.versions
        if unowned and not at_work.batch:
            if self._repair:
                self._vectors.delete_versions(index, sorted(unowned))
            found = f"{sum(sizes[one] for one in unowned)} vectors in {index.collection} that no live chunk owns"
            yield Difference("vectors", index.space, found, "they are deleted", self._repair)

    def _missing(self, index: StoredIndex, missing: dict[VersionId, int]) -> Iterator[Difference]:
        if not missing:
            return
        found = f"{sum(missing.values())} live chunks lack their vector in {index.collection}"
        repair = "jobs make them again, one after the other"
        if self._repair:
            job = self._catalog.begin_mending(index, share_of_one_job(missing), at_once=True)
            if job is None:
                repair = "a job is at it already"
            else:
                self._rung([job])
        yield Difference("vectors", index.space, found, repair, self._repair)

    def _retired(self) -> Iterator[Difference]:
        for index in self._catalog.retired():
            if self._repair:
                self._vectors.drop(index)
                self._catalog.forget_index(index)
            found = f"the retired index {index.id} still has its collection"
            yield Difference("vectors", index.space, found, "it is deleted", self._repair)
        known = {index.collection for index in (*self._catalog.indexes(), *self._catalog.retired())}
        for name in self._vectors.strays(known):
            found = f"the collection {name} belongs to no index of this catalog"
            yield Difference("vectors", None, found, "it may be another Ragstone's: delete it by hand if not", False)

    def _space(self, space: SpaceId) -> Iterator[Difference]:
        lacking, unowned = self._keywords.difference(space)
        if lacking or unowned:
            if self._repair:
                self._keywords.forget(space)
            found = f"the saved keyword index lacks {lacking} live chunks and holds {unowned} that are not live"
            repair = "it is built again from the catalog when the retriever is restarted"
            yield Difference("keywords", space, found, repair, self._repair)
        lost = self._catalog.lost_originals(space)
        if lost:
            some = ", ".join(one.document_id for one in lost[:3])
            found = f"{len(lost)} live documents whose original is gone ({some}{', …' if len(lost) > 3 else ''})"
            yield Difference("originals", space, found, "they answer from their text; send them again", False)

    def _left_over(self) -> Iterator[Difference]:
        if not self._repair:
            return
        staged = self._catalog.discard_stale()
        if staged:
            found = f"{staged} versions that no job brings in"
            yield Difference("catalog", None, found, "they are discarded", True)
        swept = self._catalog.sweep_blobs()
        if swept:
            yield Difference("originals", None, f"{swept} files that nothing needs", "they are deleted", True)

    def _rung(self, jobs: list[Ring]) -> bool:
        delivered = [job_id for queue, job_id, request_id in jobs if self._bell.ring(queue, job_id, request_id)]
        self._catalog.rung(delivered)
        return len(delivered) == len(jobs)
