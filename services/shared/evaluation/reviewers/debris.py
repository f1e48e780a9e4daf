"""What should not be left in a text for people: half markers, Markdown and table remains, entities, broken ends."""

import re
from collections.abc import Iterator

from services.shared.evaluation.reviewers.wording import without_markers

_CODE = re.compile(r"```.*?```|~~~.*?~~~|`[^`\n]*`", re.DOTALL)
_ROW = r"[ \t]*\|[^\n]*\|[ \t]*"
_TABLE = re.compile(rf"^{_ROW}\n[ \t]*\|(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*(?:\n{_ROW})+$", re.MULTILINE)
"""A whole table: its header, the line below it, and rows. Its markers stand in its cells."""
_LISTED = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s+")
_PLACEHOLDER = r"\[\s*(?:n|x|\?|source|citation(?: needed)?|passage|ref|doc(?:ument)?)\s*\d*\s*\](?!\()"
_TAGS = r"br|p|b|i|em|strong|div|span|a|li|ul|ol|td|tr|table|h\d"
_RULES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (note, re.compile(pattern, re.IGNORECASE | re.MULTILINE))
    for note, pattern in (
        ("a marker without a number", rf"\[\s*\]|{_PLACEHOLDER}|\[\d{{1,3}}(?![^\[]*\])|\[\s*\Z"),
        ("a table's remains", r"\|[^|\n]*\||\|\s?:?-{2,}|^[ \t]*\||\|[ \t]*$|\s\|\s"),
        ("a heading's mark", r"^\s{0,3}#{1,6}\s"),
        ("a broken link", r"\]\([^)\s]*(?:\s|$)|!\[|\]\(\s*\)|\[[^\[\]\n]*\]\[\w*[a-z]\w*\]"),
        (
            "an HTML entity or tag",
            rf"&(?:[a-z]{{2,8}}|#x?[0-9a-f]{{1,6}});|</?(?:{_TAGS})\b[^<>\n]{{0,200}}>",
        ),
        ("an unreadable character", "[\ufffd\u0000-\u0008\u000b\u000c\u000e-\u001f]|\\\\n|\\\\u[0-9a-f]{4}|â€|Ã[©¤¶¼]"),
    )
)
_END = re.compile(r"[.!?…。！？؟।][\"'”’»)\]*_`]*$")
_OPEN_END = re.compile(
    r"(?:[,;:(\[{–—-]|\b(?:the|a|an|and|or|but|of|to|in|on|at|for|with|by|from|as|that|which|who|is|are|was|were|has|have"
    r"|had|will|would|because|if|when|while|than|its|her|his|their))$",
    re.IGNORECASE,
)
_NO_FULL_STOPS = re.compile("[\u0e00-\u0eff\u1780-\u17ff]")
FRAGMENT_WORDS = 8
"""An end without a full stop is a title's or list item's below this many words, and a broken sentence from here on.

Behind a whole sentence, it is one too unless it carries a marker of its own.
"""
GARBLED_FROM, GARBLED_LETTERS = 30, 0.3
"""So many letters and digits with a smaller share of letters than this are no answer to read."""


def debris(answer_text: str) -> Iterator[str]:
    """What is left over in the answer or missing at its end; code and whole tables are left alone."""
    text = _TABLE.sub("A table.", _CODE.sub("code", answer_text))
    if re.match(r"\s*\[\d{1,3}\](?!\()", text):
        yield "begins with a marker"
    if re.search(r"\[(\d+)\]\s*\[\1\]", text):
        yield "the same marker twice"
    for note, pattern in _RULES:
        if pattern.search(text):
            yield note
    plain = without_markers(text).strip()
    if text.count("`") or plain.count("**") % 2 or plain.count("__") % 2:
        yield "a Markdown mark without its partner"
    if plain.count("(") != plain.count(")") and not re.search(r"(?:^|\s)\w{1,2}\)", plain):
        yield "a bracket without its partner"
    if _unfinished(plain, cited=re.search(r"\]\Z", text.rstrip()) is not None):
        yield "breaks off"
    characters = [one for one in plain if one.isalnum()]
    if len(characters) >= GARBLED_FROM and sum(map(str.isalpha, characters)) < GARBLED_LETTERS * len(characters):
        yield "hardly a word in it"


def _unfinished(plain: str, *, cited: bool) -> bool:
    # A marker stands before the full stop, so that taking it out may leave a space there.
    ending = re.sub(r"\s{1,3}([.!?…])", r"\1", plain)
    if not ending or _END.search(ending) or _NO_FULL_STOPS.search(ending):
        return False
    *before, last = re.split(r"(?<=[.!?…])\s+|\n", ending)
    # A list's items keep the form that they have in their document, however long.
    too_long = len(last.split()) >= FRAGMENT_WORDS and not (cited and _LISTED.match(ending.rsplit("\n", 1)[-1]))
    return _OPEN_END.search(last) is not None or too_long or (bool(before) and not cited)
