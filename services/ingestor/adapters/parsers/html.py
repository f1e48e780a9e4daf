"""HTML files: the main content as Markdown by trafilatura, without navigation; else all the words of the body."""

import re

from services.ingestor.adapters.parsers.decode import decode
from services.ingestor.adapters.parsers.html_bounds import flatten_raised_letters, with_few_attributes
from services.ingestor.adapters.parsers.html_whole import HtmlElement, whole, words_without_tree
from services.ingestor.domain.documents import Extracted
from services.ingestor.domain.front_matter import interpret, with_negatives
from services.ingestor.domain.stretches import joined
from services.shared.contracts.documents import TITLE_MAX
from services.shared.contracts.errors import ErrorCode, RagstoneError

_CHARSET = re.compile(rb"""<meta[^>]{0,500}?charset\s*=\s*["']?\s*([A-Za-z0-9_.:-]{1,40})""", re.IGNORECASE)
_XML_CHARSET = re.compile(rb"""\A\s*<\?xml[^>]{0,200}encoding\s*=\s*["']([A-Za-z0-9_.:-]{1,40})""")
_XML_DECLARATION = re.compile(r"\A\s*<\?xml[^>]{0,500}\?>")
_TITLE = re.compile(r"(<title\b[^<>]{0,200}>[^<]*)", re.IGNORECASE)
_TITLE_END = re.compile(r"</title", re.IGNORECASE)
_ROW_END = re.compile(r"(?<=\|)[ \t]+$", re.MULTILINE)
_GAPS = re.compile(r"\n(?:[ \t]*\n)+")

MAIN_SHARE = 0.25
"""Where the main content has less than this of the words outside of navigation, the page is no article."""

SHORT_PAGE = 1_000
SHORT_SHARE = 0.8
"""In a page of so few characters it is hard to tell content from the rest, and little may be lost."""

ELEMENTS_MAX = 30_000
"""Elements of a page above which all its words are kept: telling content from the rest would take too long. The
longest articles have half of it."""

_NAVIGATION = ("nav", "footer", "aside", "form", "button", "select")


def parse(data: bytes, name: str) -> Extracted:
    """The page's main content; its title is <title>, or its first heading.

    ``<meta name="not" content="…">`` is what ``not:`` is in front matter; there may be several.
    """
    return _read(data, name, None, main_only=True)


def parse_whole(data: bytes, name: str, declared: str | None = None) -> Extracted:
    """Like ``parse``, with all the words: a chapter or an e-mail has no navigation. ``declared`` is its encoding."""
    return _read(data, name, declared, main_only=False)


def _read(data: bytes, name: str, declared: str | None, *, main_only: bool) -> Extracted:
    found = _CHARSET.search(data[:4096]) or _XML_CHARSET.search(data[:400])
    decoded = decode(data, name, declared=declared or (found[1].decode("ascii") if found else None))
    tree, too_deep = _tree(decoded.text, name)
    if tree is None:
        return Extracted(text="", markdown=True, warning=decoded.warning)
    if too_deep:
        note = f"the elements of {name} lie too deep within each other, so its words were read without their structure"
        text = words_without_tree(decoded.text) + "\n"
        return Extracted(text=text, markdown=False, title=_title(tree), warning=joined([decoded.warning, note]))
    title = _title(tree)
    denied = interpret({"not": [str(said) for said in tree.xpath("//meta[@name='not']/@content")]}).negatives
    _lift_captions(tree)
    flatten_raised_letters(tree)
    words = _main_content(tree) if main_only else whole(tree)
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


def _tree(page: str, name: str) -> tuple[HtmlElement, bool]:
    """The page's elements, and whether some were lost because they lie too deep within each other."""
    from lxml import etree, html  # type: ignore[import-untyped]

    page = with_few_attributes(_XML_DECLARATION.sub("", page))
    if not _TITLE_END.search(page):
        # A title that is never closed would swallow the page.
        page = _TITLE.sub(r"\1</title>", page, count=1)
    if not page.strip():
        return None, False
    parser = html.HTMLParser(no_network=True, huge_tree=False)
    try:
        tree = html.document_fromstring(page, parser)
    except (etree.LxmlError, ValueError, AssertionError) as error:
        why = f"it is not HTML ({error}); send it as .txt if it is text"
        raise RagstoneError(ErrorCode.UNREADABLE_DOCUMENT, f"{name} cannot be read: {why}") from error
    return tree, any("Excessive depth" in fault.message for fault in parser.error_log)


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
    """What trafilatura takes for the content; else, or where that is little, all words but the navigation's."""
    found = _article(tree) if tree.xpath("count(//*)") <= ELEMENTS_MAX else ""
    body = tree.find("body")
    size = len(body.text_content()) if body is not None else 0
    if len(found) > size * (MAIN_SHARE if size > SHORT_PAGE else SHORT_SHARE):
        return found
    for element in tree.xpath("|".join(f"//{tag}" for tag in _NAVIGATION)):
        # A page may lie in one large form.
        if element.getparent() is not None and element.find(".//p") is None:
            element.drop_tree()
    rest = whole(tree)
    enough = len(found) > len(rest) * (MAIN_SHARE if len(rest) > SHORT_PAGE else SHORT_SHARE)
    return found if enough else rest


def _article(tree: HtmlElement) -> str:
    import copy

    import trafilatura

    # A copy, because the extraction prunes the tree that is still needed.
    found: str | None = trafilatura.extract(
        copy.deepcopy(tree),
        output_format="markdown",
        include_formatting=True,
        include_tables=True,
        include_comments=False,
        include_links=False,
        favor_recall=True,
    )
    return found or ""
