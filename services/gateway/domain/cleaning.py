"""What a visitor typed becomes a question: one line of tidy text with shorthand for the subject written out."""

import re
import unicodedata
from collections.abc import Iterable

from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.profile import Profile, Subject
from services.shared.contracts.search import Filters

_BIDI_CONTROLS = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff")
_COSTUMES = frozenset({"<font>", "<wide>", "<circle>", "<compat>"})
"""Bold, full-width, circled and joined letters, which no document is written in; m² stays what it is."""
_NOISE = re.compile(
    r"(?:<(script|style)\b[^<>]*>[^<>]*</\1\s*>\s*|</?(?:script|style|br|p|div|span|img|svg|iframe)\b[^<>]*>\s*"
    r"|\{\{\s*\w+\s*\}\}\s*|\[\d{1,3}\]\s+)+(?=.*[^\W\d_])",
    re.IGNORECASE,
)
"""Tags, places of a template and citations that came along with what was copied."""
_SENTENCE_END = re.compile(r"(?<=[.?!。？！])\s*(?=\w)")

_EDGE_BEFORE, _EDGE_AFTER = r"(?<![\w@./#-])", r"(?![\w@-])(?!\.\w)"
"""A name or pronoun inside another word, an address or a file name is left alone."""

_CAPITALISED = re.compile(r"(?<![\w'’-])[^\W\d_]\w+")

_SURNAME = re.compile(r" [A-Z][a-z]+(?![\w'’])")

_BOTH = frozenset({"her"})
"""Possessive in "her work" and not in "ask her", which the next word tells."""

_OWNED = re.compile(
    r"\s+(?!(?:in|at|on|of|for|to|from|by|with|about|as|if|when|while|and|or|but|so|because|that|than|after|before"
    r"|since|until|during|into|out|off|up|down|back|away|here|there|now|then|today|yesterday|tomorrow|again|too|also"
    r"|once|twice|first|next|more|better|well|please|is|are|was|were|do|does|did|has|have|had|will|would|can|could"
    r"|a|an|the|what|who|how|why|where|which|whether|not|\w+ly)\b)[^\W\d_]",
    re.IGNORECASE,
)
"""Something follows that can be owned."""


def clean_question(raw: str, profile: Profile, max_chars: int) -> str:
    """The question to search and write for.

    Raises: RagstoneError (question_empty, question_too_long). The length is that of the tidied question,
    before the subject's name is written out.
    """
    question = tidy(raw)
    if not any(char.isalnum() for char in question):
        raise RagstoneError(ErrorCode.QUESTION_EMPTY, "The question holds no words; write what you want to know.")
    if len(question) > max_chars:
        detail = f"The question has {len(question)} characters and may have {max_chars}; shorten it."
        raise RagstoneError(ErrorCode.QUESTION_TOO_LONG, detail)
    noise = _NOISE.match(question)
    question = _once(question[noise.end() :] if noise else question)
    return question if profile.subject is None else name_subject(question, profile.subject)


def _once(question: str) -> str:
    """A sentence that is said over and over is asked once."""
    said = _SENTENCE_END.split(question)
    return said[0] if len({one.casefold() for one in said}) == 1 else question


def tidy(raw: str) -> str:
    """NFC, white space to single blanks, control characters and halves of surrogate pairs out, letters plain."""
    kept = "".join(_readable(char) for char in raw)
    return " ".join(unicodedata.normalize("NFC", kept).split())


def holds_nul(value: object) -> bool:
    """Does any text in a JSON value hold the character that PostgreSQL refuses?"""
    if isinstance(value, str):
        return "\0" in value
    if isinstance(value, dict):
        return any(holds_nul(part) for pair in value.items() for part in pair)
    return isinstance(value, list) and any(map(holds_nul, value))


def _readable(char: str) -> str:
    if char.isspace():
        return " "
    if char in _BIDI_CONTROLS or unicodedata.category(char) in ("Cc", "Cs"):
        return ""
    tag = unicodedata.decomposition(char).partition(" ")[0]
    if tag in _COSTUMES:
        shown = unicodedata.normalize("NFKC", char)
        return shown if shown.isalnum() and (shown.isascii() or tag == "<font>") else char
    return char


def name_subject(question: str, subject: Subject) -> str:
    """Aliases and pronouns become the subject's name: "does she" asks nothing of a search, "does Ada" does.

    A pronoun stays when somebody else was named before it, since it could stand for either, and in a list
    such as she/her, which speaks of the words themselves.
    """
    said: list[str] = []
    at = 0
    for match in own_names(question, subject):
        said += [question[at : match.start()], subject.name]
        at = match.end()
    return _replace_pronouns("".join([*said, question[at:]]), subject)


def own_names(question: str, subject: Subject) -> list[re.Match[str]]:
    """Where the subject is named, in order: a first name with another surname behind it names somebody else."""
    names = _any_of([subject.name, *subject.aliases])
    own = {word for name in (subject.name, *subject.aliases) for word in name.casefold().split()}

    def is_own(match: re.Match[str]) -> bool:
        behind = None if " " in match.group() else _SURNAME.match(question, match.end())
        return behind is None or behind.group().strip().casefold() in own

    return [] if names is None else [match for match in names.finditer(question) if is_own(match)]


def _replace_pronouns(question: str, subject: Subject) -> str:
    pronouns = _any_of([*subject.pronouns.subject, *subject.pronouns.possessive])
    if pronouns is None:
        return question
    shouted = question.isupper()
    standing_alone = {word.casefold() for word in subject.pronouns.subject}
    possessive = {word.casefold() for word in subject.pronouns.possessive} - standing_alone
    another = None if shouted else _where_another_is_named(question, subject)

    def written_out(match: re.Match[str]) -> str:
        word = match.group()
        if len(word) > 1 and word.isupper() and not shouted:
            return word  # an abbreviation such as IT, not the pronoun
        if question[match.end() :].startswith("/") or (another is not None and another < match.start()):
            return word
        owns = word.casefold() not in _BOTH or _OWNED.match(question, match.end()) is not None
        return f"{subject.name}'s" if word.casefold() in possessive and owns else subject.name

    return pronouns.sub(written_out, question)


def _where_another_is_named(question: str, subject: Subject) -> int | None:
    """Where the first capitalised word in mid-sentence names somebody or something other than the subject."""
    own = {word.casefold() for name in (subject.name, *subject.aliases) for word in re.findall(r"\w+", name)}
    own |= {word.casefold() for word in (*subject.pronouns.subject, *subject.pronouns.possessive)}
    for match in _CAPITALISED.finditer(question):
        word = match.group()
        before = question[: match.start()].rstrip("\"'“‘(¿¡ ")
        starts_sentence = not before or before[-1] in ".?!:;…。？！"
        # Capitals throughout are an abbreviation (AWS), not a name that a pronoun takes up.
        if word[0].isupper() and not word.isupper() and not starts_sentence and word.casefold() not in own:
            return match.start()
    return None


def _any_of(words: Iterable[str]) -> re.Pattern[str] | None:
    """Any of the words whole, the longest first, whatever their case; None when there is none."""
    known = sorted({word.strip() for word in words if word.strip()}, key=lambda word: (-len(word), word))
    if not known:
        return None
    return re.compile(_EDGE_BEFORE + "(?:" + "|".join(map(re.escape, known)) + ")" + _EDGE_AFTER, re.IGNORECASE)


def refuse_broken_text(filters: Filters | None, expect: str | None = None) -> None:
    """Halves of surrogate pairs, which JSON can smuggle in, name no type, tag or document.

    Raises: RagstoneError (invalid_request).
    """
    if _is_broken(expect or ""):
        raise RagstoneError(ErrorCode.INVALID_REQUEST, "expect: the value holds half of a surrogate pair.")
    if filters is None:
        return
    for words in (filters.type, filters.tags, filters.document_id):
        if any(_is_broken(word) for word in ([words] if isinstance(words, str) else words or [])):
            raise RagstoneError(ErrorCode.INVALID_REQUEST, "filters: a value holds half of a surrogate pair.")


def _is_broken(word: str) -> bool:
    return any(unicodedata.category(char) == "Cs" for char in word)
