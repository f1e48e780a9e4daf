"""HTML files: the main content as Markdown by trafilatura, without navigation; else all the words of the body."""

import re
from typing import Any, TypeAlias

from services.ingestor.adapters.parsers.decode import decode
from services.ingestor.domain.documents import Extracted
from services.ingestor.domain.front_matter import interpret, with_negatives
from services.shared.contracts.documents import TITLE_MAX
from services.shared.contracts.errors import ErrorCode, RagstoneError

HtmlElement: TypeAlias = Any
"""lxml.html's; lxml has no types of its own."""

_CHARSET = re.compile(rb"""<meta[^>]{0,500}?charset\s*=\s*["']?\s*([A-Za-z0-9_.:-]{1,40})""", re.IGNORECASE)
_XML_CHARSET = re.compile(rb"""\A\s*<\?xml[^>]{0,200}encoding\s*=\s*["']([A-Za-z0-9_.:-]{1,40})""")
_XML_DECLARATION = re.compile(r"\A\s*<\?xml[^>]{0,500}\?>")
_ROW_END = re.compile(r"(?<=\|)[ \t]+$", re.MULTILINE)
_GAPS = re.compile(r"\n[ \t]*\n\s*")
_BLOCKS = frozenset(
    [
        *("address", "article", "aside", "blockquote", "br", "dd", "div", "dl", "dt", "figcaption", "footer", "form"),
        *("h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav", "ol", "p", "pre", "section"),
        *("table", "td", "th", "tr", "ul"),
    ]
)
_UNSEEN = ("script", "style", "noscript", "template", "head", "svg", "iframe")


def parse(data: bytes, name: str) -> Extracted:
    """The page's text; its title is <title>, or its first heading.

    ``<meta name="not" content="…">`` is what ``not:`` is in front matter; there may be several.
    """
    found = _CHARSET.search(data[:4096]) or _XML_CHARSET.search(data[:400])
    decoded = decode(data, name, declared=found[1].decode("ascii") if found else None)
    tree = _tree(decoded.text, name)
    if tree is None:
        return Extracted(text="", markdown=True, warning=decoded.warning)
    title = _title(tree)
    denied = interpret({"not": [str(said) for said in tree.xpath("//meta[@name='not']/@content")]}).negatives
    _lift_captions(tree)
    words = _main_content(tree) or _all_words(tree)
    text, body_end, negatives = with_negatives(_GAPS.sub("\n\n", _ROW_END.sub("", words)).strip() + "\n", denied)
    return Extracted(
        text=text,
        markdown=True,
        title=title,
        language=(tree.get("lang") or "").strip()[:35] or None,
        warning=decoded.warning,
        negatives=negatives,
        body_end=body_end,
    )


def _tree(page: str, name: str) -> HtmlElement:
    from lxml import etree, html  # type: ignore[import-untyped]

    page = _XML_DECLARATION.sub("", page)
    if not page.strip():
        return None
    try:
        return html.document_fromstring(page)
    except (etree.LxmlError, ValueError, AssertionError) as error:
        why = f"it is not HTML ({error}); send it as .txt if it is text"
        raise RagstoneError(ErrorCode.UNREADABLE_DOCUMENT, f"{name} cannot be read: {why}") from error


def _title(tree: HtmlElement) -> str | None:
    for path in ("string(//head/title)", "string(//title)", "string(//h1)"):
        words = " ".join(str(tree.xpath(path)).split())
        if words:
            return words[:TITLE_MAX]
    return None


def _lift_captions(tree: HtmlElement) -> None:
    """Captions become paragraphs before their tables; trafilatura takes them for a table's header."""
    from lxml import html

    for caption in tree.xpath("//table/caption"):
        table = caption.getparent()
        words = " ".join(caption.text_content().split())
        table.remove(caption)
        if words:
            paragraph = html.Element("p")
            paragraph.text = words
            table.addprevious(paragraph)


def _main_content(tree: HtmlElement) -> str:
    import copy

    import trafilatura

    # A copy, because the extraction prunes the tree that the fallback may need.
    return (
        trafilatura.extract(
            copy.deepcopy(tree),
            output_format="markdown",
            include_formatting=True,
            include_tables=True,
            include_comments=False,
            include_links=False,
            favor_recall=True,
        )
        or ""
    )


def _all_words(tree: HtmlElement) -> str:
    """The body's text with a line for each block; headings keep their rank."""
    from lxml import html

    for element in tree.xpath("|".join(f"//{tag}" for tag in _UNSEEN)):
        if element.tag != "head":
            element.drop_tree()
    pieces: list[str] = []
    body = tree.find("body")
    root = tree if body is None else body
    for element in root.iter():
        tag = element.tag if isinstance(element.tag, str) else ""
        if tag in _BLOCKS:
            pieces.append("\n\n" if tag not in ("td", "th") else " ")
            if re.fullmatch("h[1-6]", tag):
                pieces.append("#" * int(tag[1]) + " ")
        if tag and element.text:
            pieces.append(re.sub(r"\s+", " ", element.text))
        if element.tail and element is not root:
            parent = element.getparent()
            ends = tag in _BLOCKS and not isinstance(parent, html.HtmlComment)
            pieces.append(("\n\n" if ends else "") + re.sub(r"\s+", " ", element.tail))
    return "\n".join(line.strip() for line in "".join(pieces).split("\n"))
