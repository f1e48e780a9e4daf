"""Files made to break readers, through the real reading process: what became of each, and what it cost.

``python -m benchmarks.hostile_files DATA`` (the folder of public test data that holds ``files/gen_broken.py``, with
``../cases/files`` beside it). Prints a Markdown table, then what reading in a process of its own costs.
"""

import argparse
import io
import json
import random
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import psutil

from services.ingestor.adapters.languages import Languages
from services.ingestor.adapters.parsers.files import FileParsers
from services.ingestor.adapters.parsing.limits import ParseLimits
from services.ingestor.adapters.parsing.sandbox import SandboxedParsers
from services.ingestor.domain.documents import Incoming
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.ids import DocumentId

LOOK_EVERY_S = 0.002
REASON = 110
SMALL_FILES = 1000


@dataclass
class Peaks:
    """Highest resident memory of the reading process and of this one, bytes."""

    reader: int = 0
    worker: int = 0


def document(name: str, size: int) -> Incoming:
    return Incoming(
        document_id=DocumentId("doc"),
        blob_sha256="",
        filename=name,
        media_type="application/octet-stream",
        size_bytes=size,
        title=None,
        type=None,
        tags=None,
        source=None,
        metadata={},
        origin=None,
    )


def told(pid: int | str, what: str) -> int:
    """Bytes that the kernel names in a process's status; 0 when it is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(what)), 0)


@contextmanager
def watched() -> Iterator[Peaks]:
    """Looks at the readers until the block ends."""
    peaks, stop, me = Peaks(), threading.Event(), psutil.Process()
    Path("/proc/self/clear_refs").write_text("5")
    before = told("self", "VmRSS")

    def look() -> None:
        while not stop.wait(LOOK_EVERY_S):
            for child in me.children():
                peaks.reader = max(peaks.reader, told(child.pid, "VmHWM"))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield peaks
    finally:
        for child in me.children():
            peaks.reader = max(peaks.reader, told(child.pid, "VmHWM"))
        stop.set()
        thread.join()
        peaks.worker = told("self", "VmHWM") - before


def row(limits: ParseLimits, name: str, expect: str, data: bytes, shown: str | None = None) -> str:
    """One file in a fresh reader."""
    parsers = SandboxedParsers(limits, lambda text: None)
    parsers.parse(document("warm.txt", 4), b"warm")
    with watched() as peaks:
        began = time.perf_counter()
        try:
            text = parsers.parse(document(name, len(data)), data)
            outcome, reason = f"read, {len(text.text):,} characters", text.warning or ""
        except RagstoneError as error:
            outcome, reason = error.code.value, error.detail.removeprefix(name).removeprefix(" cannot be read: ")
        seconds = time.perf_counter() - began
    parsers.parse(document("sibling.txt", 7), b"sibling")
    parsers.close()
    reason = reason.replace("|", "\\|").replace("\n", " ")
    short = reason if len(reason) <= REASON else reason[:REASON] + "…"
    label = shown or (name if len(name) < 40 else name[:20] + "…" + name[-6:])
    memory = f"{peaks.reader / 1e6:.0f} MB | {peaks.worker / 1e6:.0f} MB"
    return f"| `{label}` | {expect} | {outcome} | {short} | {memory} | {seconds:.2f} |"


def many_entries() -> bytes:
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w") as archive:
        for n in range(50_000):
            archive.writestr(f"word/{n}.xml", b"")
    return into.getvalue()


def table(data: Path) -> None:
    """Every file of the generator, and the cases."""
    limits = ParseLimits()
    print("| file | expected | outcome | reason or warning | peak of the reader | added to the worker | seconds |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        generator = data / "files" / "gen_broken.py"
        subprocess.run([sys.executable, str(generator), folder, "--big"], check=True, stdout=subprocess.DEVNULL)
        for line in (Path(folder) / "expect.jsonl").read_text().splitlines():
            said = json.loads(line)
            print(row(limits, said["file"], said["expect"], (Path(folder) / said["file"]).read_bytes()), flush=True)
        log = (Path(folder) / "big-50mb.log").read_bytes()
        large = replace(limits, document_bytes=100_000_000, text_bytes=100_000_000)
        print(row(large, "big-50mb.log", "ok_or_reject", log, "big-50mb.log, limits raised to 100 MB"))
    cases = data.parent / "cases" / "files"
    bomb = (cases / "h43_inflates_300mb.docx").read_bytes()
    for name in ("h43.docx", "h43.txt", "h43.zip"):
        print(row(limits, name, "reject", bomb, f"{name} (300 MB inside)"))
    print(row(limits, "entries.docx", "reject", many_entries(), "50,000 entries.docx"))
    print(row(limits, "page_tree_loop.pdf", "reject", (cases / "q50_page_tree_loop.pdf").read_bytes()))


def cost() -> None:
    """Documents a second through the process, and in this one."""
    dice = random.Random(1)
    words = [
        "the",
        "quick",
        "brown",
        "fox",
        "jumps",
        "over",
        "a",
        "lazy",
        "dog",
        "while",
        "the",
        "pump",
        "in",
        "hall",
        "seven",
        "is",
        "oiled",
        "by",
        "an",
        "engineer",
    ]
    files = [
        "\n\n".join([f"# Title {n}", *(" ".join(dice.choices(words, k=60)) for _ in range(5))]).encode()
        for n in range(SMALL_FILES)
    ]
    language_of = Languages().language_of
    sandboxed = SandboxedParsers(ParseLimits(), language_of)
    here = FileParsers(20_000_000, MemoryError, language_of)

    def seconds(parse: Callable[[Incoming, bytes], object]) -> float:
        parse(document("a.md", 1), files[0])
        began = time.perf_counter()
        for data in files:
            parse(document("a.md", len(data)), data)
        return time.perf_counter() - began

    times = [(seconds(sandboxed.parse), seconds(here.parse)) for _ in range(5)]
    through, within = (min(both) for both in zip(*times, strict=True))
    sandboxed.close()
    began = time.perf_counter()
    sandboxed.parse(document("a.md", 1), files[0])
    start = time.perf_counter() - began
    sandboxed.close()
    print(f"\n{SMALL_FILES:,} Markdown files of {sum(map(len, files)) // SMALL_FILES:,} bytes, best of 5:")
    print(
        f"in the worker itself {SMALL_FILES / within:,.0f} a second, through the process {SMALL_FILES / through:,.0f};"
    )
    print(f"{1000 * (through - within) / SMALL_FILES:.2f} ms more a document. A new process takes {start:.2f} s.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, nargs="?", default=Path("../shared/data"))
    arguments = parser.parse_args()
    table(arguments.data)
    cost()


if __name__ == "__main__":
    main()
