"""What is taken out of an HTML page before, or changed right after, the library reads it."""

import re
from typing import Any

ATTRIBUTES_MAX = 500
"""Attributes of one element. The library's time grows with the square of their number; a page has 30 at most."""

_ATTRIBUTE = r"""[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z)|[^\s>"'][^\s>]*+)?+)?+"""
_PIECE = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<(?:script|style)\b.*?(?:</(?:script|style)|\Z)"
    rf"|(?P<tag><[A-Za-z][^\s/>]*+)(?P<attributes>(?:{_ATTRIBUTE})++)",
    re.DOTALL | re.IGNORECASE,
)
"""Whatever begins is read to its end, or to that of the page, so that the time is linear."""

_ONE = re.compile(_ATTRIBUTE)
_FOOTNOTE = re.compile(r"\s*\[[^\[\]]{1,20}\]\s*")
_RAISED = str.maketrans("0123456789+-\u2212\u2013", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻")
_POWER = re.compile("[0-9+\u2212\u2013-]{1,20}")


def with_few_attributes(page: str) -> str:
    """The page without those attributes of an element that are more than any page has."""

    def fewer(found: re.Match[str]) -> str:
        attributes = found["attributes"]
        if not attributes or len(attributes) <= 2 * ATTRIBUTES_MAX:
            return found[0]
        end = 0
        for n, one in enumerate(_ONE.finditer(attributes)):
            if n == ATTRIBUTES_MAX:
                return found["tag"] + attributes[:end]
            end = one.end()
        return found[0]

    return _PIECE.sub(fewer, page)


def flatten_raised_letters(tree: Any) -> None:
    """Superscripts and subscripts become text: ``10⁶`` would else be ``106``, and Markdown has no sign for them.

    Marks of footnotes like ``[10]`` go.
    """
    for element in list(tree.iter("sup", "sub", "u")):
        words = element.text_content()
        if element.getparent() is None:
            continue
        if element.tag == "sup" and _FOOTNOTE.fullmatch(words):
            element.drop_tree()
        elif element.tag == "sup" and not len(element) and _POWER.fullmatch(words):
            element.text = words.translate(_RAISED)
            element.drop_tag()
        else:
            element.drop_tag()
