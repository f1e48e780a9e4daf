"""Vectors that the vector store lost: how many of which version, and how many of them one job makes again."""

from collections.abc import Collection, Mapping

from services.shared.contracts.ids import VersionId

VERSIONS_IN_JOB = 300
CHUNKS_IN_JOB = 2000
"""About twenty seconds of embedding, as long as other work may have to wait for a batch."""


def missing_vectors(
    live: Mapping[VersionId, int], stored: Mapping[VersionId, int], at_work: Collection[VersionId]
) -> dict[VersionId, int]:
    """Vectors that each live version lacks, by the numbers of its chunks and of its vectors; those at work left out."""
    return {
        version: chunks - stored.get(version, 0)
        for version, chunks in live.items()
        if chunks > stored.get(version, 0) and version not in at_work
    }


def share_of_one_job(lost: Mapping[VersionId, int]) -> list[VersionId]:
    """The first versions, as many as one job takes: at least one, however large it is."""
    share: list[VersionId] = []
    chunks = 0
    for version, missing in lost.items():
        if share and (len(share) == VERSIONS_IN_JOB or chunks + missing > CHUNKS_IN_JOB):
            break
        share.append(version)
        chunks += missing
    return share
