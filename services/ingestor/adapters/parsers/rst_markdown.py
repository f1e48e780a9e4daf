"""A docutils tree as Markdown; roles and directives that only Sphinx knows as the words that they hold."""

import re
from collections.abc import Callable, Iterable

from docutils import nodes

from services.ingestor.domain.tables import cell_text, shown_in_table

Unknown = Callable[[str, int], "tuple[str, str, nodes.document | None]"]
"""Takes a directive apart that docutils does not know: its name, its argument, its block."""

_SILENT = frozenset(
    {"toctree", "include", "literalinclude", "index", "highlight", "currentmodule", "raw", "sectnum", "meta"}
)
_CHANGES = frozenset({"versionadded", "versionchanged", "deprecated", "versionremoved"})
_CODE = frozenset({"code-block", "sourcecode", "parsed-literal", "prompt", "console", "testcode", "doctest"})
_ROLE = re.compile(r":(?P<role>[\w:.+-]+):`(?P<said>[^`]+)`|`(?P<after>[^`]+)`:[\w:.+-]+:", re.DOTALL)
_REFERENCE = re.compile(r"`([^`]+)`__?(?!\w)")
_WORDS = frozenset({"ref", "doc", "term", "abbr", "numref", "sup", "sub", "kbd", "guilabel", "menuselection", "dfn"})
_TARGET = re.compile(r"\s*<[^<>]*>\s*\Z")
_TICKS = re.compile(r"`+")
_LANGUAGE = re.compile(r"[\w+#.-]{0,30}")
_SPACE = re.compile(r"\s+")


def markdown_of(document: nodes.document, unknown: Unknown) -> str:
    """The whole tree. Raises RecursionError for one that is nested hundreds of levels deep."""
    return "\n\n".join(_Writer(unknown).blocks(document.children, 1, 0))


class _Writer:
    def __init__(self, unknown: Unknown) -> None:
        self._unknown = unknown

    def blocks(self, children: Iterable[nodes.Node], level: int, deep: int) -> list[str]:
        """Each child as a block; ``level`` is that of a heading here, ``deep`` counts directives within each other."""
        found = (self._block(child, level, deep) for child in children if isinstance(child, nodes.Element))
        return [block for block in found if block.strip()]

    def _inside(self, node: nodes.Element, level: int, deep: int) -> str:
        return "\n\n".join(self.blocks(node.children, level, deep))

    def _block(self, node: nodes.Element, level: int, deep: int) -> str:
        if isinstance(node, nodes.section):
            return self._inside(node, level + 1, deep)
        if isinstance(node, nodes.title):
            return f"{'#' * max(1, min(6, level - 1))} {self._line(node)}"
        if isinstance(node, nodes.literal_block | nodes.doctest_block | nodes.math_block):
            language = next((one for one in node.get("classes", ()) if one != "code"), node.get("language", ""))
            return _fenced(node.astext(), language or "")
        if isinstance(node, nodes.bullet_list):
            return self._list(node, lambda n: "- ", deep)
        if isinstance(node, nodes.enumerated_list):
            return self._list(node, lambda n: f"{n + int(node.get('start', 1))}. ", deep)
        if isinstance(node, nodes.definition_list | nodes.field_list | nodes.option_list):
            return "\n\n".join(self._described(item, level, deep) for item in node.children)
        if isinstance(node, nodes.table):
            return self._table(node, level, deep)
        if isinstance(node, nodes.system_message):
            return self._recovered(node, level, deep)
        return self._other(node, level, deep)

    def _other(self, node: nodes.Element, level: int, deep: int) -> str:
        if isinstance(node, nodes.Invisible | nodes.label | nodes.raw):
            return ""
        if isinstance(node, nodes.Admonition):
            heading = "" if isinstance(node, nodes.admonition) else f"**{node.tagname.capitalize()}**\n\n"
            return heading + self._inside(node, 7, deep)
        if isinstance(node, nodes.rubric):
            return f"**{self._line(node)}**"
        if isinstance(node, nodes.footnote | nodes.citation):
            label = node.children[0].astext() if node.children else ""
            return f"[{label}] {self._inside(node, level, deep)}"
        if isinstance(node, nodes.image):
            return self._line_of(node.get("alt", ""))
        if isinstance(node, nodes.topic) and "contents" in node.get("classes", ()):
            return ""
        if isinstance(node, nodes.line_block):
            return "\n".join(self._line(line) for line in node.findall(nodes.line))
        if isinstance(node, nodes.TextElement):
            return self._escaped(self._line(node))
        return self._inside(node, level, deep)

    def _list(self, node: nodes.Element, mark: Callable[[int], str], deep: int) -> str:
        items = []
        for n, item in enumerate(node.children):
            inner = self._inside(item, 7, deep) if isinstance(item, nodes.Element) else ""
            start = mark(n)
            lines = (line and " " * len(start) + line for line in inner.split("\n"))
            items.append(start + "\n".join(lines)[len(start) :])
        tight = all("\n" not in item for item in items)
        return ("\n" if tight else "\n\n").join(items)

    def _described(self, item: nodes.Node, level: int, deep: int) -> str:
        """A term, field or option, and what is said of it."""
        if not isinstance(item, nodes.Element) or not item.children:
            return ""
        body = item.children[-1]
        said = self._inside(body, 7, deep) if isinstance(body, nodes.Element) else ""
        named = [self._line(one) for one in item.children[:-1] if isinstance(one, nodes.Element)]
        if isinstance(item, nodes.field):
            return f"{named[0]}: {said}" if said else named[0]
        return f"{' : '.join(named)}\n\n{said}".strip()

    def _table(self, node: nodes.table, level: int, deep: int) -> str:
        rows: list[list[str]] = []
        wide, heads, below = 0, 0, dict[tuple[int, int], str]()
        for n, row in enumerate(node.findall(nodes.row)):
            cells: list[str] = []
            for entry in row.children:
                while (n, len(cells)) in below:
                    cells.append(below.pop((n, len(cells))))
                if not isinstance(entry, nodes.Element):
                    continue
                text = shown_in_table(cell_text(self._inside(entry, 7, deep)))
                for down in range(1, int(entry.get("morerows", 0)) + 1):
                    below[n + down, len(cells)] = text
                cells += [text, *[""] * int(entry.get("morecols", 0))]
            heads += isinstance(row.parent, nodes.thead)
            wide = max(wide, len(cells))
            rows.append(cells)
        if not rows:
            return ""
        if not heads:
            rows.insert(0, [""] * wide)
        lines = [f"| {' | '.join(cells + [''] * (wide - len(cells)))} |" for cells in rows]
        title = [self._line(one) for one in node.children if isinstance(one, nodes.title)]
        return "\n\n".join([*title, "\n".join([lines[0], "|" + "---|" * wide, *lines[1:]])])

    def _recovered(self, message: nodes.system_message, level: int, deep: int) -> str:
        """What stands in a directive that docutils does not know: most are Sphinx's, and hold the best of the text."""
        source = next((one.astext() for one in message.findall(nodes.literal_block)), "")
        name, argument, inner = self._unknown(source, deep)
        name = name.rpartition(":")[2]
        if not name or name in _SILENT:
            return ""
        if name in _CODE:
            body = inner.astext() if inner is not None else ""
            return _fenced(body, argument)
        said = "\n\n".join(self.blocks(inner.children, max(level, 2), deep + 1)) if inner is not None else ""
        if name in _CHANGES:
            return f"{name.capitalize()} {argument}{': ' + said if said else ''}"
        named = f"**{self._line_of(_unwrapped(argument))}**" if argument else ""
        return "\n\n".join(part for part in (named, said) if part)

    def _line(self, node: nodes.Element) -> str:
        return self._line_of("".join(self._inline(child) for child in node.children))

    def _line_of(self, words: str) -> str:
        return _SPACE.sub(" ", words).strip()

    def _inline(self, node: nodes.Node) -> str:
        if isinstance(node, nodes.literal | nodes.math):
            return _code_span(node.astext())
        if isinstance(node, nodes.problematic):
            return _unwrapped(node.astext())
        if isinstance(node, nodes.footnote_reference | nodes.citation_reference):
            return f"[{node.astext()}]"
        if isinstance(node, nodes.image):
            return str(node.get("alt", ""))
        if isinstance(node, nodes.Text):
            return str(node)
        inner = "".join(self._inline(child) for child in node.children)
        if isinstance(node, nodes.reference) and (address := node.get("refuri", "")) and address != inner:
            return f"[{inner}]({address})"
        return f"**{inner}**" if isinstance(node, nodes.strong) else inner

    def _escaped(self, line: str) -> str:
        return "\\" + line if line.startswith(("#", "- ", "+ ", "* ", "> ")) else line


def _unwrapped(source: str) -> str:
    """A role's words: ``:ref:`Tasks <tasks>``` says Tasks, ``:class:`~celery.Task``` says celery.Task."""

    def said(found: re.Match[str]) -> str:
        words = _TARGET.sub("", found["said"] or found["after"]).lstrip("~!")
        role = (found["role"] or "").rpartition(":")[2]
        return words if role in _WORDS else _code_span(words)

    return _REFERENCE.sub(r"\1", _ROLE.sub(said, source))


def _code_span(code: str) -> str:
    code = _SPACE.sub(" ", code)
    ticks = "`" * (max((len(found) for found in _TICKS.findall(code)), default=0) + 1)
    pad = " " if "`" in code else ""
    return f"{ticks}{pad}{code}{pad}{ticks}"


def _fenced(code: str, language: str) -> str:
    ticks = "`" * max([3, *(len(found) + 1 for found in _TICKS.findall(code))])
    language = language if _LANGUAGE.fullmatch(language) else ""
    return f"{ticks}{language}\n{code.strip(chr(10))}\n{ticks}"
