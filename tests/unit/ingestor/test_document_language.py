"""Where a document's language comes from: its own word, then its text."""

from typing import Any

import pytest

from services.ingestor.adapters.parsers.files import FileParsers
from services.ingestor.domain.documents import Extracted, describe
from services.shared.contracts.ids import VersionId
from tests.unit.ingestor.fake_documents import incoming
from tests.unit.ingestor.fakes import TimeUp

PAGE = b"<html lang='nl-BE'><body><p>De klok staat stil.</p></body></html>"


def language(extracted: Extracted, **metadata: Any) -> str | None:
    return describe(incoming("doc", metadata=metadata), VersionId("v"), extracted, []).language


def parsed(data: bytes, filename: str) -> Extracted:
    return FileParsers(10_000, TimeUp, lambda text: "sv").parse(incoming("doc", filename=filename), data)


def test_a_page_that_says_its_language_is_believed() -> None:
    assert language(parsed(PAGE, "a.html")) == "nl-BE"


def test_a_text_that_says_nothing_is_told_by_its_words() -> None:
    assert language(parsed(b"Klockan har stannat.", "a.txt")) == "sv"


@pytest.mark.parametrize("key", ["lang", "language"])
def test_front_matter_says_the_language(key: str) -> None:
    found = parsed(f"---\n{key}: fr\n---\nL'horloge est arrêtée.\n".encode(), "a.md")
    assert language(found) == "fr"
    assert found.metadata == {key: "fr"}


def test_the_sender_has_the_last_word() -> None:
    assert language(parsed(PAGE, "a.html"), language="de") == "de"


@pytest.mark.parametrize("said", ["", "klingon", 7, None, ["de"], "de; drop table", "d" * 99])
def test_what_is_no_language_tag_is_not_believed(said: Any) -> None:
    assert language(parsed(PAGE, "a.html"), language=said) == "nl-BE"
