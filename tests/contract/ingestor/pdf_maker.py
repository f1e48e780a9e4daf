"""Writes small PDFs by hand: text at given places, in a given order, as odd programs write it."""

from collections.abc import Sequence

Mark = tuple[float, float, str]
"""x, y and the words; the size is the page's own unless the mark says another in a fourth place."""

WIDTH, HEIGHT = 595, 842
PICTURE = "q 400 0 0 600 90 100 cm BI /W 1 /H 1 /CS /G /BPC 8 ID x EI Q"
"""The drawing of a page that is a scan."""


def pdf(
    pages: Sequence[Sequence[Mark | tuple[float, float, str, float]] | str],
    *,
    size: float = 10,
    rotate: int = 0,
    catalog: str = "",
    page_extra: str = "",
    more: Sequence[str] = (),
) -> bytes:
    """A PDF of these pages, A4, in Helvetica; a page may be given as its drawing commands.

    ``more`` are objects from number 4 + 2 · pages on, for ``catalog`` and ``page_extra``.
    """
    objects = [f"<</Type/Catalog/Pages 2 0 R{catalog}>>", "", "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"]
    kids = []
    for marks in pages:
        kids.append(f"{len(objects) + 1} 0 R")
        objects.append(
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 {WIDTH} {HEIGHT}]/Rotate {rotate}{page_extra}"
            f"/Resources<</Font<</F 3 0 R>>>>/Contents {len(objects) + 2} 0 R>>"
        )
        content = (
            marks
            if isinstance(marks, str)
            else "".join(_shown(*mark) if len(mark) == 4 else _shown(*mark, size) for mark in marks)
        )
        objects.append(f"<</Length {len(content)}>>stream\n{content}\nendstream")
    objects[1] = f"<</Type/Pages/Kids[{' '.join(kids)}]/Count {len(kids)}>>"
    return _file([*objects, *more])


def _shown(x: float, y: float, words: str, size: float) -> str:
    escaped = words.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
    return f"BT /F {size} Tf 1 0 0 1 {x} {y} Tm ({escaped}) Tj ET\n"


def _file(objects: Sequence[str]) -> bytes:
    out = b"%PDF-1.7\n"
    starts = []
    for number, body in enumerate(objects, start=1):
        starts.append(len(out))
        out += f"{number} 0 obj{body}endobj\n".encode("latin-1")
    table = "".join(f"{start:010d} 00000 n \n" for start in starts)
    end = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer<</Size {len(objects) + 1}/Root 1 0 R>>\n"
    return out + f"{end}startxref\n{len(out)}\n%%EOF".encode("latin-1")


LEFT = [
    "The harbour of Lund was dredged in the",
    "spring of 1911, when the first steam",
    "ferry had run aground twice in a week.",
    "The council paid for it with a loan that",
    "was not repaid until the next century,",
    "and the pier was lengthened as well. The",
    "well-known painter Ada Holm drew both of",
    "them from the window of her attic room.",
]
RIGHT = [
    "Trade grew at once. Timber went out and",
    "coal came in, and by 1920 three lines",
    "called at the town every second day of",
    "the week. A customs house was built by",
    "the old slipway, with a tower that the",
    "pilots used as a mark. It still stands,",
    "though the customs have long since gone",
    "and a bakery has moved into its hall.",
]


def line_by_line() -> bytes:
    """A title over two columns that are drawn across the page, a line of the left one and a line of the right one."""
    marks: list[Mark | tuple[float, float, str, float]] = [(180, 780, "A short history of a harbour", 18)]
    for n, (left, right) in enumerate(zip(LEFT, RIGHT, strict=True)):
        marks += [(60, 740 - 12 * n, left), (310, 740 - 12 * n, right)]
    return pdf([marks])
