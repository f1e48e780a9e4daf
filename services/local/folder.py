"""Which files of a folder are documents, and what a mirror has to do; nothing here talks to a server."""

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

MEDIA_TYPES: Mapping[str, str] = {
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".mdx": "text/markdown",
    ".rst": "text/x-rst",
    ".txt": "text/plain",
    ".text": "text/plain",
    ".log": "text/plain",
    ".html": "text/html",
    ".htm": "text/html",
    ".xhtml": "application/xhtml+xml",
    ".json": "application/json",
    ".ndjson": "application/x-ndjson",
    ".jsonl": "application/x-ndjson",
    ".csv": "text/csv",
    ".tsv": "text/tab-separated-values",
    ".pdf": "application/pdf",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".ipynb": "application/x-ipynb+json",
    ".epub": "application/epub+zip",
    ".eml": "message/rfc822",
}
"""File kinds that a folder is searched for."""


@dataclass(frozen=True)
class Patterns:
    """Which files of a folder are meant: those that fit one of ``only`` (all when empty) and none of ``never``.

    A pattern is held against the path in the folder and against its last part.
    """

    only: tuple[str, ...] = ()
    never: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Is anything left out?"""
        return bool(self.only or self.never)

    def fit(self, relative: str) -> bool:
        """Is the file of this path meant?"""
        return (not self.only or _any_fits(self.only, relative)) and not _any_fits(self.never, relative)


EVERYTHING = Patterns()


@dataclass(frozen=True)
class LocalFile:
    """A file that is to be a document."""

    document_id: str
    relative: str
    path: Path
    sha256: str
    size: int

    @property
    def media_type(self) -> str:
        """By its extension."""
        return MEDIA_TYPES.get(self.path.suffix.lower(), "application/octet-stream")


@dataclass(frozen=True)
class Skipped:
    """A file of a known kind that is not sent, and why."""

    path: str
    reason: str


@dataclass(frozen=True)
class Known:
    """What the server has under an id."""

    sha256: str
    origin: str | None


@dataclass
class Plan:
    """What makes the server equal to the folder.

    ``moved`` maps the new id to the one whose bytes it has; ``owners`` are the folders that refused ids belong to.
    """

    new: list[LocalFile] = field(default_factory=list)
    changed: list[LocalFile] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    vanished: list[str] = field(default_factory=list)
    moved: dict[str, str] = field(default_factory=dict)
    refused: list[Skipped] = field(default_factory=list)
    owners: set[str] = field(default_factory=set)


def origin_of(folder: Path, name: str | None) -> str:
    """Name of a mirrored folder: its own name and a hash, so that no local path leaves this machine."""
    if name is not None:
        return name
    absolute = folder.resolve()
    return f"{shown(absolute.name)}-{hashlib.sha256(os.fsencode(absolute)).hexdigest()[:8]}"


def shown(path: str | Path) -> str:
    """A path as text that can be printed and sent: bytes that are not UTF-8 become escapes such as \\xff."""
    return os.fsencode(path).decode("utf-8", errors="backslashreplace")


def is_utf8(path: str) -> bool:
    """Is the name text? The system allows any bytes."""
    return shown(path) == path


@dataclass
class Scan:
    """What a folder holds: its documents by path, and what was left out."""

    files: list[LocalFile] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    """Files of a known kind that cannot be sent."""
    ignored: Counter[str] = field(default_factory=Counter)
    """Numbers of files of other kinds, by extension."""


def scan(folder: Path, *, prefix: str, patterns: Patterns, max_bytes: int, sums: "Checksums | None" = None) -> Scan:
    """The folder's documents.

    Hidden files and folders are not looked at; a link is followed only to a file inside the folder.
    Raises: OSError when a folder cannot be listed (its documents must not seem to have vanished).
    """
    root = folder.resolve()
    found = Scan()
    for path in _walk(root):
        relative = path.relative_to(root).as_posix()
        if not patterns.fit(relative):
            continue
        if not path.is_symlink() and path.suffix.lower() not in MEDIA_TYPES:
            found.ignored[path.suffix.lower() or "no extension"] += 1
            continue
        reason = why_not(path, root, max_bytes)
        if reason is not None:
            found.skipped.append(Skipped(shown(relative), reason))
            continue
        try:
            found.files.append(read(path, document_id=prefix + relative, relative=relative, sums=sums))
        except OSError as error:
            found.skipped.append(Skipped(shown(relative), f"cannot be read: {error.strerror}"))
    return found


def _any_fits(patterns: Iterable[str], relative: str) -> bool:
    return any(fnmatch(relative, one) or fnmatch(relative.rsplit("/", 1)[-1], one) for one in patterns)


class Checksums:
    """Checksums that were taken before, of files that have not been touched since."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[tuple[int, int, int], str]] = {}

    def of(self, path: Path) -> tuple[str, int]:
        """SHA-256 and size. Raises: OSError."""
        with path.open("rb") as stream:
            at = os.fstat(stream.fileno())
            mark = (at.st_ino, at.st_size, at.st_mtime_ns)
            known = self._known.get(path)
            if known is None or known[0] != mark:
                known = self._known[path] = (mark, hashlib.file_digest(stream, "sha256").hexdigest())
        return known[1], at.st_size


def why_not(path: Path, root: Path, max_bytes: int) -> str | None:
    """Why a file is not sent; null when it is."""
    try:
        real = path.resolve(strict=True)
        if not real.is_relative_to(root):
            return "a link to a place outside the folder"
        if real.is_dir():
            return "a link to a folder, which is not followed"
        if not real.is_file():
            return "not a regular file"
        size = real.stat().st_size
    except (OSError, RuntimeError):
        return "a link that leads nowhere"
    if size > max_bytes:
        return f"{size / 1e6:.1f} MB is over the limit of {max_bytes / 1e6:.1f} MB (RAGSTONE_DOCUMENT_MAX_BYTES)"
    return None


def read(path: Path, *, document_id: str, relative: str, sums: Checksums | None = None) -> LocalFile:
    """A file with its checksum.

    Raises: OSError.
    """
    sha256, size = (sums or Checksums()).of(path)
    return LocalFile(document_id, relative, path, sha256, size)


def _walk(root: Path) -> Iterator[Path]:
    for folder, names, files in os.walk(root, onerror=_raise):
        names[:] = sorted(name for name in names if not name.startswith("."))
        yield from (Path(folder) / name for name in names if (Path(folder) / name).is_symlink())
        yield from (Path(folder) / name for name in sorted(files) if not name.startswith("."))


def _raise(error: OSError) -> None:
    raise error


def plan_mirror(
    files: Iterable[LocalFile],
    known: Mapping[str, Known],
    *,
    origin: str | None,
    prefix: str = "",
    patterns: Patterns = EVERYTHING,
    skipped: Iterable[Skipped] = (),
    former: str | None = None,
    again: bool = False,
) -> Plan:
    """Compare a folder's files with what the server knows.

    A document that was sent by hand (no origin) under the id of a file becomes the folder's; one of another folder is
    never touched. Only documents that fit the patterns can vanish; those of skipped files stay as they are.
    ``origin`` null is a file sent alone: nothing vanishes. ``former`` is another name of the same folder,
    whose documents it takes over where the ids are the same. ``again`` sends what is the same too: another release may
    read it differently.
    """
    plan = Plan()
    there_still = {prefix + skip.path for skip in skipped}
    seen = set[str]()
    for file in files:
        if not is_utf8(file.document_id):
            reason = "the name is not UTF-8, so it cannot be an id; rename the file"
            plan.refused.append(Skipped(shown(file.relative), reason))
            continue
        seen.add(file.document_id)
        there = known.get(file.document_id)
        if there is None:
            plan.new.append(file)
        elif there.origin not in (None, origin, former):
            plan.owners.add(there.origin)
            reason = f"the id belongs to the mirrored folder {there.origin}; send it under another with --prefix"
            plan.refused.append(Skipped(file.relative, reason))
        elif again or there.sha256 != file.sha256 or there.origin != origin:
            plan.changed.append(file)
        else:
            plan.unchanged.append(file.document_id)
    if origin is not None:
        plan.vanished = sorted(
            document_id
            for document_id, there in known.items()
            if there.origin == origin
            and document_id not in seen | there_still
            and patterns.fit(document_id.removeprefix(prefix))
        )
    by_bytes = {known[document_id].sha256: document_id for document_id in reversed(plan.vanished)}
    for file in plan.new:
        if file.sha256 in by_bytes:
            plan.moved[file.document_id] = by_bytes.pop(file.sha256)
    return plan
