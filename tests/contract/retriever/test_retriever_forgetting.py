"""POST /forget: deleted versions leave every index of the space and the keyword index, and are counted."""

from datetime import UTC, datetime
from pathlib import Path

import httpx

from services.retriever.settings import Settings
from services.shared.catalog import documents
from services.shared.contracts.ids import DocumentId, SpaceId, VersionId
from services.shared.contracts.indexes import IndexPhase
from services.shared.index.chroma import VectorIndex
from services.shared.models.embedder import Embedder

from .conftest import serving
from .library import MAIN, Library, Text

FERRY = Text("ferry", "The zebrafinch ferry leaves at noon.\n\nA second zebrafinch paragraph about the ferry.")
KETTLE = Text("kettle", "The kettle is blue.")


def removed(library: Library, id: str = "ferry") -> list[VersionId]:
    with library.catalog.write() as tx:
        gone = documents.remove(tx, MAIN, DocumentId(id), datetime.now(UTC))
    assert gone is not None
    return gone.version_ids


async def forget(client: httpx.AsyncClient, versions: list[VersionId], space: SpaceId = MAIN) -> dict[str, int]:
    answer = await client.post("/forget", json={"space": space, "versions": versions})
    assert answer.status_code == 200, answer.text
    counts: dict[str, int] = answer.json()
    return counts


def snapshots(settings: Settings) -> bytes:
    return b"".join(path.read_bytes() for path in Path(settings.snapshot_dir).rglob("*") if path.is_file())


async def test_versions_leave_all_indexes_and_the_snapshot(
    settings: Settings, library: Library, embedder: Embedder, chroma_url: str
) -> None:
    library.publish(FERRY, KETTLE)
    rows = [library.index(), library.beside(embedder), library.beside(embedder, IndexPhase.BUILDING)]
    rows.append(library.beside(embedder, IndexPhase.RETIRED))
    async with serving(settings) as client:
        found = (await client.post("/retrieve", json={"space": MAIN, "question": "When does the ferry leave?"})).json()
        assert found["passages"][0]["document_id"] == "ferry"
    assert b"zebrafinch" in snapshots(settings), "it was saved at the end"
    async with serving(settings) as client:
        versions = removed(library)
        assert await forget(client, versions) == {"vectors": 8, "postings": 2}
        assert b"zebrafinch" not in snapshots(settings)
        assert await forget(client, versions) == {"vectors": 0, "postings": 0}
        assert [VectorIndex(chroma_url, row).count() for row in rows] == [1, 1, 1, 1]
    assert b"zebrafinch" not in snapshots(settings)
    assert b"kettl" in snapshots(settings)


async def test_what_answers_again_or_is_on_its_way_keeps_its_vectors(
    settings: Settings, library: Library, chroma_url: str
) -> None:
    library.publish(FERRY, KETTLE)
    versions = removed(library)
    library.publish(FERRY)
    async with serving(settings) as client:
        counts = await forget(client, versions)
        assert counts["vectors"] == 0
        found = (await client.post("/retrieve", json={"space": MAIN, "question": "When does the ferry leave?"})).json()
    assert found["passages"][0]["document_id"] == "ferry"
    assert VectorIndex(chroma_url, library.index()).count() == 3


async def test_a_space_that_nobody_wrote_to_holds_nothing(settings: Settings, library: Library) -> None:
    async with serving(settings) as client:
        assert await forget(client, [VersionId("v")], SpaceId("none")) == {"vectors": 0, "postings": 0}


async def test_a_start_takes_away_what_a_killed_retriever_left(settings: Settings, library: Library) -> None:
    library.publish(FERRY, KETTLE)
    async with serving(settings) as client:
        await client.post("/retrieve", json={"space": MAIN, "question": "When does the ferry leave?"})
    removed(library)
    assert b"zebrafinch" in snapshots(settings)
    async with serving(settings):
        assert b"zebrafinch" not in snapshots(settings)
