"""Who and what a sentence speaks of, by its words alone: names, and the things behind an article."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from services.gateway.domain.grammar import (
    ARTICLES,
    ASKING,
    AUXILIARIES,
    BEFORE_A_VERB,
    GERMAN_ARTICLES,
    INSIDE_NAMES,
    IS,
    LINKS,
    OPENERS,
    PREDICATES,
    TIMES,
    TITLES,
    VERBS,
)
from services.shared.contracts.profile import Subject

_WORD = re.compile(r"[^\W_][\w'’.+#-]*[\w+#]|[^\W_]|&")


@dataclass(frozen=True)
class Word:
    """A word of a text, and where it stands."""

    text: str
    start: int
    end: int

    @property
    def low(self) -> str:
        """For looking it up."""
        return self.text.replace("’", "'").casefold()


def words(text: str) -> list[Word]:
    """All words in order."""
    return [Word(match.group(), match.start(), match.end()) for match in _WORD.finditer(text)]


def names(text: str, subject: Subject | None) -> list[str]:
    """Capitalised names other than the subject's, each once, in order.

    A capital at a sentence's head tells nothing, unless more capitals follow it. Behind a German article stands
    any noun, which is no name.
    """
    own = own_words(subject)
    found: list[str] = []
    for run in _runs(text):
        plain = [re.sub(r"['’]s$", "", word.text) for word in run]
        if not all(word.casefold() in own or word.casefold() in TIMES for word in plain):
            found.append(" ".join(plain))
    return list(dict.fromkeys(found))


def mentions_subject(text: str, subject: Subject | None) -> bool:
    """Is the subject in it, by name or pronoun?"""
    if subject is None:
        return False
    pronouns = {word.casefold() for word in (*subject.pronouns.subject, *subject.pronouns.possessive)}
    said = {re.sub(r"'s$", "", word.low) for word in words(text)}
    return bool(said & (pronouns | own_words(subject)))


def own_words(subject: Subject | None) -> frozenset[str]:
    """The words of the subject's names."""
    every = () if subject is None else (subject.name, *subject.aliases)
    return frozenset(word.casefold() for name in every for word in re.findall(r"\w+", name))


def things(question: str) -> list[str]:
    """Things asked about: what stands behind an article, and what "what is" and "tell me about" name.

    Where a noun ends and a verb begins is told by the words that questions are built with, so this is for short
    questions; what cannot be told is left out.
    """
    said = words(question)
    found: list[str] = []
    for at, word in enumerate(said):
        if word.low in ARTICLES or word.text.endswith(("'s", "’s")):
            length = _length(said[at + 1 :], said[at - 1].low if at else "")
            if length and (start := _start(said, at)) is not None:
                found.append(question[start : said[at + length].end])
    bare = re.match(
        r"(?i)(?:what|who)(?:'s| is| are| was| were) ((?!the |a |an |your |our |my |it |that |this )[^?,;.]+?)\s*[?.]*$"
        r"|(?:please )?(?:tell me|what do you know|talk) about ((?!the |a |an |your |our |my )[^?,;.]+?)\s*[?.]*$",
        question,
    )
    if bare is not None and not found:
        rest = bare.group(1) or bare.group(2)
        if len(rest.split()) <= 4 and not any(w.low in LINKS | AUXILIARIES for w in words(rest)):
            found.append(rest)
    return list(dict.fromkeys(found))


def _runs(text: str) -> Iterator[Sequence[Word]]:
    said = words(text)
    at = 0
    while at < len(said):
        if not _is_capital(said[at]) or (_is_head(text, said[at]) and not _names_at_head(said, at)):
            at += 1
            continue
        end = at + 1
        while end < len(said) and text[said[end - 1].end : said[end].start] in (" ", ""):
            inner = said[end].low in INSIDE_NAMES and end + 1 < len(said) and _is_capital(said[end + 1])
            if not (inner or _is_capital(said[end]) or said[end].text.isdigit()):
                break
            end += 2 if inner else 1
        if at == 0 or said[at - 1].low not in GERMAN_ARTICLES:
            yield said[at:end]
        at = end


def _names_at_head(said: Sequence[Word], at: int) -> bool:
    low = said[at].low
    if low in ASKING or low in AUXILIARIES or low in OPENERS or low in LINKS:
        return False
    follower = said[at + 1] if at + 1 < len(said) else None
    return said[at].text.endswith(("'s", "’s")) or (
        follower is not None and (_is_capital(follower) or follower.text == "&")
    )


def _is_capital(word: Word) -> bool:
    if word.low in TITLES:
        return True
    return word.text[0].isupper() and word.low not in ("i", "i'm", "i've", "sie", "ihr", "ihnen")


def _is_head(text: str, word: Word) -> bool:
    before = text[: word.start].rstrip("\"'“‘„(¿¡ ")
    return not before or before[-1] in ".?!:;…—–\n"


def _length(after: Sequence[Word], before: str) -> int:
    """How many of the words belong to the noun; the word before its article says whether a verb follows it."""
    stop = AUXILIARIES | LINKS | ASKING | ARTICLES
    verb_follows = before in BEFORE_A_VERB
    length = 0
    for n, word in enumerate(after[:5]):
        said_of_it = before in IS and (word.low in PREDICATES or (len(word.low) > 5 and word.low.endswith("ed")))
        if word.low in stop or (n and (said_of_it or (verb_follows and word.low in VERBS))):
            return length
        length = n + 1
    if length == 5 or (verb_follows and length > 3):
        return 0
    return length - 1 if verb_follows and length > 1 else length


def _start(said: Sequence[Word], at: int) -> int | None:
    """Where the thing begins: at its article, or at the name of whose it is."""
    if said[at].low in ARTICLES:
        return None if said[at].low in ("his", "her", "its", "their") else said[at].start
    first = at
    while first and _is_capital(said[first - 1]) and said[first - 1].low not in ASKING | AUXILIARIES:
        first -= 1
    return said[first].start
