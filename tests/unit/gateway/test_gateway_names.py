"""Names that clients choose never become paths, and never fail a server."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.gateway.domain.names import chosen_document_id, display_name, id_of_text, space_named
from services.shared.contracts.errors import ErrorCode, RagstoneError


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("../outside.txt", "outside.txt"),
        ("..\\..\\outside.txt", "outside.txt"),
        ("/etc/outside.txt", "outside.txt"),
        ("a/../../outside.txt", "outside.txt"),
        ("....//outside.txt", "outside.txt"),
        ("C:\\temp\\plan.docx", "plan.docx"),
        ("%2e%2e%2foutside.txt", "%2e%2e%2foutside.txt"),
        ("nul\x00byte.txt", "nulbyte.txt"),
        ("CON.txt", "_CON.txt"),
        ("aux", "_aux"),
        ("Lpt1.tar.gz", "_Lpt1.tar.gz"),
        ("console.txt", "console.txt"),
        (".hidden", ".hidden"),
        ("résumé (final) 第二版.txt", "résumé (final) 第二版.txt"),
        ("re\u0301sume\u0301.txt", "résumé.txt"),
        ("  spaced.txt \n", "spaced.txt"),
        ("invoice\u202egpj.exe", "invoicegpj.exe"),
    ],
)
def test_display_names(sent: str, shown: str) -> None:
    assert display_name(sent, "file 1") == shown


@pytest.mark.parametrize("sent", ["", " ", ".", "..", "...", "a/..", "a/", "\x00", "..\\"])
def test_nothing_left_to_call_it_by_is_refused_by_place(sent: str) -> None:
    with pytest.raises(RagstoneError) as caught:
        display_name(sent, "file 3")
    assert caught.value.code is ErrorCode.DOCUMENT_ID_INVALID
    assert "file 3" in caught.value.detail


def test_too_long_keeps_its_extension_and_stays_distinct() -> None:
    first, second = display_name("x" * 300 + ".txt", "f"), display_name("x" * 301 + ".txt", "f")
    assert first.endswith(".txt")
    assert len(first.encode()) <= 255
    assert first != second
    assert first == display_name("x" * 300 + ".txt", "f")
    wide = display_name("版" * 200 + ".pdf", "f")
    assert len(wide.encode()) <= 255
    assert wide.endswith(".pdf")


@given(st.text(alphabet=st.characters(codec=None), max_size=400))
def test_a_display_name_is_a_single_step_that_is_an_id_too(sent: str) -> None:
    try:
        name = display_name(sent, "file 1")
    except RagstoneError:
        return
    assert "/" not in name
    assert "\\" not in name
    assert name not in (".", "..")
    assert Path("folder", name).parent == Path("folder")
    assert len(name.encode()) <= 255
    assert display_name(name, "f") == name
    assert chosen_document_id(name) == name


@pytest.mark.parametrize(
    "id", ["a", "docs/guide.md", "日本語", "x" * 512, "source", "a source", "http://x.example/?q=1"]
)
def test_ids_that_can_be_chosen(id: str) -> None:
    assert chosen_document_id(id) == id


@pytest.mark.parametrize(
    "id", ["", "x" * 513, "a\x00", "a\n", "/a", "a/", " a", "a ", "a/source", "../a", "a/./b", "..", "\ud800", "\x85"]
)
def test_ids_that_cannot(id: str) -> None:
    with pytest.raises(RagstoneError) as caught:
        chosen_document_id(id)
    assert caught.value.code is ErrorCode.DOCUMENT_ID_INVALID
    caught.value.detail.encode()


@pytest.mark.parametrize("name", ["main", "a", "0", "a-b_c", "x" * 63])
def test_spaces(name: str) -> None:
    assert space_named(name) == name


@pytest.mark.parametrize("name", ["", "Main", "-a", "_a", "a b", "ä", "x" * 64, "a/b", "a\n"])
def test_no_spaces(name: str) -> None:
    with pytest.raises(RagstoneError) as caught:
        space_named(name)
    assert caught.value.code is ErrorCode.SPACE_INVALID


def test_the_same_text_is_the_same_document() -> None:
    assert id_of_text(b"a") == id_of_text(b"a") != id_of_text(b"b")
    assert chosen_document_id(id_of_text(b"a"))
