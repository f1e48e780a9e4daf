"""Follow-ups that are whole sentences but for a pronoun that takes up what was asked before."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from services.gateway.domain.followups import joined
from services.gateway.domain.grammar import ASKING, AUXILIARIES, NOT_MEANT, SUBJECTS
from services.gateway.domain.mentions import Word, mentions_subject, names, own_words, things, words
from services.shared.contracts.profile import Subject

_PERSON = frozenset(["he", "him", "his", "she", "her", "hers", "er", "ihn", "ihm"])
_THING = frozenset(["it", "its", "that", "this", "es"])
_MANY = frozenset(["they", "them", "their", "theirs", "those", "these"])
_PLACE = frozenset(["there", "dort", "dorthin"])
_WITH = frozenset(["davon", "dafür", "dazu", "daran", "damit", "darüber", "darin", "darauf", "dabei"])
_POSSESSIVE = frozenset(["his", "its", "their"])
_GERMAN = frozenset(["er", "ihn", "ihm", "es", "dort", "dorthin", "sie", "das"]) | _WITH

_EXPLETIVE = re.compile(
    r"\b(?:is|was|will|would|does|did|can|could|may|might|has|isn't|won't|how long does|how long did) it"
    r"(?: be| been| also| still| really)? (?:take|takes|cost to|possible|easier|harder|fair|determined|decided|found"
    r"|discovered|known|said|believed|thought|agreed|mean (?:for|to|if|when)|true|necessary|allowed|ok|okay|safe|worth"
    r"|better|best|important|common|legal|easy|hard|difficult|rain|raining|snow|matter|make sense|seem|too late|time"
    r"|normal|required|mandatory|polite|clear|likely|customary)\b"
    r"|\b(?:what time|what day|who|what) (?:is|was) it\b(?= (?:that|who|like|now|today|to)\b|\?*$)"
    r"|\bit (?:is|was|'s|takes?|seems?|costs?) (?:\w+ ){0,2}(?:to|that|if|whether)\b"
    r"|\b(?:ist|war|wäre|wird) es (?:\w+ )?(?:möglich|erlaubt|wahr|nötig|wichtig|üblich|so|spät"
    r"|zu spät|okay|in ordnung)\b"
    r"|\b(?:gibt|gab|geht|handelt|dauert|regnet|kommt|bedeutet) es\b|\bes (?:gibt|geht|handelt|ist)\b",
    re.IGNORECASE,
)
"""An "it" that stands for nothing."""

_POINTING = re.compile(
    r"(?:\b(?:did|does|do|is|was|are|were|will|would|can|could|has|have|had|should|about|for|of|by|with|from|to|like|do"
    r"|did|on|in|at|after|before|since|know|mean|say|said|use|make|like|doing)|n't) (?P<bare>that|this|these|those)"
    r"(?=\s*(?:[?.!,;]|$)|\s+(?:take|mean|cost|work|happen|help|change|go|last|include|apply|matter|end|start|compare"
    r"|expensive|free|so|true|still|again|before|after|then|now|open|closed|available|allowed|enough|about|for|in|at"
    r"|done|possible|and|or)\b)",
    re.IGNORECASE,
)
"""This and that as pronouns, not as in "that team" or "says that"."""

_DEMONSTRATIVE = re.compile(
    r"(?:^|\b(?:in|at|on|for|of|about|with|from|by|during|after|before|is|was|are|were|does|did|do|has|had|can|could"
    r"|will|would|should|and|to|into|than|behind|under) )(?:that|this|those|these|such an?) (?!year|week|month|day"
    r"|morning|evening|afternoon|time|moment|site|website|page|portfolio|documents?|case|way|kind"
    r"|sort|type|person|man|woman|guy|company|\w+ed\b"
    r"|one\b.*\bthat|is\b|was\b|are\b|were\b|has\b|have\b|can\b|will\b|may\b|might\b|must\b|should\b|would\b)"
    r"[a-z][\w-]+(?=\s*(?:[?.!,;]|$)"
    r"|\s+(?!that\b|who\b|which\b|of\b|by\b|in\b|at\b|on\b|from\b|born\b)\w)",
    re.IGNORECASE,
)
_OTHERS = re.compile(
    r"\b(?:which (?:one|ones|of (?:them|these|those))|the (?:other|first|second|third|last|latter"
    r"|former) ones?|that one"
    r"|this one|the (?:latter|former)(?=\s*(?:[?.!,;]|$))|each of them|both of them|one of them"
    r"|none of them|the same one"
    r"|(?:after|before|since|during|until) that|back then|since then|at that time|afterwards"
    r"|what (?:happened|came) next)\b"
    r"|\b(?:davor|danach|seitdem|damals|welche davon)\b|\b(?:do|did|work|go|happen|was|were|live"
    r"|study) (?:next|then)\s*\?*$",
    re.IGNORECASE,
)
_WHAT_DOES = frozenset(
    ["caused", "causes", "happened", "happens", "makes", "made", "triggered", "killed", "inspired", "became", "changed"]
)
_OF = frozenset(["of", "to", "for", "in", "behind", "with", "about", "on", "from"])
_WHO = re.compile(r"(?:who|whose|wer|wessen)\b", re.IGNORECASE)
_WHO_IS = re.compile(r"(?:who(?:'s| is| was)|wer (?:ist|war)) ", re.IGNORECASE)
_WHAT_IS = re.compile(r"(?:what(?:'s| is| are| was)|was (?:ist|sind)|tell me about) ", re.IGNORECASE)

_LONGEST, _LONGEST_POINTING = 20, 12
"""Words of a question that takes up another; what is longer says what it means."""

_HEAD = len("was that")
_NOBODY = ""
"""What was asked before names nobody that the pronoun could mean."""


@dataclass(frozen=True)
class _Taken:
    """A pronoun that stands for something outside its question."""

    word: Word
    kind: frozenset[str]


def pronoun_made_whole(question: str, last: str, answered: Sequence[str], subject: Subject | None) -> str | None:
    """The question with its pronouns written out; with the one before it, where what they mean is not certain.

    None when it stands for itself: no pronoun, one that the profile writes out, one that stands for nothing
    ("is it possible to"), or one whose antecedent comes before it in the same question.
    """
    if len(question.split()) > _LONGEST:
        return None
    if named := _with_name(question, answered):
        return named
    taken = [(one, _meant(one, last, answered, subject)) for one in _taken_up(question, last, subject)]
    taken = [(one, meant) for one, meant in taken if meant != _NOBODY]
    if not taken:
        return joined(last, question) if _points_back(question) else None
    whole = question
    for one, meant in reversed(taken):
        if meant is None:
            return joined(last, question)
        whole = _put(whole, one, meant, last)
    return whole


def _points_back(question: str) -> bool:
    """ "Which one?", "after that", "that project": what it means is not within the question."""
    other = _OTHERS.search(question)
    if other is not None:
        return not re.search(r"[.?!;]\s", question[: other.start()])
    return len(question.split()) <= _LONGEST_POINTING and _DEMONSTRATIVE.search(question) is not None


def _taken_up(question: str, last: str, subject: Subject | None) -> list[_Taken]:
    said = words(question)
    own = own_words(subject)
    pronouns = _of_subject(subject)
    found: list[_Taken] = []
    for at, word in enumerate(said):
        kind = _kind(question, word)
        if kind is None or (word.low in pronouns and _is_of_profile(kind, last, subject)):
            continue
        known = any(one.kind is kind for one in found)
        before = said[:at]
        if known or not (_has_antecedent(before, own) or (kind is _MANY and _of_anybody(before))):
            found.append(_Taken(word, kind))
    return found


def _kind(question: str, word: Word) -> frozenset[str] | None:
    """What sort of thing the word takes up; None when it is no pronoun here."""
    low, after = word.low, question[word.end :]
    if (word.text.isupper() and len(word.text) > 1) or after.startswith(("/", "-")):
        return None
    if low in _PERSON:
        return None if low == "er" and not word.text.islower() else _PERSON
    if low in ("it", "its", "es"):
        return None if _EXPLETIVE.search(question) else _THING
    if low in ("they", "them", "their", "theirs"):
        return _MANY
    if low in ("that", "this", "these", "those"):
        pointing = any(match.start("bare") == word.start for match in _POINTING.finditer(question))
        return (_MANY if low in ("these", "those") else _THING) if pointing else None
    if low in _PLACE:
        before = words(question[: word.start])
        existential = bool(before) and before[-1].low in ("is", "are", "was", "were", "be", "been")
        ends = re.match(r"\s*(?:[?.!,;]|$|(?:too|now|today|then|anymore|still|and|or|noch|auch)\b)", after)
        return _PLACE if low != "there" or (ends and not existential) else None
    if low in _WITH:
        return _THING
    if low == "das" and re.match(r"\s*[?.!]*$", after):
        return _THING
    return _PERSON if word.text == "sie" and word.start else None


def _of_subject(subject: Subject | None) -> frozenset[str]:
    if subject is None:
        return frozenset()
    return frozenset(word.casefold() for word in (*subject.pronouns.subject, *subject.pronouns.possessive))


def _is_of_profile(kind: frozenset[str], last: str, subject: Subject | None) -> bool:
    """Does a pronoun that the profile lists mean its subject still?

    Not where the question before was about another person, or, for "it", about something else.
    """
    if mentions_subject(last, subject):
        return True
    return kind is not _THING and not (names(last, subject) and _WHO_IS.match(last))


def _has_antecedent(before: Sequence[Word], own: frozenset[str]) -> bool:
    """Does any word before the pronoun name something that it may take up?

    The verb behind a subject ("did she leave it") or behind "who" and "what" ("who founded it") does not.
    """
    verb_may_follow = False
    if len(before) > 3 and before[-1].low in _OF and before[-3].low == "the":
        before = before[:-3]  # "the price of it"
    for at, word in enumerate(before):
        low = re.sub(r"'s$", "", word.low)
        if low in ASKING:
            follower = before[at + 1].low if at + 1 < len(before) else ""
            verb_may_follow = at == 0 and (
                low in ("who", "wer") or follower in _WHAT_DOES or (low == "was" and follower.endswith("t"))
            )
        elif low in AUXILIARIES:
            verb_may_follow = low in ("have", "has", "had", "was", "were") and before[0].low in ("who", "wer")
        elif low in SUBJECTS or low in own or low in _PERSON:
            verb_may_follow = True
        elif low in NOT_MEANT or low.endswith("ly"):
            continue
        elif verb_may_follow:
            verb_may_follow = False
        else:
            return True
    return False


def _of_anybody(before: Sequence[Word]) -> bool:
    """ "Somebody ... their": they are not those of another question."""
    return any(word.low.endswith(("body", "one")) or word.low == "people" for word in before)


def _meant(one: _Taken, last: str, answered: Sequence[str], subject: Subject | None) -> str | None:
    """The only thing that the pronoun can mean; None when there are several, ``_NOBODY`` when there is none."""
    if one.word.low in _GERMAN:
        return None  # put in its place, a noun would want another ending
    if one.kind is _THING and one.word.low in _of_subject(subject):
        return None  # the profile's subject or what was asked about
    if one.kind is _PERSON:
        return _person(last, answered, subject)
    if one.word.low in ("that", "this") and one.word.start < _HEAD:
        return None  # "Is that still true?" speaks of what was said, not of a thing
    named = names(last, subject)
    if one.kind is _PLACE:
        places = re.findall(r"\b(?:in|at|for|near|from) ([A-ZÄÖÜ][\w&'-]*(?: (?:& )?[A-ZÄÖÜ][\w&'-]*)*)", last)
        candidates = [place.removesuffix("'s") for place in places] or named
        return candidates[0] if len(set(candidates)) == 1 else None
    every = list(dict.fromkeys([*named, *(thing for thing in things(last) if not _holds_any(thing, named))]))
    if one.kind is _MANY:
        every = [thing for thing in every if thing in named or re.search(r"[^s]s$", thing)]
    if len(every) != 1 or (every[0].startswith(("a ", "an ")) and not _WHAT_IS.match(last)):
        return None  # "How do I book a boat? Can I cancel it?" speaks of the booking
    return f"the {every[0]}" if f" the {every[0]}" in last else every[0]


def _person(last: str, answered: Sequence[str], subject: Subject | None) -> str | None:
    named = names(last, subject)
    if _WHO.match(last):
        candidates = named if _WHO_IS.match(last) else [*named, *answered]
        return candidates[0] if len(candidates) == 1 else None
    if len(named) == 1 and len(named[0].split()) > 1 and "&" not in named[0]:
        return named[0]
    return None if named and not _WHAT_IS.match(last) else _NOBODY


def _holds_any(thing: str, named: Sequence[str]) -> bool:
    return any(name in thing for name in named)


def _put(question: str, one: _Taken, meant: str, last: str) -> str:
    word = one.word
    after = question[word.end :]
    text = meant
    if one.kind is _PLACE:
        text = f"in {meant}" if f" in {meant}" in last else f"at {meant}"
    elif word.low in _POSSESSIVE or (word.low == "her" and re.match(r"\s+(?!in\b|at\b|on\b|for\b|to\b)\w", after)):
        text = f"{meant}'" if meant.endswith("s") else f"{meant}'s"
    elif word.low in ("hers", "theirs"):
        text = f"{meant}'s"
    if word.start == 0:
        text = text[:1].upper() + text[1:]
    return question[: word.start] + text + after


def _with_name(question: str, answered: Sequence[str]) -> str | None:
    """ "Where did she work after that?" with the one name of the answer in place of "that"."""
    if len(answered) != 1:
        return None
    named, times = re.subn(r"(?i)\b(after|before|since|during|until) that\b", rf"\1 {answered[0]}", question)
    return named if times == 1 else None
