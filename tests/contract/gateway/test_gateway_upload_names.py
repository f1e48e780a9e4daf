"""Names of uploaded files, sent byte for byte as an attacker would: none of them becomes a path."""

import asyncio
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from tests.contract.gateway.conftest import Serving

NAMES = Path(__file__).parents[4] / "shared" / "cases" / "files" / "h42_upload_names.txt"
KEPT = "résumé (final) 第二版.txt"
OWN = (
    "../outside.txt",
    "/etc/outside.txt",
    "..\\..\\outside.txt",
    "a/../../outside.txt",
    "nul\\x00.txt",
    "CON.txt",
    "..",
    " ",
)
BOUNDARY = "ragstone-boundary"


def names() -> list[str]:
    if not NAMES.is_file():
        return [*OWN, KEPT]
    return NAMES.read_text(encoding="utf-8").splitlines()


def body(name: bytes, text: bytes) -> bytes:
    head = b'Content-Disposition: form-data; name="files"; filename="' + name + b'"\r\nContent-Type: text/plain\r\n\r\n'
    return b"--" + BOUNDARY.encode() + b"\r\n" + head + text + b"\r\n--" + BOUNDARY.encode() + b"--\r\n"


def tree(root: Path) -> set[str]:
    """Everything under the folder but the catalog and the folder of originals."""
    found = (str(path.relative_to(root)) for path in root.rglob("*"))
    return {path for path in found if not path.startswith(("blobs", "catalog.db"))}


async def ask_raw(gateway: Serving, method: str, target: str) -> int:
    """The status of a request whose path goes out as it is: clients take its steps out."""
    host, port = gateway.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(f"{method} {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    await writer.drain()
    line = await reader.readline()
    writer.close()
    return int(line.split()[1])


@pytest.mark.parametrize("nul", [b"\\x00", b"\x00"], ids=["written", "raw"])
async def test_no_name_leaves_the_folder_or_breaks_the_server(
    gateway: Serving, client: httpx.AsyncClient, tmp_path: Path, nul: bytes
) -> None:
    marker = tmp_path / "outside.txt"
    marker.write_text("do not touch")
    before = tree(tmp_path)
    headers = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
    accepted = {}
    for n, name in enumerate(names()):
        raw = name.encode().replace(b"\\x00", nul)
        # In a header a backslash and a quote mark are escaped, as browsers do it.
        sent = await client.post(
            "/v1/documents", content=body(raw.replace(b'"', b"%22"), f"Text {n}.".encode()), headers=headers
        )
        assert sent.status_code < 500, (name, sent.text)
        if sent.status_code == 202:
            accepted[name] = sent.json()["jobs"][0]["document_id"]
        for target in (quote(name, safe=""), quote(name, safe="/.")):
            assert await ask_raw(gateway, "DELETE", f"/v1/documents/{target}") < 500
    assert tree(tmp_path) == before
    assert marker.read_text() == "do not touch"
    assert all("/" not in id and "\\" not in id and "\0" not in id for id in accepted.values()), accepted
    assert all(len(path.name) in (2, 64) for path in (tmp_path / "blobs").rglob("*") if path.name != "incoming")


async def test_a_legal_name_is_listed_unchanged(gateway: Serving, client: httpx.AsyncClient) -> None:
    headers = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
    sent = await client.post("/v1/documents", content=body(KEPT.encode(), b"The last page."), headers=headers)
    assert sent.json()["jobs"][0]["document_id"] == KEPT
