"""A file that names addresses or other files gets nothing of them: no parser fetches or opens anything."""

import io
import json
import socket
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.real_files import MAX_BYTES, NeverPassing, outcome_of
from services.ingestor.adapters.parsers.files import FileParsers

SECRET = "the-tide-table-is-under-the-mat"
WORDS = "The lamp burns."
TYPES = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'


class Listener:
    """Counts who calls."""

    def __init__(self) -> None:
        self.called = 0
        self._server = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._server.getsockname()[1]}"
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while True:
            try:
                line, _ = self._server.accept()
            except OSError:
                return
            self.called += 1
            line.close()

    def close(self) -> None:
        self._server.close()


@pytest.fixture
def listener() -> Iterator[Listener]:
    one = Listener()
    yield one
    one.close()


def packed(**members: str) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name, text in members.items():
            archive.writestr(name.replace("__", "/"), text)
    return held.getvalue()


def entity(address: str, body: str) -> str:
    """XML that wants an outer entity and an outer grammar."""
    head = f'<?xml version="1.0"?><!DOCTYPE x SYSTEM "{address}/x.dtd" [<!ENTITY e SYSTEM "{address}">]>'
    return head + body.replace("WORDS", f"{WORDS} &e;")


def files(url: str, secret: Path) -> dict[str, bytes]:
    """Each way that a kind of file has to name something else."""
    inner = secret.as_uri()
    word = '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>'
    word += "WORDS</w:t></w:r></w:p></w:body></w:document>"
    page = f"""<!doctype html><html><head><base href="{url}/"><link rel="stylesheet" href="{url}/a.css">
<meta http-equiv="refresh" content="0; url={url}/r"><script src="{url}/a.js"></script></head><body>
<p>{WORDS}</p><img src="{url}/a.png"><iframe src="{url}/f"></iframe><object data="{inner}"></object></body></html>"""
    rst = f"{WORDS}\n\n.. include:: {secret}\n\n.. raw:: html\n   :url: {url}/r\n\n.. csv-table::\n   :file: {secret}\n"
    mail = (
        "From: a@b.example\nTo: c@d.example\nSubject: Lamp\nMIME-Version: 1.0\nContent-Type: multipart/mixed; "
        f"boundary=x\n\n--x\nContent-Type: text/plain\n\n{WORDS}\n--x\nContent-Type: message/external-body; "
        f'access-type=URL; URL="{url}/m"\n\nContent-Type: text/plain\n\n\n--x--\n'
    )
    cells = [{"cell_type": "markdown", "metadata": {}, "source": [f"{WORDS}\n![x]({url}/a.png)"]}]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    found = {
        "page.html": page.encode(),
        "note.md": f"---\nsource: {url}/s\nimage: !include {secret}\n---\n{WORDS} ![x]({url}/a.png)".encode(),
        "note.rst": rst.encode(),
        "mail.eml": mail.encode(),
        "book.ipynb": json.dumps(notebook).encode(),
        "data.json": json.dumps({"$ref": f"{url}/x.json", "text": WORDS, "source": f"{url}/s"}).encode(),
        "data.xml": entity(url, "<x>WORDS</x>").encode(),
    }
    for name, address in (("far", url), ("near", inner)):
        found[f"{name}.docx"] = packed(**{"[Content_Types].xml": TYPES, "word__document.xml": entity(address, word)})
        found[f"{name}.epub"] = packed(
            **{
                "mimetype": "application/epub+zip",
                "META-INF__container.xml": entity(
                    address,
                    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
                    '<rootfile full-path="o.opf"/></rootfiles></container>',
                ),
                "o.opf": '<package xmlns="http://www.idpf.org/2007/opf"><manifest><item id="c" href="c.xhtml" '
                'media-type="application/xhtml+xml"/></manifest><spine><itemref idref="c"/></spine></package>',
                "c.xhtml": entity(
                    address, "<html xmlns='http://www.w3.org/1999/xhtml'><body><p>WORDS</p></body></html>"
                ),
            }
        )
        found[f"{name}.html"] = entity(address, "<html><body><p>WORDS</p></body></html>").encode()
    return found


def test_nothing_is_fetched_and_nothing_is_opened(tmp_path: Path, listener: Listener) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text(SECRET, encoding="utf-8")
    folder = tmp_path / "files"
    folder.mkdir()
    parsers = FileParsers(MAX_BYTES, NeverPassing)
    read = 0
    for name, content in files(listener.url, secret).items():
        (folder / name).write_bytes(content)
        outcome = outcome_of(parsers, folder, {"file": name, "contains": [], "boilerplate": []})
        assert SECRET not in outcome.text, name
        assert SECRET not in str(outcome.error), name
        read += WORDS in outcome.text
    assert listener.called == 0
    assert read >= 8, "most of them are ordinary otherwise"
