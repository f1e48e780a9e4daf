"""What a new key may be, and how its secret is written."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.key_rules import canonical_origin, checked
from services.shared.contracts.key_secrets import NO_HASH, hash_of, read, same, written
from services.shared.contracts.keys import NewKey

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def wanted(**values: Any) -> NewKey:
    return NewKey(**{"name": "a", **values})


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"name": "   "}, "name"),
        ({"name": "a\x1b[31mb"}, "name"),
        ({"name": "a\nb"}, "name"),
        ({"name": "a\u202eb"}, "name"),
        ({"name": "a\x00"}, "name"),
        ({"space": "Docs"}, "space"),
        ({"space": "../x"}, "space"),
        ({"role": "admin", "space": "docs"}, "space"),
        ({"public": True}, "allowed_origins"),
        ({"public": True, "role": "write", "allowed_origins": ["https://a.example"]}, "role"),
        ({"public": True, "role": "admin", "allowed_origins": ["https://a.example"]}, "role"),
        ({"allowed_origins": ["https://a.example"]}, "allowed_origins"),
        ({"expires_at": NOW}, "expires_at"),
        ({"expires_at": datetime(2027, 1, 1)}, "expires_at"),
        ({"requests_per_minute": 10**30}, "requests_per_minute"),
        ({"daily_tokens": 10**30}, "daily_tokens"),
    ],
)
def test_a_key_that_cannot_be_is_refused_with_its_field(values: dict[str, Any], field: str) -> None:
    with pytest.raises(RagstoneError) as refused:
        checked(wanted(**values), NOW)
    assert refused.value.code is ErrorCode.INVALID_REQUEST
    assert refused.value.detail.startswith(f"{field}: ")


def test_the_space_is_filled_in() -> None:
    assert checked(wanted(), NOW).space == "main"
    assert checked(wanted(role="write", space="docs"), NOW).space == "docs"
    assert checked(wanted(role="admin"), NOW).space is None


def test_a_public_key_keeps_each_origin_once_as_browsers_send_it() -> None:
    sent = ["https://Example.com/", "https://example.com:443", "http://localhost:3000"]
    kept = checked(wanted(public=True, allowed_origins=sent, expires_at=NOW + timedelta(days=1)), NOW)
    assert kept.allowed_origins == ["https://example.com", "http://localhost:3000"]


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("https://example.com", "https://example.com"),
        (" HTTP://EXAMPLE.COM:80 ", "http://example.com"),
        ("http://example.com:443", "http://example.com:443"),
        ("https://bücher.example", "https://xn--bcher-kva.example"),
        ("http://[::1]:8080/", "http://[::1]:8080"),
        ("https://192.168.1.5", "https://192.168.1.5"),
    ],
)
def test_an_origin_is_what_browsers_send(text: str, origin: str) -> None:
    assert canonical_origin(text) == origin
    assert canonical_origin(origin) == origin


@pytest.mark.parametrize(
    "text",
    [
        *("", "*", "null", "example.com", "https://", "https://*.example.com", "ftp://example.com", "https://a b"),
        *("https://example.com/path", "https://example.com?x", "https://u@example.com", "https://example.com:99999"),
        *("https://exa\u0000mple.com", "https://" + "a" * 70 + ".example", "javascript:alert(1)", "https://[::1"),
    ],
)
def test_other_texts_are_no_origin(text: str) -> None:
    with pytest.raises(RagstoneError):
        canonical_origin(text)


@given(st.text())
def test_any_text_is_an_origin_or_refused(text: str) -> None:
    try:
        origin = canonical_origin(text)
    except RagstoneError:
        return
    assert canonical_origin(origin) == origin
    assert origin == origin.lower()


@given(st.text(), st.text())
def test_any_text_can_be_shown_as_a_key(shown: str, kept: str) -> None:
    found = read(shown)
    assert found == ("", "") or written(*found) == shown
    assert same(kept, hash_of(kept))
    assert not same(kept, NO_HASH)


def test_a_key_is_read_as_it_was_written() -> None:
    assert read(written("0a1b", "f" * 64)) == ("0a1b", "f" * 64)
    for other in ("rs_a_", "rs__" + "f" * 64, "RS_a_" + "f" * 64, "rs_a_" + "f" * 64 + "\n", "rs_a_b_" + "f" * 64):
        assert read(other) == ("", "")
