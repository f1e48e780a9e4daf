"""Compares PDF libraries: text found, reading order, hyphens, time and memory. See docs/files.md for the command.

The libraries that Ragstone does not use are installed beside it, never by its own extras.
"""

import json
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import import_module
from io import BytesIO
from pathlib import Path

from services.ingestor.adapters.parsers import pdf
from tests.contract.ingestor.pdf_maker import LEFT, RIGHT, line_by_line

LIBRARIES = ("pypdfium2", "pypdf", "pdfminer.six", "ragstone")
BROKEN = re.compile(r"\w(?:- |\ufffe ?)[a-z]")
"""A word that its line's end cut in two. PDFium writes U+FFFE for such a hyphen."""


def pypdfium2(data: bytes) -> str:
    """PDFium's own text, page by page."""
    from pypdfium2 import PdfDocument

    return "\f".join(page.get_textpage().get_text_range() for page in PdfDocument(data))


def pypdf(data: bytes) -> str:
    """pypdf's text in its default mode."""
    reader = import_module("pypdf").PdfReader(BytesIO(data))
    return "\f".join(page.extract_text() for page in reader.pages)


def pdfminer(data: bytes) -> str:
    """pdfminer.six with its layout analysis."""
    return str(import_module("pdfminer.high_level").extract_text(BytesIO(data)))


READERS: dict[str, Callable[[bytes], str]] = {
    "pypdfium2": pypdfium2,
    "pypdf": pypdf,
    "pdfminer.six": pdfminer,
    "ragstone": lambda data: pdf.parse(data, "file").text,
}


def measure(library: str, folder: Path) -> None:
    """Print one library's line of the table; in a process of its own, for its memory."""
    read = READERS[library]
    rows = [json.loads(line) for line in (folder / "files.jsonl").read_text().splitlines()]
    found, refused, seconds, shown = 0, [], 0.0, 0
    read(line_by_line())
    for row in (row for row in rows if row["kind"] == "pdf"):
        data = (folder / row["file"]).read_bytes()
        began = time.process_time()
        try:
            text = " ".join(read(data).split())
        except Exception as error:  # whatever a library raises is what is compared
            text = ""
            refused.append(f"{row['file']}: {type(error).__name__}")
        seconds += time.process_time() - began
        if row["expect"] in ("ok", "ok_or_reject"):
            shown += len(row["contains"])
            found += sum(part in text for part in row["contains"])
    two = " ".join(read((folder / "pdf-two-column-latex.pdf").read_bytes()).split())
    broken = len(BROKEN.findall(two))
    mixed = " ".join(read(line_by_line()).split())
    order = [mixed.find(" ".join(line.split())) for line in [*LEFT, *RIGHT]]
    in_order = -1 not in order and order == sorted(order)
    repeats = 20
    began = time.process_time()
    for _ in range(repeats):
        read((folder / "pdf-two-column-latex.pdf").read_bytes())
    page_ms = (time.process_time() - began) / repeats / 3 * 1000
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"| {library} | {found} of {shown} | {'yes' if in_order else 'no'} | {broken} "
        f"| {page_ms:.1f} | {seconds:.2f} | {memory:.0f} | {'; '.join(refused)} |"
    )


def main() -> None:
    """The whole table, or with a library's name its line."""
    folder = Path(sys.argv[1])
    if len(sys.argv) > 2:
        measure(sys.argv[2], folder)
        return
    print(
        "| library | texts | columns drawn across | words cut in two | ms a page | s for all | MB | refused |",
        flush=True,
    )
    print("|---|---|---|---|---|---|---|---|", flush=True)
    for library in LIBRARIES:
        subprocess.run([sys.executable, "-W", "ignore", __file__, str(folder), library], check=True)


if __name__ == "__main__":
    main()
