"""Which limits a request falls under, what a count says of the next one, and places for answers."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.gateway.domain.callers import Caller
from services.gateway.domain.limiting import Charge, Kind, Rules, Window, charges, kind_of, standing, writes
from services.gateway.domain.places import Places
from services.gateway.flow.limiting import too_many

OPEN = Rules(None, "600/minute", None, "20/minute")
CLOSED = Rules("5/minute", "600/minute", "9/minute", "20/minute")
NOBODY = Caller("198.51.100.7")
VISITOR = Caller("198.51.100.7", key_id="k1", public=True)
PRIVATE = Caller("198.51.100.7", key_id="k2")
HERE = "address 198.51.100.7"


@pytest.mark.parametrize(
    ("method", "path", "kind"),
    [
        ("POST", "/v1/ask", Kind.QUESTION),
        ("POST", "/v1/search", Kind.QUESTION),
        ("POST", "/v1/chat/completions", Kind.QUESTION),
        ("POST", "/mcp", Kind.QUESTION),
        ("POST", "/mcp/", Kind.QUESTION),
        ("GET", "/mcp", Kind.OTHER),
        ("POST", "/v1/documents", Kind.OTHER),
        ("GET", "/v1/jobs/1/events", Kind.OTHER),
        ("OPTIONS", "/v1/ask", Kind.FREE),
        ("GET", "/healthz", Kind.FREE),
        ("GET", "/readyz", Kind.FREE),
        ("GET", "/metrics", Kind.FREE),
        ("GET", "/", Kind.FREE),
        ("GET", "/assets/page.js", Kind.FREE),
        ("GET", "/widget.js", Kind.FREE),
    ],
)
def test_questions_are_told_from_other_requests_and_from_what_is_free(method: str, path: str, kind: Kind) -> None:
    assert kind_of(method, path) is kind


def test_a_search_keeps_no_model_busy() -> None:
    assert writes("POST", "/v1/ask")
    assert not writes("POST", "/v1/search")
    assert not writes("GET", "/v1/ask")


def test_without_keys_there_is_no_limit_unless_one_is_set() -> None:
    assert not charges(NOBODY, Kind.QUESTION, OPEN)
    assert not charges(NOBODY, Kind.OTHER, OPEN)
    assert list(charges(NOBODY, Kind.QUESTION, CLOSED)) == [Charge("questions", "5/minute", HERE)]
    assert list(charges(NOBODY, Kind.OTHER, CLOSED)) == [Charge("requests", "9/minute", HERE)]


def test_a_public_key_is_counted_by_address_first_and_then_as_a_whole() -> None:
    whole = Charge("questions", "600/minute", "key k1")
    assert list(charges(VISITOR, Kind.QUESTION, OPEN)) == [Charge("questions", "60/minute", HERE), whole]
    assert list(charges(VISITOR, Kind.QUESTION, CLOSED)) == [Charge("questions", "5/minute", HERE), whole]
    assert list(charges(VISITOR, Kind.OTHER, OPEN)) == [Charge("requests", "3000/minute", HERE)]


def test_a_private_key_is_counted_for_itself_alone() -> None:
    assert list(charges(PRIVATE, Kind.QUESTION, CLOSED)) == [Charge("questions", "600/minute", "key k2")]
    assert list(charges(PRIVATE, Kind.OTHER, OPEN)) == [Charge("requests", "3000/minute", "key k2")]
    own = Caller("198.51.100.7", key_id="k2", requests_per_minute=3)
    assert list(charges(own, Kind.QUESTION, CLOSED)) == [Charge("questions", "3/minute", "key k2")]


@pytest.mark.parametrize("kind", Kind)
def test_ragstones_own_processes_are_never_counted(kind: Kind) -> None:
    assert not charges(Caller("127.0.0.1", key_id="own", own=True), kind, CLOSED)


@pytest.mark.parametrize(
    ("window", "remaining", "reset_s"),
    [
        (Window(0, 0, 0, 0), 10, 0),
        (Window(0, 0, 4, 30), 6, 30),
        (Window(0, 0, 10, 30), 0, 30),
        # Of ten before, five still count, and the fifth is forgotten just now; or in three seconds.
        (Window(10, 30, 5, 30), 0, 0),
        (Window(10, 33, 5, 33), 0, 3),
        # The window before is too faint to matter: this one has to end.
        (Window(1, 30, 10, 30), 0, 30),
    ],
)
def test_what_is_left_and_when_there_is_more(window: Window, remaining: int, reset_s: int) -> None:
    found = standing(10, 60, window, allowed=True)
    assert (found.remaining, found.reset_s) == (remaining, reset_s)


@pytest.mark.parametrize(("period_s", "words"), [(60, "10 a minute"), (3600, "10 an hour"), (20, "10 in 20 seconds")])
def test_a_limit_is_told_with_its_window(period_s: int, words: str) -> None:
    refused = standing(10, period_s, Window(0, 0, 10, 3), allowed=False)
    assert f"Too many requests: {words} are allowed" in too_many(refused).detail


def test_a_refused_request_waits_for_at_least_a_second() -> None:
    assert standing(10, 60, Window(10, 30, 5, 30), allowed=False).reset_s == 1


@given(
    amount=st.integers(1, 50),
    previous=st.integers(0, 50),
    current=st.integers(0, 50),
    left=st.floats(0.01, 60),
    wanted=st.integers(1, 50),
)
def test_whoever_waits_as_told_gets_in(amount: int, previous: int, current: int, left: float, wanted: int) -> None:
    previous, current, wanted = min(previous, amount), min(current, amount), min(wanted, amount)
    counted = math.floor(previous * left / 60) + current
    fits = counted + wanted <= amount
    found = standing(amount, 60, Window(previous, left, current, left), allowed=fits, wanted=wanted)
    if found.allowed:
        return
    later = found.reset_s + 0.01
    if later < left:
        after = math.floor(previous * (left - later) / 60) + current
    else:
        after = math.floor(current * max(0.0, 60 - (later - left)) / 60)
    assert after + wanted <= amount


def test_places_are_so_many_in_all_and_so_many_each() -> None:
    places = Places(3, 2, 1)
    assert places.take("a", keyed=True)
    assert places.take("a", keyed=True)
    assert not places.take("a", keyed=True)
    assert places.take("b", keyed=True)
    assert not places.take("c", keyed=True)
    places.give_back("a")
    assert places.take("c", keyed=True)
    assert places.taken == 3


def test_without_keys_one_caller_may_take_all_places() -> None:
    places = Places(3, None, 1)
    assert [places.take("a", keyed=False) for _ in range(4)] == [True, True, True, False]
    keyed = Places(3, None, 1)
    assert [keyed.take("k", keyed=True) for _ in range(2)] == [True, False]
