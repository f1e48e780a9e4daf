"""PDF files: letters and their places by PDFium (pypdfium2), put into reading order by `domain/page_*`."""

from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING

from services.ingestor.adapters.parsers.pdf_letters import segments_of
from services.ingestor.domain.documents import Extracted
from services.ingestor.domain.page_furniture import Page
from services.ingestor.domain.page_text import text_of
from services.shared.contracts.documents import TITLE_MAX
from services.shared.contracts.errors import ErrorCode, RagstoneError

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage

_LOCKED = 4
"""PDFium's FPDF_ERR_PASSWORD."""

_UNKNOWN_LOCK = 5
"""PDFium's FPDF_ERR_SECURITY."""

_NAMES_SHOWN = 3
_PAGES_SHOWN = 10


def parse(data: bytes, name: str) -> Extracted:
    """The text of all pages, with the place of each.

    Attached files are not read, but named. Raises UNREADABLE_DOCUMENT for a locked or damaged file.
    """
    with closing(_opened(data, name)) as document:
        pages: list[Page] = []
        pictures: list[int] = []
        damaged: list[int] = []
        for number in range(1, len(document) + 1):
            page = _page(document, number)
            if page is None:
                damaged.append(number)
                continue
            pages.append(page)
            if page.is_picture:
                pictures.append(number)
        if damaged and not any(page.segments for page in pages):
            raise _unreadable(name, "none of its pages can be opened; it is damaged")
        found = text_of(pages)
        warnings = [
            _on_pages(f"{name} holds pictures and no text", pictures, len(document), "run OCR if they matter"),
            _on_pages(f"{name} is damaged and could not be read", damaged, len(document), "send a better copy"),
            _attached(document, name),
        ]
        title = str(document.get_metadata_value("Title"))
        return Extracted(
            text=found.text,
            markdown=found.markdown,
            title=_title(title, found.text, found.heading),
            warning="; ".join(warning for warning in warnings if warning) or None,
            places=found.places,
            pages=len(document),
        )


def _opened(data: bytes, name: str) -> "PdfDocument":
    from pypdfium2 import PdfDocument, PdfiumError

    try:
        document = PdfDocument(data)
        document.init_forms()
        return document
    except PdfiumError as error:
        if error.err_code == _LOCKED:
            raise _unreadable(name, "it is locked with a password; remove it and send the file again") from error
        if error.err_code == _UNKNOWN_LOCK:
            raise _unreadable(name, "it is locked in a way that is not supported; remove the lock") from error
        raise _unreadable(name, "it is a damaged PDF; open it in a viewer and save it anew, if one can") from error


def _page(document: "PdfDocument", number: int) -> Page | None:
    """What stands on a page; None when it cannot be loaded."""
    from pypdfium2 import PdfiumError

    try:
        if document.formenv:
            # What was filled into a form lies over the page; it becomes a part of it when the page is loaded again.
            with closing(document[number - 1]) as form:
                form.flatten()
        with closing(document[number - 1]) as page, closing(page.get_textpage()) as textpage:
            main, aside = segments_of(textpage)
            blank = not any(char.isalnum() for segment in [*main, *aside] for char in segment.text)
            return Page(number, main, aside, is_picture=blank and _holds_picture(page))
    except PdfiumError:
        return None


def _holds_picture(page: "PdfPage") -> bool:
    from pypdfium2 import raw

    seen: Iterator[object] = page.get_objects(filter=(raw.FPDF_PAGEOBJ_IMAGE,), max_depth=3)
    return next(seen, None) is not None


def _attached(document: "PdfDocument", name: str) -> str:
    count = document.count_attachments()
    if not count:
        return ""
    names = [str(document.get_attachment(n).get_name())[:80] for n in range(min(count, _NAMES_SHOWN))]
    more = f" and {count - len(names)} more" if count > len(names) else ""
    return f"files attached to {name} were not read ({', '.join(names)}{more}); send them by themselves"


def _title(said: str, text: str, heading: str | None) -> str | None:
    """The title that the file states, when its first page shows it too; often it is left over from another file."""
    words = " ".join(said.split())
    shown = " ".join(text[:3000].split()).casefold()
    return words[:TITLE_MAX] if words and words.casefold() in shown else heading


def _on_pages(what: str, numbers: list[int], pages: int, remedy: str) -> str:
    if not numbers:
        return ""
    shown = ", ".join(map(str, numbers[:_PAGES_SHOWN])) + (", …" if len(numbers) > _PAGES_SHOWN else "")
    return f"{what} on {len(numbers)} of its {pages} pages (page {shown}); {remedy}"


def _unreadable(name: str, why: str) -> RagstoneError:
    return RagstoneError(ErrorCode.UNREADABLE_DOCUMENT, f"{name} cannot be read: {why}")
