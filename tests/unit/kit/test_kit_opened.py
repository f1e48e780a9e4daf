"""Open things are opened once and kept within a limit."""

import threading
import time

import pytest

from services.shared.kit.opened import Opened


def test_opened_once_however_many_ask() -> None:
    opened: Opened[str, int] = Opened(4)
    opens: list[int] = []

    def open_slowly() -> int:
        time.sleep(0.05)
        opens.append(1)
        return len(opens)

    got: list[int] = []
    threads = [threading.Thread(target=lambda: got.append(opened.get("a", open_slowly))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
    assert got == [1] * 8


def test_the_least_recently_used_is_let_go() -> None:
    opened: Opened[str, str] = Opened(2)
    for key in ("a", "b", "a", "c"):
        opened.get(key, lambda key=key: key + "1")  # type: ignore[misc]
    assert opened.get("a", lambda: "a2") == "a1"
    assert opened.get("b", lambda: "b2") == "b2"


def test_a_failed_opening_is_tried_again() -> None:
    opened: Opened[str, str] = Opened(2)

    def fail() -> str:
        raise OSError("no file")

    with pytest.raises(OSError, match="no file"):
        opened.get("a", fail)
    assert opened.get("a", lambda: "fine") == "fine"


def test_looking_is_no_use_and_what_is_not_kept_is_given_back() -> None:
    opened: Opened[str, str] = Opened(2)
    for key in ("a", "b"):
        opened.get(key, lambda key=key: key + "1")  # type: ignore[misc]
    assert (opened.look("a"), opened.look("c")) == ("a1", None)
    opened.get("c", lambda: "c1")
    assert opened.look("a") is None
    assert opened.keep({"c", "d"}) == ["b1"]
    assert opened.values() == ["c1"]
