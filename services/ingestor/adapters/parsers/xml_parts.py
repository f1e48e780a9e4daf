"""XML inside zip-like files, by lxml: nothing is fetched, and entities are neither expanded nor allowed."""

import posixpath
import re
import zipfile
from collections.abc import Iterator
from typing import Any, TypeAlias
from urllib.parse import unquote

from services.shared.contracts.errors import ErrorCode, RagstoneError

_LIMITS = re.compile(r"XML_PARSE_HUGE|amplification|xcessive depth|too long|entity loop|Entity.{0,40}too|Huge input")
"""What the reader says of a file that passes one of its limits."""

XmlElement: TypeAlias = Any
"""lxml.etree's; lxml has no types of its own."""


def part(archive: zipfile.ZipFile, path: str) -> bytes | None:
    """A member's bytes; None where the archive has none of that name."""
    try:
        return archive.read(path)
    except KeyError:
        return None


def tree(data: bytes, name: str) -> XmlElement:
    """The root of an XML document. Raises UNREADABLE_DOCUMENT when it is none, or declares entities."""
    from lxml import etree  # type: ignore[import-untyped]

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise _no_xml(name, error) from error
    declared = root.getroottree().docinfo.internalDTD
    if declared is not None and any(True for _ in declared.iterentities()):
        raise unreadable(name, "a part of it declares entities, which such files have no need of")
    return root


def elements(archive: zipfile.ZipFile, path: str, tag: str, name: str) -> Iterator[XmlElement]:
    """The elements of this tag, one after another; each is emptied when the next is asked for."""
    from lxml import etree

    with archive.open(path) as source:
        found = etree.iterparse(
            source, tag=tag, resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False
        )
        try:
            for _, element in found:
                yield element
                element.clear()
                while element.getprevious() is not None:
                    del element.getparent()[0]
        except etree.XMLSyntaxError as error:
            raise _no_xml(name, error) from error


def target(base: str, href: str) -> str:
    """The member that a reference inside the part ``base`` means; empty when it points out of the archive."""
    path = unquote(href.split("#", 1)[0])
    whole = posixpath.normpath(posixpath.join(posixpath.dirname(base), path)) if path else ""
    return "" if whole.startswith("..") else whole.lstrip("/")


def _no_xml(name: str, error: Exception) -> RagstoneError:
    """Why a part was not read. The reader's own words name its constants, so its limits are said here."""
    said = str(error)
    if _LIMITS.search(said):
        why = (
            "a part of it nests or expands more than a document does, so it was not read; "
            "save it anew with less within each other, or as PDF"
        )
        return unreadable(name, why)
    line = getattr(error, "lineno", None)
    where = f" (line {line})" if line else ""
    return unreadable(name, f"a part of it is damaged{where}; save it anew from the program that made it")


def unreadable(name: str, why: str) -> RagstoneError:
    """What is raised when a file cannot be read, and why."""
    return RagstoneError(ErrorCode.UNREADABLE_DOCUMENT, f"{name} cannot be read: {why}")
