"""Whether a question's words lead to what it asks about, and what is put before it where they do not."""

import re
from html import unescape

from services.shared.evaluation.golden.listed import listed
from services.shared.evaluation.golden.words import WORD, Corpus, content_words

_POINTS = re.compile(
    r"\b(?:the|these|both|other) (?!(?:[a-z-]+ )?[a-z-]+ (?:of|in|for|that|who|between|from|to|called|named)\b)[a-z]"
)
_NO_TITLE = listed(
    "frequently ask question faq appendix glossary overview index home introduction play chapter part read"
)
TITLE_WORDS = 6
LEAST_UNNAMED = 5
"""Words that a question without a rare name must have to be found by."""


def short_title(title: str) -> str:
    """What a person calls the document: the title up to its first colon, or to the comma before a year."""
    title = unescape(title)
    return re.split(r"\s*[:(|]\s|,\s(?=[^,]*\d)|\s[–—-]\s", title, maxsplit=1)[0].strip().rstrip(".?!")


def in_context(question: str, title: str, corpus: Corpus, least: int = 1) -> str | None:
    """The question, behind its document's short title where it could be about anything; None where that is no help.

    ``least`` words that carry meaning must be its own.
    """
    if is_specific(question, corpus):
        return question
    if len(content_words(question)) < least:
        return None
    short = short_title(title)
    content = content_words(question)
    naming = [word for word in content_words(short) if word not in _NO_TITLE]
    if not naming or len(short.split()) > TITLE_WORDS or set(naming) <= set(content) or not content:
        return None
    if corpus.documents_with(list(dict.fromkeys([*content, *naming]))) > corpus.few:
        return None
    return f"{short}: {question[:1].lower()}{question[1:]}"


def is_specific(question: str, corpus: Corpus) -> bool:
    """Do the question's own words lead to few documents, by a name or by their number?"""
    content = content_words(question)
    if len(content) < 2 or corpus.documents_with(content) > corpus.few:
        return False
    if _names_something(question, corpus):
        return True
    return len(content) >= LEAST_UNNAMED and not _POINTS.search(question)


def _names_something(question: str, corpus: Corpus) -> bool:
    """Does it hold a name or code of few documents?"""
    words = [part for found in list(WORD.finditer(question))[1:] for part in found[0].split("/")]
    return any(
        corpus.is_rare(word)
        for word in words
        if word != "I" and (word[0].isupper() or re.search(r"[A-Za-z].*\d|\d.*[A-Za-z]|\d{3}", word))
    )
