"""Paged lists: complete, in order, undisturbed by what is written in between, and strict about cursors."""

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import Connection, event

from services.shared.catalog import chunks, documents, jobs
from services.shared.catalog.engine import Catalog
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import DocumentId, JobId
from services.shared.contracts.jobs import JobState
from tests.contract.catalog.building import NOW, OTHER, SPACE, draft, ingest, later, make_job, submit


def names(tx: Connection, limit: int, **filters: str) -> list[str]:
    cursor: str | None = None
    collected: list[str] = []
    while True:
        page, cursor = documents.list_live(tx, SPACE, limit=limit, cursor=cursor, **filters)
        assert len(page) <= limit
        collected += [document.id for document in page]
        if cursor is None:
            return collected


@pytest.mark.parametrize("limit", [1, 3, 6, 7, 50])
def test_pages_of_documents_are_complete_and_ordered_by_id(catalog: Catalog, limit: int) -> None:
    ids = ["b", "a", "Z", "ä", "a/b", "10", "9"]
    with catalog.write() as tx:
        for id in ids:
            ingest(tx, id)
        ingest(tx, "elsewhere", space=OTHER)
        submit(tx, draft("pending"))
        assert names(tx, limit) == sorted(ids)


def test_a_page_continues_where_it_ended_whatever_was_written_since(catalog: Catalog) -> None:
    with catalog.write() as tx:
        for id in "bdfh":
            ingest(tx, id)
        page, cursor = documents.list_live(tx, SPACE, limit=2, cursor=None)
        ingest(tx, "a")
        ingest(tx, "e")
        documents.remove(tx, SPACE, DocumentId("d"), NOW)
        rest, end = documents.list_live(tx, SPACE, limit=9, cursor=cursor)
    assert [document.id for document in page] == ["b", "d"]
    assert ([document.id for document in rest], end) == (["e", "f", "h"], None)


def test_documents_are_filtered_by_origin_and_type(catalog: Catalog) -> None:
    with catalog.write() as tx:
        for n in range(6):
            ingest(tx, f"doc-{n}", origin=("left", "right")[n % 2], type=("faq", "guide", None)[n % 3])
        assert names(tx, 2, origin="left") == ["doc-0", "doc-2", "doc-4"]
        assert names(tx, 1, type="faq") == ["doc-0", "doc-3"]
        assert names(tx, 1, type="faq", origin="right") == ["doc-3"]


def test_a_listed_document_tells_everything(catalog: Catalog) -> None:
    told: dict[str, Any] = {
        "title": "T",
        "type": "faq",
        "tags": ["x", "y"],
        "source": "s",
        "origin": "o",
        "filename": "a.txt",
    }
    with catalog.write() as tx:
        sent = ingest(tx, content="hello", metadata={"z": 1, "a": {"b": [None, "ü"]}}, **told)
        (listed,), _ = documents.list_live(tx, SPACE, limit=1, cursor=None)
        assert listed == documents.get(tx, SPACE, sent.document_id)
    view = listed.view()
    assert {name: getattr(view, name) for name in told} == told
    assert (view.sha256, view.size_bytes, view.media_type, view.chunks) == (sent.blob_sha256, 5, "text/plain", 2)
    assert list(view.metadata) == ["z", "a"]
    assert view.metadata == sent.metadata
    assert (view.created_at, view.updated_at, view.version) == (NOW, NOW, sent.version_id)


def test_jobs_are_listed_newest_first(catalog: Catalog) -> None:
    with catalog.write() as tx:
        for n in range(7):
            make_job(tx, f"job-{n}", now=later(n // 2))
        make_job(tx, "elsewhere", space=OTHER)
        jobs.request_cancel(tx, SPACE, JobId("job-3"), NOW)
        first, cursor = jobs.list_jobs(tx, SPACE, states=None, limit=4, cursor=None)
        make_job(tx, "newer", now=later(100))
        rest, end = jobs.list_jobs(tx, SPACE, states=None, limit=4, cursor=cursor)
        assert [job.id for job in first + rest] == [f"job-{n}" for n in reversed(range(7))]
        assert end is None
        stopped, _ = jobs.list_jobs(tx, SPACE, states=[JobState.CANCELLED], limit=4, cursor=None)
        assert [job.id for job in stopped] == ["job-3"]


def encoded(*value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode()


BAD = [
    "",
    "x",
    "????",
    "ü",
    "[]",
    "null",
    encoded(),
    encoded("other", "a"),
    encoded("documents"),
    encoded("documents", 1, 2),
    encoded(1),
]


@pytest.mark.parametrize("cursor", BAD)
def test_a_cursor_that_no_list_gave_is_an_invalid_request(catalog: Catalog, cursor: str) -> None:
    with catalog.read() as tx:
        lists: list[Callable[[], object]] = [
            lambda: documents.list_live(tx, SPACE, limit=1, cursor=cursor),
            lambda: jobs.list_jobs(tx, SPACE, states=None, limit=1, cursor=cursor),
            lambda: jobs.items(tx, JobId("job"), limit=1, cursor=cursor),
        ]
        for ask in lists:
            with pytest.raises(RagstoneError) as refused:
                ask()
            assert refused.value.code is ErrorCode.INVALID_REQUEST


def test_a_cursor_of_another_list_is_an_invalid_request(catalog: Catalog) -> None:
    with catalog.write() as tx:
        for id in "ab":
            ingest(tx, id)
        _, cursor = documents.list_live(tx, SPACE, limit=1, cursor=None)
        assert cursor is not None
        with pytest.raises(RagstoneError):
            jobs.list_jobs(tx, SPACE, states=None, limit=1, cursor=cursor)
        for wrong in (encoded("jobs", "no time", "id"), encoded("jobs", "2026-01-01T00:00:00", "id")):
            with pytest.raises(RagstoneError):
                jobs.list_jobs(tx, SPACE, states=None, limit=1, cursor=wrong)


def test_listing_thousands_walks_an_index_and_sorts_nothing(catalog: Catalog, url: str) -> None:
    if not url.startswith("sqlite"):
        pytest.skip("PostgreSQL's plan depends on its statistics")
    asked: list[tuple[str, Any]] = []
    with catalog.write() as tx:
        for n in range(3):
            ingest(tx, f"doc-{n}")
        _, cursor = documents.list_live(tx, SPACE, limit=1, cursor=None)
        event.listen(tx, "before_cursor_execute", lambda *call: asked.append((call[2], call[3])))
        documents.list_live(tx, SPACE, limit=1, cursor=cursor)
        list(chunks.iter_live(tx, SPACE, batch=100))
        plans = [
            " / ".join(row[3] for row in tx.exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}", parameters))
            for sql, parameters in list(asked)
        ]
    assert len(plans) == 2
    assert [plan for plan in plans if "SCAN" in plan or "TEMP B-TREE" in plan] == []
