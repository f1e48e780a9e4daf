"""The language of a file is told from its words, whatever marks the kind of file puts between them."""

import json
from collections.abc import Callable
from email.message import EmailMessage

import pytest

from services.ingestor.adapters.languages import Languages
from services.ingestor.adapters.parsers.files import FileParsers
from tests.contract.ingestor.test_language_library import TEXTS
from tests.unit.ingestor.fake_documents import incoming
from tests.unit.ingestor.fakes import TimeUp
from tests.unit.ingestor.workbooks import book, sheet_xml, workbook


def _mail(words: str) -> bytes:
    message = EmailMessage()
    message["Subject"], message["From"] = "Re: 4711", "a@x.example"
    message.set_content(words)
    return message.as_bytes()


def _notebook(words: str) -> bytes:
    code = {"cell_type": "code", "source": "import os\nprint(1)", "outputs": []}
    return json.dumps({"cells": [{"cell_type": "markdown", "source": words}, code], "metadata": {}}).encode()


FILES: dict[str, Callable[[str], bytes]] = {
    "a.csv": lambda words: f"nr;text\n1;{words}\n2;{words}\n".encode(),
    "a.xlsx": lambda words: workbook({"S": sheet_xml({n: [float(n), words] for n in range(1, 4)})}),
    "a.rst": lambda words: f"{words}\n\n.. code-block:: python\n\n   x = 1\n".encode(),
    "a.ipynb": _notebook,
    "a.epub": lambda words: book({"a.xhtml": f"<html><body><p>{words}</p></body></html>"}),
    "a.eml": _mail,
    "a.html": lambda words: f"<html><body><p>{words}</p></body></html>".encode(),
    "a.json": lambda words: json.dumps([{"text": words}]).encode(),
}


@pytest.fixture(scope="module")
def parsers() -> FileParsers:
    return FileParsers(1_000_000, TimeUp, Languages().language_of)


@pytest.mark.parametrize("language", ["de", "fr", "ja", "ar"])
@pytest.mark.parametrize("name", FILES)
def test_the_language_is_told(parsers: FileParsers, name: str, language: str) -> None:
    data = FILES[name](TEXTS[language])
    found = parsers.parse(incoming("doc", filename=name, media_type="application/octet-stream"), data)
    # The book says by itself that it is English.
    assert found.language == ("en" if name == "a.epub" else language)
