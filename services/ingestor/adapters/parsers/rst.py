"""reStructuredText by docutils: nothing is included or fetched, no code runs, and what only Sphinx knows is kept."""

import re
import textwrap
from typing import TYPE_CHECKING

from services.ingestor.adapters.parsers.decode import decode
from services.ingestor.domain.blocks import h1_of, markdown_blocks
from services.ingestor.domain.documents import Extracted
from services.ingestor.domain.stretches import joined

if TYPE_CHECKING:
    from docutils import nodes

LINE_MAX = 10_000
"""Characters of a line, above which the text is read as plain."""

SOURCE_MAX = 250_000
"""Characters of a text, above which it is read as plain: docutils takes up to 30 s for a million."""

INSERTED_MAX = 2_000_000
"""Characters that substitutions may come to, all together."""

KEPT = 0.5
"""Share of the letters that must come out; docutils leaves out what it takes for a fault."""

NESTED_MAX = 6
"""How deep blocks of unknown directives are read within each other."""

_SETTINGS = {
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "_disable_config": True,
    "report_level": 5,
    "halt_level": 6,
    "warning_stream": False,
    "doctitle_xform": False,
    "docinfo_xform": False,
    "syntax_highlight": "none",
    "smart_quotes": False,
    "line_length_limit": LINE_MAX,
}
_DIRECTIVE = re.compile(r"\.\.[ \t]+(?:\|[^|\n]+\|[ \t]+)?(?P<name>[\w:.+-]+)::[ \t]*(?P<argument>[^\n]*)\n?")
_REPLACEMENT = re.compile(r"^\.\.[ \t]+\|[^|\n]+\|[^\n]*(?:\n[ \t]+[^\n]+)*", re.MULTILINE)
_OPTION = re.compile(r"[ \t]*:[\w-]+:(?:[ \t][^\n]*)?\n|[ \t]*\n")
_ARGUMENT_REST = re.compile(r"(?:[ \t]+[^\s:][^\n]*\n)+(?=[ \t]*\n|[ \t]*:[\w-]+:|\Z)")


def parse(data: bytes, name: str) -> Extracted:
    """The text as Markdown. What docutils cannot read stays as it was written, with a warning."""
    from services.ingestor.adapters.parsers.rst_markdown import markdown_of

    decoded = decode(data, name)
    if len(decoded.text) > SOURCE_MAX:
        note = f"{name} is longer than {SOURCE_MAX:,} characters and was read as plain text; split it to keep more"
        return Extracted(text=decoded.text, markdown=False, warning=joined([decoded.warning, note]))
    longest = max((len(found[0]) for found in _REPLACEMENT.finditer(decoded.text)), default=0)
    if longest * decoded.text.count("|") // 2 > INSERTED_MAX:
        note = f"{name} repeats itself by substitutions more than a document does, and was read as plain text"
        return Extracted(text=decoded.text, markdown=False, warning=joined([decoded.warning, note]))
    try:
        text = markdown_of(document(decoded.text), _unknown).strip() + "\n"
    # The library has its own errors, and those of whatever a strange text made it stumble over.
    except Exception as error:
        note = f"{name} is not clean reStructuredText ({type(error).__name__}) and was read as plain text"
        return Extracted(text=decoded.text, markdown=False, warning=joined([decoded.warning, note]))
    if sum(map(str.isalnum, text)) < KEPT * sum(map(str.isalnum, decoded.text)):
        note = f"much of {name} could not be read as reStructuredText, so it was read as plain text"
        return Extracted(text=decoded.text, markdown=False, warning=joined([decoded.warning, note]))
    title = h1_of(markdown_blocks(text[:2000]), text)
    return Extracted(text=text, markdown=True, title=title, warning=decoded.warning)


def document(text: str) -> "nodes.document":
    """The text's tree. Raises whatever docutils raises."""
    from docutils.core import publish_doctree

    tree: nodes.document = publish_doctree(text, settings_overrides=dict(_SETTINGS))
    return tree


def _unknown(source: str, deep: int) -> "tuple[str, str, nodes.document | None]":
    """An unknown directive's name, its argument, and its block as a tree of its own."""
    found = _DIRECTIVE.match(source)
    if found is None:
        return "", "", None
    body = source[found.end() :]
    argument = found["argument"].strip()
    if argument and (rest := _ARGUMENT_REST.match(body)):
        argument += " " + " ".join(rest[0].split())
        body = body[rest.end() :]
    while option := _OPTION.match(body):
        body = body[option.end() :]
    inner = textwrap.dedent(body)
    return found["name"], argument, document(inner) if inner.strip() and deep < NESTED_MAX else None
