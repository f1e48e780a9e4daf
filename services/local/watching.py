"""`ragstone ingest --watch`: a folder is looked at again whenever something in it changes."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from services.local.api import Unreachable
from services.shared.contracts.errors import RagstoneError

SETTLED_MS = 500
"""A file that is being written is not read: changes are acted on when there was none for this long."""

AT_LATEST_MS = 10_000
"""A folder that never settles is looked at all the same."""

LOOK_ANYWAY_MS = 60_000
"""Some file systems (network, containers) tell of no changes; the folder is looked at this often in any case."""

AWAY_AGAIN_S = 5.0


def changes(folders: list[Path], stop: threading.Event) -> Iterator[None]:
    """Once for each time that a folder is to be looked at, until ``stop`` is set.

    Raises: OSError when a folder is gone.
    """
    from watchfiles import watch

    seen = watch(
        *folders,
        debounce=AT_LATEST_MS,
        step=SETTLED_MS,
        stop_event=stop,
        rust_timeout=LOOK_ANYWAY_MS,
        yield_on_timeout=True,
        raise_interrupt=False,
    )
    for _ in seen:
        if not stop.is_set():
            yield


def keep_up(
    folders: list[Path],
    look: Callable[[], None],
    complain: Callable[[str], None],
    stop: threading.Event,
) -> None:
    """``look`` at each change; a gateway that is away or refuses is told of, and asked again a little later."""
    for _ in changes(folders, stop):
        while not stop.is_set():
            try:
                look()
                break
            except (Unreachable, RagstoneError) as error:
                detail = error.detail if isinstance(error, RagstoneError) else str(error)
                complain(f"{detail} Trying again in {AWAY_AGAIN_S:.0f} seconds.")
                stop.wait(AWAY_AGAIN_S)
