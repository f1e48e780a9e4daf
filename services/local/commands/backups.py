"""`ragstone backup` and `ragstone restore`: everything that cannot be made again, in one file and out of it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from services.local import up
from services.local.profiles import profile_of, remember
from services.local.settings import LocalSettings, local_settings, make_state_folder
from services.local.state import RunFolder
from services.local.terminal import NAME
from services.shared.contracts.errors import ErrorCode, RagstoneError

if TYPE_CHECKING:
    from services.shared.catalog.backup import desk


def backup(context: typer.Context) -> None:
    """Write catalog, originals and profile into one file, while everything runs; --check FILE verifies one."""
    from services.shared.catalog.backup import desk

    settings = local_settings()
    desk.backup(context.args, _site(settings))


def restore(context: typer.Context) -> None:
    """Put a backup into the state folder, or PostgreSQL, on which nothing runs; see `restore --help`."""
    from services.shared.catalog.backup import desk

    settings = local_settings()
    if {"-h", "--help"} & set(context.args):
        desk.restore(context.args, _site(settings))
    make_state_folder(settings.state_dir)
    with _nothing_runs(RunFolder(settings.state_dir)):
        desk.restore(context.args, _site(settings))


def _site(settings: LocalSettings) -> "desk.Site":
    from services.shared.catalog.backup import desk
    from services.shared.catalog.blob_store import blob_store

    folder = settings.state_dir.absolute()
    run = RunFolder(folder).live()
    spoken = run.profile if run is not None else profile_of(os.environ, folder)
    return desk.Site(
        prog=NAME,
        catalog_url=settings.catalog_url,
        state_dir=folder,
        blobs=blob_store(settings),
        profile=Path(spoken) if spoken else None,
        adopt=lambda profile: _adopted(folder, profile),
    )


def _adopted(folder: Path, profile: Path) -> str:
    remember(folder, profile)
    return f"The profile is {profile}, and the next `{NAME} up` speaks with it."


@contextmanager
def _nothing_runs(folder: RunFolder) -> Iterator[None]:
    """Nothing runs on the state folder, and nothing can be started there meanwhile."""
    if not up.take(folder):
        detail = f"Ragstone runs on {folder.folder}; stop it with `{NAME} down` first."
        raise RagstoneError(ErrorCode.BUSY, detail)
    try:
        yield
    finally:
        folder.release()
