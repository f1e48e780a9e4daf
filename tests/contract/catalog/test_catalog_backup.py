"""Backups: one moment of the catalog with its originals, whole, and out of it again into either database."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import func, select, text, update

from services.shared.catalog import chunks, documents, indexes, jobs, keys, leases, own_keys, schema, shape
from services.shared.catalog.backup import restoring, target
from services.shared.catalog.backup.reading import Nowhere, walk
from services.shared.catalog.blobs import Blobs
from services.shared.catalog.engine import Catalog
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import DocumentId, IndexId, JobId
from services.shared.contracts.jobs import JobKind, JobState, Queue
from services.shared.contracts.keys import NewKey, Role
from tests.contract.catalog.backing_up import Deleting, back_up, content, members, silent
from tests.contract.catalog.building import NOW, SPACE, ingest, later, make_job

EMBEDDER = indexes.EmbedderSpec("model", "f" * 64, 384, "", "", 256)


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return Blobs(tmp_path / "blobs")


@pytest.fixture
def source(tmp_path: Path, migrated_file: Path) -> Iterator[Catalog]:
    """An SQLite catalog that is backed up, beside the one of either kind that is restored into."""
    (tmp_path / "source.db").write_bytes(migrated_file.read_bytes())
    opened = Catalog(f"sqlite:///{tmp_path}/source.db")
    yield opened
    opened.close()


def fill(catalog: Catalog, blobs: Blobs, number: int = 3) -> None:
    with catalog.write() as tx:
        for n in range(number):
            sha256, _ = blobs.put(f"content {n}".encode())
            ingest(tx, f"doc-{n}", f"content {n}", blob_sha256=sha256, tags=["a"], metadata={"b": 1.5, "a": None})


def restore(file: Path, url: str, tmp_path: Path) -> restoring.Restored:
    state = tmp_path / "restored"
    state.mkdir(exist_ok=True)
    return restoring.restore(file, url, Blobs(state / "blobs"), state, NOW, silent)


def test_what_was_there_is_there_again(source: Catalog, blobs: Blobs, bare_url: str, tmp_path: Path) -> None:
    fill(source, blobs)
    with source.write() as tx:
        keys.create(tx, NewKey(name="website"), NOW)
    own_keys.make(source, "a worker", Role.ADMIN, None, later(9_999) - NOW)
    head, manifest = back_up(source, blobs, tmp_path / "b", b"language: de\n")
    assert (head.schema_revision, head.database, manifest.documents) == (shape.newest(), "sqlite", 3)
    done = restore(tmp_path / "b", bare_url, tmp_path)
    assert (done.manifest, done.profile) == (manifest, tmp_path / "restored" / "profile.yaml")
    assert (tmp_path / "restored" / "profile.yaml").read_bytes() == b"language: de\n"
    catalog = Catalog(bare_url)
    assert content(catalog) == content(source)
    with catalog.read() as tx:
        assert tx.execute(select(func.count()).select_from(schema.api_keys)).scalar_one() == 1
        assert chunks.counts(tx, SPACE) == (3, 6)
        found = documents.get(tx, SPACE, DocumentId("doc-1"))
    assert found is not None
    assert Blobs(tmp_path / "restored" / "blobs").read(found.sha256) == b"content 1"
    with catalog.write() as tx:
        ingest(tx, "another")
    catalog.close()


def test_there_and_back_is_the_same_file(source: Catalog, blobs: Blobs, bare_url: str, tmp_path: Path) -> None:
    fill(source, blobs)
    back_up(source, blobs, tmp_path / "first")
    restore(tmp_path / "first", bare_url, tmp_path)
    there = Catalog(bare_url)
    back_up(there, Blobs(tmp_path / "restored" / "blobs"), tmp_path / "second")
    there.close()
    first, second = dict(members(tmp_path / "first")), dict(members(tmp_path / "second"))
    for name in ("backup.json", "manifest.json"):
        del first[name], second[name]
    assert first == second


def test_a_backup_is_one_moment_while_others_write(catalog: Catalog, blobs: Blobs, tmp_path: Path) -> None:
    done = threading.Event()

    def write() -> None:
        for n in range(400):
            if done.is_set():
                return
            sha256, _ = blobs.put(f"content {n}".encode())
            with catalog.write() as tx:
                ingest(tx, f"doc-{n}", f"content {n}", blob_sha256=sha256, number=1 + n % 4)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        seen = []
        for n in range(4):
            _, manifest = back_up(catalog, blobs, tmp_path / f"b{n}")
            assert manifest.left_out == 0
            seen.append(manifest.documents)
    finally:
        done.set()
        writer.join()
    assert seen == sorted(seen)
    assert seen[-1] > seen[0]
    for n, number in enumerate(seen):
        url = f"sqlite:///{tmp_path}/restored/{n}.db"
        restore(tmp_path / f"b{n}", url, tmp_path)
        restored = Catalog(url)
        with restored.read() as tx:
            assert chunks.counts(tx, SPACE) == (number, sum(chunks.live_sizes(tx, SPACE).values()))
            assert tx.execute(select(schema.spaces.c.seq)).scalar_one_or_none() in (number, None)
        restored.close()


def test_originals_that_go_meanwhile_or_are_damaged_are_told(catalog: Catalog, blobs: Blobs, tmp_path: Path) -> None:
    fill(catalog, blobs)
    with catalog.read() as tx:
        hashes = sorted(tx.execute(select(schema.versions.c.blob_sha256)).scalars())
    blobs.path(hashes[1]).write_bytes(b"rotten")
    _, manifest = back_up(catalog, Deleting(blobs, hashes[0]), tmp_path / "b")
    assert (manifest.blobs, manifest.left_out, manifest.left_out_some) == (1, 2, hashes[:2])
    assert walk(tmp_path / "b", Nowhere())[1] == manifest


def test_originals_that_only_jobs_name_are_in_it(catalog: Catalog, blobs: Blobs, tmp_path: Path) -> None:
    waiting, over = (blobs.put(name)[0] for name in (b"waiting", b"over"))
    with catalog.write() as tx:
        for id, sha256, state in (("a", waiting, JobState.QUEUED), ("b", over, JobState.SUCCEEDED)):
            make_job(tx, id, kind=JobKind.BATCH)
            payload = {"blob_sha256": sha256, "size_bytes": 7}
            tx.execute(update(schema.jobs).where(schema.jobs.c.id == id).values(payload=payload, state=state))
    back_up(catalog, blobs, tmp_path / "b")
    assert [name for name, _ in members(tmp_path / "b") if name.startswith("blobs/")] == [f"blobs/{waiting}"]


def test_what_was_forgotten_is_not_in_it(catalog: Catalog, blobs: Blobs, tmp_path: Path) -> None:
    sha256, _ = blobs.put(b"zqsecret")
    with catalog.write() as tx:
        ingest(tx, "gone", "zqsecret", blob_sha256=sha256, title="zqsecret")
        ingest(tx, "kept", "other")
    with catalog.write() as tx:
        documents.remove(tx, SPACE, DocumentId("gone"), NOW)
    back_up(catalog, blobs, tmp_path / "b")
    assert not any(b"zqsecret" in body or sha256 in name for name, body in members(tmp_path / "b"))


def test_work_that_was_under_way_begins_again_and_vectors_are_ordered(
    source: Catalog, blobs: Blobs, bare_url: str, tmp_path: Path
) -> None:
    fill(source, blobs)
    with source.write() as tx:
        indexes.create(tx, SPACE, id=IndexId("one"), embedder=EMBEDDER, now=NOW)
        make_job(tx, "at-work")
        make_job(tx, "waits", queue=Queue.INDEX)
        jobs.rung(tx, [JobId("waits")], NOW)
        assert leases.claim(tx, owner="host:1:2", queue=Queue.INGEST, lease_s=60, now=NOW, job_id=JobId("at-work"))
    back_up(source, blobs, tmp_path / "b")
    assert restore(tmp_path / "b", bare_url, tmp_path).vectors == 6
    catalog = Catalog(bare_url)
    with catalog.read() as tx:
        freed = jobs.find(tx, JobId("at-work"))
        assert freed is not None
        assert (freed.state, freed.lease_owner, freed.attempts) == (JobState.QUEUED, None, 0)
        waiting = jobs.unrung(tx, older_than=later(-9_999), limit=9)
    mending = [job for job in waiting if job.kind is JobKind.MEND]
    assert {job.id for job in waiting} - {job.id for job in mending} == {"at-work", "waits"}
    assert [(job.payload["index_id"], len(job.payload["version_ids"])) for job in mending] == [("one", 3)]
    catalog.close()


@pytest.mark.parametrize("revision", ["0001", "0005"])
def test_a_backup_of_an_older_release_is_migrated(bare_url: str, blobs: Blobs, tmp_path: Path, revision: str) -> None:
    old = Catalog(f"sqlite:///{tmp_path}/old.db")
    with old.write() as tx:
        shape.upgrade(tx, revision)
        tx.execute(text("INSERT INTO spaces (id, seq, created_at) VALUES ('main', 7, '2026-03-01 12:00:00.000000')"))
    head, _ = back_up(old, blobs, tmp_path / "b")
    old.close()
    assert head.schema_revision == revision
    restore(tmp_path / "b", bare_url, tmp_path)
    catalog = Catalog(bare_url)
    assert catalog.revision() == shape.newest()
    with catalog.read() as tx:
        found = tx.execute(select(schema.spaces)).one()
    assert (found.id, found.seq, found.created_at.isoformat()) == ("main", 7, "2026-03-01T12:00:00+00:00")
    fill(catalog, blobs)
    catalog.close()


def test_what_is_there_is_named_and_replaced_whole(
    source: Catalog, blobs: Blobs, catalog: Catalog, tmp_path: Path
) -> None:
    url = catalog._url.render_as_string(False)
    assert target.standing(url) is None
    fill(source, blobs, 2)
    back_up(source, blobs, tmp_path / "b")
    with catalog.write() as tx:
        ingest(tx, "old")
        ingest(tx, "doc-1", "content 1")
        keys.create(tx, NewKey(name="x"), NOW)
        tx.execute(text("CREATE TABLE others (id INTEGER)"))
    with catalog.write() as tx:
        documents.remove(tx, SPACE, DocumentId("doc-1"), NOW)
    found = target.standing(url)
    assert found is not None
    assert found.sentence == "1 document in 1 space (main), 1 API key"
    back = target.Returning(found.deleted)
    walk(tmp_path / "b", back)
    assert back.found == ["doc-1"]
    sqlite = catalog.file is not None
    catalog.close()
    restore(tmp_path / "b", url, tmp_path)
    assert content(catalog) == content(source)
    if not sqlite:
        with catalog.write() as tx:
            tx.execute(text("DROP TABLE others"))


def test_a_failure_in_the_middle_leaves_everything_as_it_was(
    source: Catalog, blobs: Blobs, catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(source, blobs)
    back_up(source, blobs, tmp_path / "b", b"language: de\n")
    with catalog.write() as tx:
        ingest(tx, "mine")
    before = content(catalog)

    def full(*_: object) -> int:
        raise RagstoneError(ErrorCode.CATALOG_UNAVAILABLE, "the disk is full")

    monkeypatch.setattr(restoring, "waken", full)
    with pytest.raises(RagstoneError, match="disk is full"):
        restore(tmp_path / "b", catalog._url.render_as_string(False), tmp_path)
    assert content(catalog) == before
    assert [path.name for path in (tmp_path / "restored").iterdir()] == ["blobs"]


def test_a_row_that_the_database_does_not_take_is_named(
    source: Catalog, blobs: Blobs, bare_url: str, tmp_path: Path
) -> None:
    fill(source, blobs)
    with source.write() as tx:
        tx.execute(text("UPDATE versions SET title = 'a' || char(0) || 'b'"))
    back_up(source, blobs, tmp_path / "b")
    if bare_url.startswith("sqlite"):
        restore(tmp_path / "b", bare_url, tmp_path)
        return
    with pytest.raises(RagstoneError) as refused:
        restore(tmp_path / "b", bare_url, tmp_path)
    assert "rows of versions" in refused.value.detail
    assert target.standing(bare_url) is None
