"""Uploads: everything is looked at before anything is stored, and nothing is lost."""

import json
from typing import Any

import httpx
import pytest

from services.shared.contracts.errors import ErrorCode
from services.shared.contracts.jobs import Queue
from tests.unit.gateway.fakes import World

TEXT = b"# Rules\n\nNo lamps.\n"


def multipart(*files: tuple[str, bytes]) -> list[tuple[str, tuple[str, bytes]]]:
    return [("files", file) for file in files]


async def upload(world: World, *files: tuple[str, bytes], data: dict[str, Any] | None = None) -> httpx.Response:
    async with world.client() as client:
        return await client.post("/v1/documents", files=multipart(*files), data=data or {})


def problem(response: httpx.Response) -> tuple[int, str]:
    assert response.headers["content-type"] == "application/problem+json"
    return response.status_code, response.json()["code"]


async def test_files_become_jobs_in_their_order_and_are_rung_for() -> None:
    world = World()
    response = await upload(world, ("a.md", TEXT), ("dir/b.txt", b"B"))
    assert response.status_code == 202
    assert response.json() == {
        "jobs": [
            {"id": "j0", "document_id": "a.md", "state": "queued", "unchanged": False},
            {"id": "j1", "document_id": "b.txt", "state": "queued", "unchanged": False},
        ]
    }
    first = world.documents.submitted[0]
    assert (first.document.filename, first.document.media_type, first.size) == ("a.md", "text/markdown", len(TEXT))
    assert world.originals.kept[first.sha256] == TEXT
    assert world.bell.rung == [(Queue.INGEST, "j0"), (Queue.INGEST, "j1")]


async def test_a_manifest_describes_each_file_and_common_fields_fill_the_rest() -> None:
    world = World()
    manifest = [{"id": "rules/shed", "title": "Shed", "tags": ["x"], "metadata": {"k": 1}, "origin": "docs"}, {}]
    response = await upload(
        world,
        ("a.md", TEXT),
        ("b.md", TEXT),
        data={"manifest": json.dumps(manifest), "type": "faq", "tags": ["one, two", "three"]},
    )
    assert [one["document_id"] for one in response.json()["jobs"]] == ["rules/shed", "b.md"]
    first, second = (kept.document.described for kept in world.documents.submitted)
    assert (first.title, first.type, first.tags, first.metadata, first.origin) == (
        "Shed",
        "faq",
        ["x"],
        {"k": 1},
        "docs",
    )
    assert (second.type, second.tags) == ("faq", ["one", "two", "three"])


async def test_an_empty_file_among_others_fails_alone_and_later() -> None:
    world = World()
    response = await upload(world, ("a.md", TEXT), ("empty.md", b""))
    assert response.status_code == 202
    assert [job["document_id"] for job in response.json()["jobs"]] == ["a.md", "empty.md"]
    assert [(one.document.id, one.size) for one in world.documents.submitted] == [("a.md", len(TEXT)), ("empty.md", 0)]


@pytest.mark.parametrize(
    ("files", "data", "status", "code", "named"),
    [
        ([("empty.md", b"")], {}, 422, "document_empty", "empty.md"),
        ([("empty.md", b""), ("bare.md", b"")], {}, 422, "document_empty", "all 2 files"),
        ([("a.md", TEXT), ("big.md", b"x" * 1001)], {}, 413, "body_too_large", "big.md"),
        ([("a.md", TEXT), ("..", TEXT)], {}, 422, "document_id_invalid", "file 2"),
        ([("x/a.md", TEXT), ("y/a.md", b"other")], {}, 422, "document_id_invalid", "Files 1 and 2"),
        ([("a.md", TEXT)], {"manifest": "[]"}, 422, "invalid_request", "1 files"),
        ([("a.md", TEXT)], {"manifest": "{"}, 422, "invalid_request", "manifest"),
        ([("a.md", TEXT)], {"manifest": '[{"titel": "x"}]'}, 422, "invalid_request", "manifest.0.titel"),
        ([("a.md", TEXT)], {"manifest": '[{"id": "a/../b"}]'}, 422, "document_id_invalid", "a/../b"),
        ([("a.md", TEXT)], {"manifest": '[{"metadata": {"a": NaN}}]'}, 422, "invalid_request", "a.md"),
        ([("a.md", TEXT)], {"type": "x" * 65}, 422, "invalid_request", "type"),
        ([("a.md", TEXT)], {"typ": "x"}, 422, "invalid_request", "typ"),
        ([("a.md", b"x" * 900)] * 7, {}, 413, "body_too_large", "5000"),
    ],
)
async def test_one_bad_file_stores_none_and_is_named(
    files: list[tuple[str, bytes]], data: dict[str, Any], status: int, code: str, named: str
) -> None:
    world = World()
    response = await upload(world, *files, data=data)
    assert problem(response) == (status, code)
    assert named in response.json()["detail"]
    assert (world.originals.puts, world.documents.submitted, world.bell.rung) == (0, [], [])


async def test_an_upload_without_files_or_with_a_broken_form_is_refused() -> None:
    world = World()
    async with world.client() as client:
        none = await client.post("/v1/documents", data={"type": "x"}, files={"other": ("a", b"x")})
        text = await client.post("/v1/documents", files={"files": (None, "just text")})
        no_boundary = await client.post("/v1/documents", content=b"x", headers={"Content-Type": "multipart/form-data"})
        broken = await client.post(
            "/v1/documents", content=b"--b\r\nnonsense", headers={"Content-Type": "multipart/form-data; boundary=b"}
        )
    assert problem(none) == (422, ErrorCode.INVALID_REQUEST)
    assert problem(text) == (422, ErrorCode.INVALID_REQUEST)
    for response in (no_boundary, broken):
        assert 400 <= response.status_code < 500
        assert response.json()["code"] == ErrorCode.INVALID_REQUEST


NAMES = [
    "../outside.txt",
    "..\\..\\outside.txt",
    "/etc/outside.txt",
    "a/../../outside.txt",
    "....//outside.txt",
    "%2e%2e%2foutside.txt",
    "nul\x00byte.txt",
    "CON.txt",
    ".hidden",
    "résumé (final) 第二版.txt",
    "x" * 300 + ".txt",
    " ",
    "..",
]


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
async def test_hostile_names_never_fail_the_server_nor_name_a_place(name: str) -> None:
    head = f'--b\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n\r\n'.encode()
    world = World()
    async with world.client() as client:
        response = await client.post(
            "/v1/documents",
            content=head + TEXT + b"\r\n--b--\r\n",
            headers={"Content-Type": "multipart/form-data; boundary=b"},
        )
    assert response.status_code in (202, 400, 422)
    if response.status_code == 202:
        id = response.json()["jobs"][0]["document_id"]
        assert "/" not in id
        assert "\\" not in id
        assert id not in (".", "..")
    if name.startswith("résumé"):
        assert response.json()["jobs"][0]["document_id"] == name


async def test_a_json_document_is_its_text_as_markdown() -> None:
    world = World()
    async with world.client() as client:
        sent = {"id": "a/b", "title": "T", "text": "Größe", "tags": ["x"]}
        response = await client.post("/v1/documents", json=sent)
        anonymous = await client.post("/v1/documents", json={"text": "Größe"})
        again = await client.post("/v1/documents", json={"text": "Größe"})
    assert response.status_code == 202
    kept = world.documents.submitted[0]
    assert (kept.document.id, kept.document.filename, kept.document.media_type) == ("a/b", None, "text/markdown")
    assert world.originals.kept[kept.sha256] == "Größe".encode()
    assert anonymous.json()["jobs"][0]["document_id"] == again.json()["jobs"][0]["document_id"]


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b'{"text": ""}', 422, "document_empty"),
        (b'{"text": " \\n"}', 422, "document_empty"),
        (b'{"text": "' + b"x" * 1001 + b'"}', 413, "body_too_large"),
        (b'{"title": "x"}', 422, "invalid_request"),
        (b'{"text": "x", "nope": 1}', 422, "invalid_request"),
        (b'{"text": "\\ud800"}', 422, "invalid_request"),
        (b"[1]", 422, "invalid_request"),
        (b"{", 422, "invalid_request"),
        (b"", 422, "invalid_request"),
        (b'{"text": "x", "id": "a/source"}', 422, "document_id_invalid"),
        (b'{"text": "x", "metadata": {"a": Infinity}}', 422, "invalid_request"),
    ],
)
async def test_json_documents_that_are_refused(body: bytes, status: int, code: str) -> None:
    world = World()
    async with world.client() as client:
        response = await client.post("/v1/documents", content=body, headers={"Content-Type": "application/json"})
    assert problem(response) == (status, code)
    assert world.originals.puts == 0


async def test_an_ndjson_body_is_one_job_kept_as_it_came() -> None:
    world = World()
    body = b'{"id": "a", "text": "A"}\nnot json\n'
    headers = {"Content-Type": "application/x-ndjson; charset=utf-8"}
    async with world.client() as client:
        response = await client.post("/v1/documents", content=body, headers=headers)
        empty = await client.post("/v1/documents", content=b"", headers=headers)
    assert response.status_code == 202
    assert response.json()["jobs"] == [{"id": "b0", "document_id": None, "state": "queued", "unchanged": False}]
    sha256, size = world.documents.batches[0]
    assert (world.originals.kept[sha256], size) == (body, len(body))
    assert problem(empty) == (422, ErrorCode.DOCUMENT_EMPTY)


async def test_bytes_that_a_deletion_took_meanwhile_are_kept_again() -> None:
    world = World()
    world.documents.on_submit = world.originals.kept.clear
    await upload(world, ("a.md", TEXT))
    assert list(world.originals.kept.values()) == [TEXT]
