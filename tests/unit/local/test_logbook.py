"""Which log lines reach the terminal."""

import pytest

from services.local.logbook import Sieve, level_of, plain


@pytest.mark.parametrize(
    ("line", "level"),
    [
        ("2026-01-01T00:00:00.123456Z [info     ] started [services.gateway] port=1", "info"),
        ("2026-01-01T00:00:00.123456Z [warning  ] presence_not_said", "warning"),
        ("  2026-11-30T04:55:46.053506Z  INFO  Frontend server listening", "info"),
        ("  2026-11-30T04:55:46.053506Z ERROR  broken", "error"),
        ("    at rust/frontend/src/server.rs:416", None),
        ("12345:M 30 Nov 2026 04:50:00.000 # WARNING Memory overcommit must be enabled", None),
        ("", None),
    ],
)
def test_levels_are_read_from_every_kind_of_part(line: str, level: str | None) -> None:
    assert level_of(line) == level


def test_colours_go() -> None:
    assert plain("  \x1b[2m2026-11-30T04:55:46Z\x1b[0m \x1b[31mERROR\x1b[0m \x1b[38;5;069m(((\n") == (
        "  2026-11-30T04:55:46Z ERROR ((("
    )


def test_a_traceback_belongs_to_the_error_above_it() -> None:
    sieve = Sieve()
    lines = [
        "2026-01-01T00:00:00Z [info     ] fine",
        "    a detail of it",
        "2026-01-01T00:00:00Z [error    ] broken",
        "Traceback (most recent call last):",
        '  File "x.py", line 1',
        "ValueError: no",
        "2026-01-01T00:00:00Z [info     ] fine again",
    ]
    assert [sieve.shows(line) for line in lines] == [False, False, True, True, True, True, False]


def test_a_crash_outside_of_logging_is_shown() -> None:
    sieve = Sieve()
    assert [sieve.shows(line) for line in ("banner", "Traceback (most recent call last):", "KeyError: 'x'")] == [
        False,
        True,
        True,
    ]
