"""Markdown to the plain words that are embedded and tokenised: what a reader would read aloud."""

import re
from html import unescape

_FENCE_LINE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[^\n]*$", re.MULTILINE)
_FENCED = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)([^`]{1,500}|[^`].{0,500}?[^`])(?<!`)\1(?!`)", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_TAG = re.compile(r"</?[A-Za-z][A-Za-z0-9-]*(?:\s[^<>]{0,2000})?/?>")
_AUTOLINK = re.compile(r"<((?:https?|mailto|ftp):[^<>\s]{1,2000})>")
_IMAGE = re.compile(
    r"!\[([^\[\]]{0,1000})\](?:\([^()\n]{0,2000}(?:\([^()\n]{0,500}\)[^()\n]{0,500})?\)|\[[^\[\]]{0,200}\])"
)
_LINK = re.compile(
    r"\[([^\[\]]{0,1000})\](?:\([^()\n]{0,2000}(?:\([^()\n]{0,500}\)[^()\n]{0,500})?\)|\[[^\[\]]{0,200}\])"
)
_DEFINITION = re.compile(r"^ {0,3}\[[^\[\]]{1,200}\]:[ \t]*\S+[^\n]*$", re.MULTILINE)
_TABLE_RULE = re.compile(r"^[ \t]*\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-{1,}:?[ \t]*)*\|?[ \t]*$", re.MULTILINE)
_TABLE_ROW = re.compile(r"^[ \t]*\|(.*)$", re.MULTILINE)
_LINE_MARK = re.compile(r"^[ \t]*(?:#{1,6}[ \t]+|>[ \t]?|[-*+][ \t]+(?:\[[ xX]\][ \t]+)?)", re.MULTILINE)
_RULE = re.compile(r"^[ \t]*(?:[-*_=][ \t]*){3,}$", re.MULTILINE)
_STRONG = re.compile(r"(\*{1,3}|~~)(?=\S)([^*~\n]{1,2000}?)(?<=\S)\1")
_UNDERSCORE = re.compile(r"(?<![\w\\])(_{1,3})(?=\S)([^_\n]{1,2000}?)(?<=\S)\1(?!\w)")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_SPACES = re.compile(r"[ \t]{2,}")
_GAPS = re.compile(r"\n\s*\n+")


def plain(markdown: str) -> str:
    """The text without link targets, image addresses, emphasis, HTML tags and table rules; code is kept as it is."""
    pieces = []
    at = 0
    if "```" in markdown or "~~~" in markdown:
        for block in _FENCED.finditer(markdown):
            pieces.append(_plain_around_spans(markdown[at : block.start()]))
            pieces.append(_FENCE_LINE.sub("", block[0]).strip("\n"))
            at = block.end()
    pieces.append(_plain_around_spans(markdown[at:]))
    return _GAPS.sub("\n", "\n".join(piece for piece in pieces if piece.strip())).strip()


def _plain_around_spans(text: str) -> str:
    """Everything but code spans is stripped of its marks; ``snake_case`` in backticks stays whole."""
    kept: list[str] = []

    def keep(span: re.Match[str]) -> str:
        kept.append(span[2])
        return f"\x00{len(kept) - 1}\x00"

    def keep_escaped(mark: re.Match[str]) -> str:
        kept.append(mark[1])
        return f"\x00{len(kept) - 1}\x00"

    text = text.replace("\x00", "")
    if "`" in text:
        text = _CODE_SPAN.sub(keep, text)
    if "\\" in text:
        text = _ESCAPE.sub(keep_escaped, text)
    stripped = _strip_marks(text)
    return re.sub("\x00([0-9]+)\x00", lambda mark: kept[int(mark[1])], stripped) if kept else stripped


def _strip_marks(text: str) -> str:
    """Each rule is tried only where its sign is in the text: most texts have few of them."""
    if "<" in text:
        text = _COMMENT.sub(" ", text)
    if "[" in text:
        text = _DEFINITION.sub("", text)
        text = _IMAGE.sub(r"\1", text)
        text = _LINK.sub(r"\1", text)
    if "<" in text:
        text = _AUTOLINK.sub(r"\1", text)
        text = _TAG.sub(" ", text)
    if "--" in text:
        text = _TABLE_RULE.sub("", text)
    text = _RULE.sub("", text)
    if "|" in text:
        text = _TABLE_ROW.sub(lambda row: row[1].replace("|", " "), text)
    text = _LINE_MARK.sub("", text)
    if "*" in text or "~" in text:
        text = _STRONG.sub(r"\2", text)
    if "_" in text:
        text = _UNDERSCORE.sub(r"\2", text)
    if "&" in text:
        text = unescape(text)
    return "\n".join(line.strip() for line in _SPACES.sub(" ", text).split("\n"))
