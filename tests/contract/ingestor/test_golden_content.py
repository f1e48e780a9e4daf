"""Live documents out of a real catalog, and proposals into it."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from services.ingestor.adapters.catalog_records import claimed_of
from services.ingestor.adapters.golden_content import CatalogGoldenContent
from services.ingestor.ports.jobs import ClaimedJob
from services.shared.catalog import documents, golden, jobs
from services.shared.catalog.documents import Draft, NewChunk
from services.shared.catalog.engine import Catalog
from services.shared.contracts.golden import GoldenIn, GoldenOrigin, GoldenState, GoldSpan, Question
from services.shared.contracts.ids import DocumentId, JobId, SpaceId
from services.shared.contracts.jobs import QUEUE_OF, JobKind

SPACE, OTHER = SpaceId("main"), SpaceId("other")
THEN = datetime(2026, 3, 1, tzinfo=UTC)


class Store:
    """A catalog with a clock of its own."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self.now = THEN
        self.content = CatalogGoldenContent(catalog, lambda: self.now)

    def publish(self, id: str, text: str, space: SpaceId = SPACE, **metadata: object) -> None:
        """A version of one document, its paragraphs as chunks, the second of which repeats a header."""
        draft = Draft(DocumentId(id), str(hash(text)), f"{id}", "text/markdown", 1, None, None, None, None, {}, None)
        chunks, at = [], 0
        for n, part in enumerate(text.split("\n\n")):
            lead = "head\n" if n else ""
            chunks.append(NewChunk(n, lead + part, len(lead), at, at + len(part), f"Part {n}", "fact", part))
            at += len(part) + 2
        with self.catalog.write() as tx:
            sent = documents.submit(tx, space, draft, self.now)
            version = documents.save_version(
                tx, space, draft, title=id.title(), type="faq", tags=[], source=None, metadata=dict(metadata),
                language=None, text=text, chunks=chunks, now=self.now,
            )  # fmt: skip
            documents.publish(tx, space, draft.document_id, version, sent.revision or 0, self.now)

    def job(self) -> ClaimedJob:
        with self.catalog.write() as tx:
            row = jobs.create(
                tx, id=JobId("j1"), space=SPACE, kind=JobKind.GOLDEN, queue=QUEUE_OF[JobKind.GOLDEN],
                document_id=None, revision=None, payload={"limit": 5}, request_id="", now=self.now,
            )  # fmt: skip
        return claimed_of(row)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    catalog = Catalog(f"sqlite:///{tmp_path / 'catalog.db'}")
    catalog.migrate()
    yield Store(catalog)
    catalog.close()


def question(id: str, quote: str | None = None, kind: str = "definition") -> Question:
    gold = [GoldSpan(document_id=DocumentId("a.md"), quote=quote)]
    return Question(id=id, text=f"What is {id}?", kind=kind, gold=gold)


def test_live_documents_are_read_whole_with_their_owners_questions(store: Store) -> None:
    store.publish("a.md", "old words")
    store.publish("a.md", "First words.\n\nSecond words.", questions=["Is it open?", "ops@example.org"])
    store.publish("b.md", "Other words.")
    store.publish("c.md", "Of another space.", OTHER)
    found = {one.document_id: one for one in store.content.documents(SPACE, 0)}
    assert set(found) == {"a.md", "b.md"}
    one = found[DocumentId("a.md")]
    assert (one.title, one.type, one.questions) == ("A.Md", "faq", ("Is it open?",))
    assert [passage.body for passage in one.passages] == ["First words.", "Second words."]
    assert [(passage.section, passage.start, passage.kind) for passage in one.passages][1] == ("Part 1", 14, "fact")


def test_the_seed_decides_the_order_and_a_deleted_document_is_passed_over(store: Store) -> None:
    for n in range(12):
        store.publish(f"{n}.md", f"Words of {n}.")
    orders = [[one.document_id for one in store.content.documents(SPACE, seed)] for seed in (0, 0, 1)]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == sorted(orders[2])
    reading = store.content.documents(SPACE, 0)
    next(reading)
    with store.catalog.write() as tx:
        documents.remove(tx, SPACE, DocumentId(orders[0][1]), store.now)
    assert [one.document_id for one in reading] == orders[0][2:]


def test_proposals_are_kept_once_and_counted_by_kind(store: Store) -> None:
    store.publish("a.md", "First words.\n\nSecond words.")
    store.content.propose(SPACE, [question("old")], GoldenOrigin.RULE)
    store.now += timedelta(hours=1)
    job = store.job()
    assert store.content.made(job) == {}
    made = [question("g1", "First words."), question("g2", "Second words.", "how_to"), question("old")]
    assert store.content.propose(SPACE, made, GoldenOrigin.RULE) == 2
    assert store.content.propose(SPACE, [question("g3", kind="how_to")], GoldenOrigin.MODEL) == 1
    assert store.content.propose(SPACE, made, GoldenOrigin.RULE) == 0
    with store.catalog.write() as tx:
        golden.put(tx, SPACE, [GoldenIn(question=question("mine"))], GoldenOrigin.OWNER, store.now)
    assert store.content.made(job) == {"definition": 1, "how_to": 2}
    with store.catalog.read() as tx:
        listed = golden.page(tx, SPACE, states=[GoldenState.PROPOSED], flagged=None, limit=10, cursor=None)
    assert [(item.question.id, item.flagged) for item in listed.items] == [
        ("g1", None), ("g2", None), ("g3", None), ("old", None),
    ]  # fmt: skip


def test_a_job_knows_what_was_there_before_it_and_what_was_decided(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.ingestor.adapters.golden_content.PAGE", 2)
    store.publish("a.md", "First words.")
    store.content.propose(SPACE, [question(f"old{n}") for n in range(3)], GoldenOrigin.RULE)
    store.content.propose(OTHER, [question("theirs")], GoldenOrigin.RULE)
    store.now += timedelta(hours=1)
    job = store.job()
    store.content.propose(SPACE, [question("g1"), question("g2")], GoldenOrigin.RULE)
    assert [one.id for one in store.content.known(job)] == ["old0", "old1", "old2"]
    with store.catalog.write() as tx:
        rejected = GoldenIn(question=question("g2"), state=GoldenState.REJECTED)
        golden.put(tx, SPACE, [rejected], GoldenOrigin.OWNER, store.now)
    assert [one.id for one in store.content.known(job)] == ["g2", "old0", "old1", "old2"]


def test_the_counting_goes_over_pages(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.ingestor.adapters.golden_content.PAGE", 3)
    for n in range(8):
        store.publish(f"{n}.md", f"Words of {n}.")
    assert len(list(store.content.documents(SPACE, 0))) == 8
    store.publish("a.md", "First words.")
    job = store.job()
    store.content.propose(SPACE, [question(f"g{n}") for n in range(7)], GoldenOrigin.RULE)
    assert store.content.made(job) == {"definition": 7}


def test_a_jobs_last_note_says_where_it_stopped(store: Store) -> None:
    job = store.job()
    assert store.content.step(job) == (None, 0)
    with store.catalog.write() as tx:
        jobs.claim(tx, owner="w", queue=job.queue, lease_s=60, now=store.now, job_id=job.id, also=0)
        jobs.progress(tx, job.id, "w", stage="ask", done=4, total=9, now=store.now)
        jobs.release(tx, job.id, "w", store.now)
    assert store.content.step(job) == ("ask", 4)
