"""EPUB books: the chapters in reading order, each through the HTML reader."""

import zipfile
from dataclasses import dataclass

from services.ingestor.adapters.archives import checked_archive
from services.ingestor.adapters.parsers import html
from services.ingestor.adapters.parsers.xml_parts import XmlElement, part, target, tree, unreadable
from services.ingestor.domain.documents import Extracted
from services.ingestor.domain.stretches import Stretches, joined
from services.shared.contracts.documents import TITLE_MAX
from services.shared.contracts.errors import RagstoneError

CHAPTERS_MAX = 5_000
"""Documents of a book's reading order that are read; a book has hundreds at most."""

_CONTAINER = "META-INF/container.xml"
_LOCKS = "META-INF/encryption.xml"
_PAGES = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml"})


@dataclass(frozen=True)
class _Book:
    title: str | None
    language: str | None
    chapters: list[str]


def parse(data: bytes, name: str) -> Extracted:
    """The book's text. Places count the chapters that hold words, without the table of contents.

    A chapter that cannot be read is left out with a warning. Raises UNREADABLE_DOCUMENT for a book that is locked.
    """
    archive = checked_archive(data, name)
    book = _book(archive, name)
    locked = _locked(archive, name)
    if any(path in locked for path in book.chapters):
        raise unreadable(name, "it is locked by its seller (DRM); send a copy without the lock")
    out, warnings, number = Stretches(), [], 0
    for path in book.chapters[:CHAPTERS_MAX]:
        page = part(archive, path)
        if page is None:
            warnings.append(f"{name} lacks its part {path[:100]}")
            continue
        try:
            chapter = html.parse_whole(page, f"{path[:100]} in {name}")
        except RagstoneError as error:
            warnings.append(error.detail)
            continue
        if any(char.isalnum() for char in chapter.text):
            number += 1
            out.add_document(chapter, f"chapter {number}", depth=0)
            warnings.append(chapter.warning or "")
    if len(book.chapters) > CHAPTERS_MAX:
        warnings.append(f"{name} has {len(book.chapters):,} parts; the first {CHAPTERS_MAX:,} were read")
    return Extracted(
        text=out.text,
        markdown=True,
        title=book.title,
        language=book.language,
        warning=joined(warnings[:20]),
        places=out.places,
    )


def _book(archive: zipfile.ZipFile, name: str) -> _Book:
    """What the package says of itself. Its elements are found whatever prefix they have."""
    container = part(archive, _CONTAINER)
    if container is None:
        raise unreadable(name, "it is no EPUB book whatever its name says; send it under its real extension")
    where = tree(container, name).xpath("string(//*[local-name()='rootfile']/@full-path)")
    package = part(archive, str(where))
    if package is None:
        raise unreadable(name, "it lacks the list of its chapters; is it damaged?")
    root = tree(package, name)
    items = {str(item.get("id")): item for item in root.xpath("//*[local-name()='manifest']/*[local-name()='item']")}
    spine = root.xpath("//*[local-name()='spine']/*[local-name()='itemref']/@idref")
    chosen = [items[one] for one in spine if one in items and _is_chapter(items[one])]
    paths = dict.fromkeys(target(str(where), item.get("href", "")) for item in chosen)
    return _Book(_said(root, "title"), _said(root, "language"), [path for path in paths if path])


def _is_chapter(item: XmlElement) -> bool:
    return item.get("media-type", "") in _PAGES and "nav" not in item.get("properties", "").split()


def _said(root: XmlElement, what: str) -> str | None:
    words = root.xpath(f"string(//*[local-name()='metadata']/*[local-name()='{what}'])")
    said = " ".join(str(words).split())
    return said[: TITLE_MAX if what == "title" else 35] or None


def _locked(archive: zipfile.ZipFile, name: str) -> set[str]:
    """The parts that are encrypted; fonts often are in books that are not locked."""
    data = part(archive, _LOCKS)
    if data is None:
        return set()
    found = tree(data, name).xpath("//*[local-name()='CipherReference']/@URI")
    return {target("", str(uri)) for uri in found}
