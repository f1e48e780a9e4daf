"""What a visitor typed becomes a question: one line of tidy text with shorthand for the subject written out."""

import re
import unicodedata
from collections.abc import Iterable

from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.profile import Profile, Subject
from services.shared.contracts.search import Filters

_BIDI_CONTROLS = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff")
_EDGE_BEFORE, _EDGE_AFTER = r"(?<![\w@./#-])", r"(?![\w@-])(?!\.\w)"
"""A name or pronoun inside another word, an address or a file name is left alone."""

_CAPITALISED = re.compile(r"(?<![\w'’-])[^\W\d_]\w+")

_AFTER_OBJECT_HER = re.compile(
    r"about|after|and|as|at|because|before|but|by|can|could|did|do|does|during|else|for|from|had|has|have|how|if|in"
    r"|into|is|like|of|on|or|over|should|since|so|than|that|the|then|through|to|today|under|until|was|were|what|when"
    r"|where|which|while|who|why|will|with|without|would|yet",
    re.IGNORECASE,
)
"""Words that follow "her" where it stands for a person ("tell me about her in short"), not for "of hers"."""


def clean_question(raw: str, profile: Profile, max_chars: int) -> str:
    """The question to search and write for.

    Raises: RagstoneError (question_empty, question_too_long). The length is that of the tidied question,
    before the subject's name is written out.
    """
    question = tidy(raw)
    if not question:
        raise RagstoneError(ErrorCode.QUESTION_EMPTY, "The question holds no text; write what you want to know.")
    if len(question) > max_chars:
        detail = f"The question has {len(question)} characters and may have {max_chars}; shorten it."
        raise RagstoneError(ErrorCode.QUESTION_TOO_LONG, detail)
    return question if profile.subject is None else name_subject(question, profile.subject)


def tidy(raw: str) -> str:
    """NFC, white space to single blanks, control characters and halves of surrogate pairs out."""
    kept = "".join(_readable(char) for char in raw)
    return " ".join(unicodedata.normalize("NFC", kept).split())


def _readable(char: str) -> str:
    if char.isspace():
        return " "
    if char in _BIDI_CONTROLS or unicodedata.category(char) in ("Cc", "Cs"):
        return ""
    return char


def name_subject(question: str, subject: Subject) -> str:
    """Aliases and pronouns become the subject's name: "does she" asks nothing of a search, "does Ada" does.

    Pronouns stay when the question names the subject itself and somebody else too, since they could
    stand for either.
    """
    names = _any_of([subject.name, *subject.aliases])
    named = names is not None and names.search(question) is not None
    if names is not None:
        question = names.sub(lambda _: subject.name, question)
    if named and _names_another(question, subject):
        return question
    return _replace_pronouns(question, subject)


def _replace_pronouns(question: str, subject: Subject) -> str:
    shouted = question.isupper()
    possessive = {word.casefold() for word in subject.pronouns.possessive}
    pronouns = _any_of([*subject.pronouns.subject, *subject.pronouns.possessive])
    if pronouns is None:
        return question

    def written_out(match: re.Match[str]) -> str:
        word = match.group()
        if len(word) > 1 and word.isupper() and not shouted:
            return word  # an abbreviation such as IT, not the pronoun
        if word.casefold() not in possessive or _is_object(word, question[match.end() :]):
            return subject.name
        return f"{subject.name}'s"

    return pronouns.sub(written_out, question)


def _is_object(word: str, rest: str) -> bool:
    """English "her" is both possessive ("her work") and object ("about her"); what follows tells which."""
    if word.casefold() != "her":
        return False
    following = re.match(r"\s+([^\W_]+)", rest)
    return following is None or _AFTER_OBJECT_HER.fullmatch(following.group(1)) is not None


def _names_another(question: str, subject: Subject) -> bool:
    """Does a capitalised word in mid-sentence name somebody or something other than the subject?"""
    own = {word.casefold() for name in (subject.name, *subject.aliases) for word in re.findall(r"\w+", name)}
    for match in _CAPITALISED.finditer(question):
        before = question[: match.start()].rstrip("\"'“‘(¿¡ ")
        starts_sentence = not before or before[-1] in ".?!:;…。？！"
        if match.group()[0].isupper() and not starts_sentence and match.group().casefold() not in own:
            return True
    return False


def _any_of(words: Iterable[str]) -> re.Pattern[str] | None:
    """Any of the words whole, the longest first, whatever their case; None when there is none."""
    known = sorted({word.strip() for word in words if word.strip()}, key=lambda word: (-len(word), word))
    if not known:
        return None
    return re.compile(_EDGE_BEFORE + "(?:" + "|".join(map(re.escape, known)) + ")" + _EDGE_AFTER, re.IGNORECASE)


def refuse_broken_text(filters: Filters | None) -> None:
    """Halves of surrogate pairs, which JSON can smuggle in, name no type, tag or document.

    Raises: RagstoneError (invalid_request).
    """
    if filters is None:
        return
    for words in (filters.type, filters.tags, filters.document_id):
        for word in [words] if isinstance(words, str) else words or []:
            if any(unicodedata.category(char) == "Cs" for char in word):
                raise RagstoneError(ErrorCode.INVALID_REQUEST, "filters: a value holds half of a surrogate pair.")
