"""PowerPoint files (.pptx) by python-pptx: slide by slide, title, text, tables and the speaker's notes."""

import io
import zipfile
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from services.ingestor.adapters.archives import checked_archive
from services.ingestor.adapters.parsers.xml_parts import tree, unreadable
from services.ingestor.domain.documents import Extracted
from services.ingestor.domain.letters import resolved
from services.ingestor.domain.markdown_pieces import paragraph, pipe_table
from services.ingestor.domain.stretches import Stretches, joined
from services.shared.contracts.documents import TITLE_MAX

if TYPE_CHECKING:
    from pptx.slide import Slide

_MAIN = "ppt/presentation.xml"


def parse(data: bytes, name: str) -> Extracted:
    """Each slide under its title. Pictures are left out; a slide that cannot be read is left out with a warning.

    Raises UNREADABLE_DOCUMENT when it is no presentation or a damaged one.
    """
    archive = checked_archive(data, name)
    _refuse_strange(archive, name)
    from pptx import Presentation

    try:
        deck = Presentation(io.BytesIO(data))
        slides = list(deck.slides)
    except (KeyError, ValueError, AttributeError, OSError) as error:
        raise unreadable(
            name, f"it is a damaged presentation ({type(error).__name__}); open it in PowerPoint and save it anew"
        ) from error
    out = Stretches()
    damaged: list[str] = []
    first_title = ""
    for number, slide in enumerate(slides, start=1):
        try:
            title, blocks = _slide(slide)
        # A slide's XML may lack anything that the library takes for granted.
        except (KeyError, ValueError, AttributeError, TypeError, IndexError) as error:
            damaged.append(f"slide {number} of {name} is damaged and was left out ({type(error).__name__})")
            continue
        if not title and not blocks:
            continue
        first_title = first_title or title
        out.add(f"# {title or f'Slide {number}'}\n\n", f"slide {number}")
        for block in blocks:
            out.add(block + "\n\n")
    return Extracted(
        text=out.text.rstrip() + "\n" if out.text else "",
        markdown=True,
        title=first_title[:TITLE_MAX] or None,
        warning=joined(damaged),
        places=out.places,
        pages=len(slides),
    )


def _refuse_strange(archive: zipfile.ZipFile, name: str) -> None:
    """A part that declares entities is refused, as in every other kind; the library would pass over them in silence."""
    if _MAIN not in archive.namelist():
        raise unreadable(name, "it is no PowerPoint file, whatever its name says; send it under its real extension")
    for member in archive.namelist():
        if member.endswith((".xml", ".rels")):
            data = archive.read(member)
            if b"<!" in data[:2000] and (b"<!DOCTYPE" in data or b"<!ENTITY" in data):
                tree(data, name)


def _slide(slide: "Slide") -> tuple[str, list[str]]:
    """The title, and the blocks under it; the notes come last."""
    holder = slide.shapes.title
    title = " ".join(resolved(holder.text_frame.text).split()) if holder is not None else ""
    blocks = [
        block
        for shape in _flat(slide.shapes)
        if holder is None or shape.shape_id != holder.shape_id
        for block in _blocks(shape)
    ]
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        notes = _lines(slide.notes_slide.notes_text_frame.paragraphs)
        if notes:
            blocks.append("Notes: " + "\n".join(text for _, text in notes))
    return title, blocks


def _flat(shapes: Iterable[Any]) -> Iterator[Any]:
    """All shapes, those in groups in the place of their group."""
    for shape in shapes:
        if hasattr(shape, "shapes"):
            yield from _flat(shape.shapes)
        else:
            yield shape


def _blocks(shape: Any) -> Iterator[str]:
    if getattr(shape, "has_table", False):
        rows = [[" ".join(resolved(cell.text).split()) for cell in row.cells] for row in shape.table.rows]
        table = pipe_table(rows)
        if table:
            yield table
    elif getattr(shape, "has_text_frame", False):
        lines = _lines(shape.text_frame.paragraphs)
        if len(lines) == 1:
            yield paragraph(lines[0][1])
        elif lines:
            yield "\n".join(f"{'  ' * level}- {paragraph(text)}" for level, text in lines)


def _lines(paragraphs: Iterable[Any]) -> list[tuple[int, str]]:
    """Paragraphs that say something, with their depth in the list."""
    found = ((one.level, " ".join(resolved(one.text).split())) for one in paragraphs)
    return [(level, text) for level, text in found if text]
