"""``backup FILE`` and ``restore FILE`` on the catalog itself, so that they work where no gateway runs.

One desk for the `ragstone` command and for ``python -m services.gateway backup|restore`` in a container.
"""

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from services.shared.catalog.backup import marks, restoring, target, writing
from services.shared.catalog.backup.form import PROFILE, Head, Manifest, several
from services.shared.catalog.backup.reading import Nowhere, walk
from services.shared.catalog.engine import Catalog
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import PIPELINE_VERSION

ENDING = ".tar.gz"
SHOWN = 10


class Originals(writing.Originals, restoring.Originals, Protocol):
    """Where originals are kept, whatever that is."""


@dataclass(frozen=True)
class Site:
    """Where the desk stands."""

    prog: str
    catalog_url: str
    state_dir: Path
    blobs: Originals
    profile: Path | None
    """The one that speaks, if any does."""
    adopt: Callable[[Path], str]
    """Makes a restored profile the one that speaks; what to say of it."""


def backup(words: Sequence[str], site: Site) -> None:
    """Do what the words say. Raises RagstoneError; SystemExit (2) for wrong words."""
    asked = _backup_parser(site.prog).parse_args(words)
    if asked.check:
        head, manifest = walk(asked.file, Nowhere())
        _report(asked, head, manifest, [f"{asked.file} is sound: {_holds(manifest)}.", _made(head)])
        return
    now = datetime.now(UTC)
    file = asked.file / f"ragstone-{now:%Y%m%d-%H%M%S}{ENDING}" if asked.file.is_dir() else asked.file
    if file.exists() and not asked.overwrite:
        raise RagstoneError(ErrorCode.INVALID_REQUEST, f"{file} is there already; name another file, or --overwrite")
    catalog = Catalog(site.catalog_url)
    try:
        if catalog.file is not None and not catalog.file.exists():
            detail = f"there is no catalog in {catalog.name} yet, and so nothing to back up"
            raise RagstoneError(ErrorCode.INVALID_REQUEST, detail)
        with _told(asked) as tell, _whole_or_nothing(file) as out:
            head, manifest = writing.write(out, catalog, site.blobs, _read(site.profile), now, tell)
    finally:
        catalog.close()
    said = [f"Backed up {_holds(manifest)}: {file}, {file.stat().st_size / 1e6:.1f} MB."]
    if manifest.left_out:
        some = ", ".join(manifest.left_out_some[:3])
        number = several(manifest.left_out, "original")
        said.append(f"Without {number}: deleted meanwhile, or lost or damaged before ({some}).")
    said.append("It holds your documents and the hashes of API keys, and only you can read it (mode 0600): keep it so.")
    said.append("Vectors and keyword indexes are not in it; a restore makes them again.")
    _report(asked, head, manifest, said, file=str(file), bytes=file.stat().st_size)


def restore(words: Sequence[str], site: Site) -> None:
    """Do what the words say. Nobody else may use the state folder. Raises RagstoneError; SystemExit (2)."""
    asked = _restore_parser(site.prog).parse_args(words)
    broken = marks.settle(site.state_dir, site.catalog_url)
    if broken is not None:
        _say(broken.sentence)
    found = target.standing(site.catalog_url)
    if found is not None and not asked.replace:
        detail = f"the catalog is not empty: it holds {found.sentence}. Restore into another state folder, or --replace"
        raise RagstoneError(ErrorCode.INVALID_REQUEST, detail)
    returning = target.Returning(found.deleted if found is not None else frozenset())
    with _told(asked) as tell:
        walk(asked.file, returning)
    with target.alone(site.catalog_url, readable=found is None or found.fault is None):
        if found is not None:
            _agreed(asked, found, returning.found)
        site.state_dir.mkdir(parents=True, exist_ok=True)
        with _told(asked) as tell:
            now = datetime.now(UTC)
            done = restoring.restore(asked.file, site.catalog_url, site.blobs, site.state_dir, now, tell)
    said = [f"Restored {_holds(done.manifest)}.", _made(done.head)]
    if done.profile is not None:
        said.append(site.adopt(done.profile))
    if done.head.pipeline != PIPELINE_VERSION:
        said.append("Documents answer as that release read them; send them again to have them read by this one.")
    if done.vectors:
        models = ", ".join(sorted({one.name for one in done.head.embedders}))
        said.append(
            f"Once it runs, it answers from exact words at once. Jobs of the kind mend make "
            f"{several(done.vectors, 'vector')} with {models}; until they are done answers say `vectors_incomplete`."
        )
    _report(asked, done.head, done.manifest, said, vectors_to_make=done.vectors)


def _agreed(asked: argparse.Namespace, found: target.Standing, returning: Sequence[str]) -> None:
    """Name what would be lost, and what would come back, and ask. Raises RagstoneError for a no."""
    _say(f"This removes what the catalog holds: {found.sentence}.")
    if returning:
        some = ", ".join(returning[:SHOWN]) + (", …" if len(returning) > SHOWN else "")
        back = several(len(returning), "document")
        _say(f"Deleted here, and back with it: {back} ({some}). Delete them again afterwards.")
    if asked.yes:
        return
    if not sys.stdin.isatty():
        raise RagstoneError(ErrorCode.INVALID_REQUEST, "nobody can be asked here whether that is meant; add --yes")
    sys.stderr.write("Go on? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise RagstoneError(ErrorCode.INVALID_REQUEST, "nothing was changed")


@contextmanager
def _whole_or_nothing(file: Path) -> Iterator[BinaryIO]:
    """The file appears, readable by its owner alone, when the block ends; nothing is left when it raises."""
    fresh = file.with_name(f"{file.name}.partial")
    try:
        handle = os.open(fresh, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "wb") as out:
            os.fchmod(handle, 0o600)
            yield out
            out.flush()
            os.fsync(handle)
        os.replace(fresh, file)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        detail = f"{file} cannot be written: {error.strerror or error}; make room, or name another place"
        raise RagstoneError(ErrorCode.INVALID_REQUEST, detail) from error
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise


def _read(profile: Path | None) -> bytes | None:
    try:
        return None if profile is None else profile.read_bytes()
    except OSError as error:
        detail = f"the profile {profile} cannot be read: {error.strerror}; correct RAGSTONE_PROFILE or leave it unset"
        raise RagstoneError(ErrorCode.PROFILE_INVALID, detail) from error


def _holds(manifest: Manifest) -> str:
    keys = manifest.rows.get("api_keys", 0)
    parts = [f"{several(manifest.documents, 'document')} in {several(manifest.spaces, 'space')}"]
    parts += [several(manifest.blobs, "original"), *([several(keys, "API key")] if keys else [])]
    parts += ["the profile"] if any(member.name == PROFILE for member in manifest.members) else []
    return ", ".join(parts)


def _made(head: Head) -> str:
    return f"It was made {head.made_at:%Y-%m-%d %H:%M} UTC by ragstone {head.ragstone} (schema {head.schema_revision})."


def _report(asked: argparse.Namespace, head: Head, manifest: Manifest, said: Sequence[str], **more: Any) -> None:
    if asked.json:
        sys.stdout.write(json.dumps(more | writing.described(head, manifest), ensure_ascii=False, indent=2) + "\n")
    else:
        sys.stdout.write("\n".join(said) + "\n")


@contextmanager
def _told(asked: argparse.Namespace) -> Iterator[Callable[[str, int], None]]:
    """One line that says how far it is, for a person who watches."""
    watched = sys.stderr.isatty() and not asked.json

    def tell(what: str, number: int) -> None:
        if watched:
            sys.stderr.write(f"\r\x1b[K{number} {what}")
            sys.stderr.flush()

    try:
        yield tell
    finally:
        if watched:
            sys.stderr.write("\r\x1b[K")


def _backup_parser(prog: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"{prog} backup", description="Write catalog, originals and profile into one file, while everything runs."
    )
    _common(parser, "Where to; a folder gets a file that is named after the time.")
    parser.add_argument("--check", action="store_true", help="Read FILE, a backup, and say whether it is sound.")
    parser.add_argument("--overwrite", action="store_true", help="Replace FILE if it is there.")
    return parser


def _restore_parser(prog: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"{prog} restore", description="Put a backup into a state folder, or PostgreSQL, on which nothing runs."
    )
    _common(parser, "A backup, of this release or an older one.")
    parser.add_argument("--replace", action="store_true", help="Also where the catalog holds something, which is lost.")
    parser.add_argument("--yes", action="store_true", help="Do not ask whether that is meant.")
    return parser


def _common(parser: argparse.ArgumentParser, file: str) -> None:
    parser.add_argument("file", metavar="FILE", type=Path, help=file)
    parser.add_argument("--json", action="store_true", help="Print one JSON value for programs, and nothing else.")


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
