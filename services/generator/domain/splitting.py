"""Plain compound questions taken apart by rule, in English and German.

Only where nothing has to be guessed: both sides of the joint are direct questions of their own, and a pronoun in the
second is given the one name that it can mean. In doubt the question stays whole; it is searched as it is anyway.
"""

import re

PARTS_MAX = 3
PART_LENGTH_MAX = 200

_AUX = (
    r"(?:is|are|was|were|do|does|did|can|could|may|must|should|will|would|has|have|had)(?:n't)?"
    r"|isn't|aren't|doesn't|don't|can't"
)
_SUBJECT = r"(?:the|a|an|there|this|that|these|those|any|all|it|they|he|she|I|you|we|my|your|our|[A-Z][\w-]*)"
_ENGLISH = (
    rf"(?:when|where|why)\s+(?:{_AUX})\b"
    rf"|how\s+(?:\w+\s+){{0,3}}(?:{_AUX})\b|how\s+many\s+\w+\s+\w+"
    r"|(?:what|which|whose|who|whom)\s+(?!(?:the|a|an|it|they|he|she|I|you|we|my|your|our|about|if)\b)\w+"
    rf"|(?:{_AUX})\s+{_SUBJECT}\b"
)
_GERMAN_WORD = r"(?:wann|woher|wohin|womit|wozu|wo|wer|wen|wem|wessen|was|warum|wieso|weshalb|wie|welche[rsnm]?)"
_GERMAN_VERB = r"(?:gibt|hat|haben|ist|sind|war|waren|wird|werden|kann|können|darf|dürfen|muss|müssen|soll|sollen)"
_GERMAN = rf"{_GERMAN_WORD}\s+\w+\s+\w+|{_GERMAN_VERB}\s+(?:es|der|die|das|ein|eine|man|ich|wir|[A-ZÄÖÜ]\w+)\b"

_JOINT = re.compile(
    rf"\s*,?\s+(?:(?i:and|or|and\s+also|as\s+well\s+as)\s+(?={_ENGLISH})|(?i:und|oder|sowie)\s+(?={_GERMAN}))"
    rf"|\s*,\s+(?=(?i:what|how|why|when|where)\s+(?:{_AUX})\b|how\s+(?:much|many|long|often|far)\b"
    rf"|(?:wie|wann|wo|warum)\s+\w+\s)"
)
_DIRECT = re.compile(rf"(?:{_ENGLISH}|{_GERMAN})", re.IGNORECASE)
_TWO_WORDS = re.compile(
    r"(?P<one>when|where|why|how)\s+and\s+(?P<two>when|where|why|how)\s+(?P<rest>.+)"
    r"|(?P<eins>wann|wo|warum|wie)\s+und\s+(?P<zwei>wann|wo|warum|wie)\s+(?P<von>.+)",
    re.IGNORECASE,
)
_FRAME = re.compile(
    r"(?:(?:can|could|would|will)\s+you|do\s+you\s+know|please|tell|explain|kannst|können\s+sie|weißt|wissen\s+sie)\b",
    re.IGNORECASE,
)
_RELATIVE = re.compile(r"(?<=\s)(?:who|whom|whose|which|that|where|when|how|what|why|if|whether)\b", re.IGNORECASE)
_PRONOUN = re.compile(
    r"\b(?:it|its|he|she|they|his|him|her|hers|their|them|theirs|this|these|those|that|one|ones|there|then|both"
    r"|er|sie|es|ihn|ihm|ihr|ihre[rsnm]?|seine?[rsnm]?|dort|dies|diese[rsnm]?|davon|dafür|darin|damit|beide)\b",
    re.IGNORECASE,
)
_HARMLESS = re.compile(
    rf"\b(?:{_AUX}|gibt|gab)\s+(?:there|es)\b|\b(?:is|was)\s+it\s+(?:possible|true)\b", re.IGNORECASE
)
_AS_NAME = re.compile(r"\b(?:it|he|she|him|er|ihn|ihm)\b", re.IGNORECASE)
_AS_OWNER = re.compile(r"\b(?:its|his)\b", re.IGNORECASE)
_CLAUSE_LIKE = re.compile(rf"(?:who|whom|whose|which|{_AUX})\b", re.IGNORECASE)
_WHO_WAS = re.compile(r"(?:who|which)\s+(?:is|was|are|were)\b", re.IGNORECASE)
_NAMED = r"(?P<name>[A-ZÄÖÜ][\w&.-]*(?:\s+[A-ZÄÖÜ0-9][\w&.-]*)*)"
_NAME = re.compile(rf"(?P<before>\S+)\s+(?!I\b){_NAMED}")
_BESIDE = re.compile(
    r"(?:in|at|on|from|to|of|for|with|by|near|into|under|over|about|since|until|during|after|before|between|and|or|than"
    r"|im|am|bei|von|vom|mit|nach|aus|auf|für|seit|zu|zum|zur|und|oder)",
    re.IGNORECASE,
)
_VERB_BEFORE = re.compile(rf"(?:{_AUX}|that|ist|war|hat|wurde|wird)", re.IGNORECASE)
_PERSON = re.compile(r"\b(?:he|she|him|his|er|ihn|ihm)\b", re.IGNORECASE)
_OTHER_THING = re.compile(r"\b(?:the|a|an|our|your|my)\s", re.IGNORECASE)
_OWNED = re.compile(r"['’]s\b|s['’]\s", re.IGNORECASE)
_THAT_CLAUSE = re.compile(r"(?<=\w)\s+that\s+(?=[A-Z]\w)")
_GERMAN_ARTICLE = re.compile(r"\b(?:der|die|das|den|dem|des|ein|eine[rsnm]?)\b", re.IGNORECASE)


def split(question: str) -> tuple[str, ...]:
    """The questions that one text asks, at most PARTS_MAX, or none where it is not plainly several."""
    text = " ".join(question.split())
    if twice := _TWO_WORDS.fullmatch(text.rstrip("?!. ")):
        first, second, rest = (group for group in twice.groups() if group)
        return _whole([f"{first} {rest}", f"{second} {rest}"]) if len(rest.split()) > 1 else ()
    asked = [one for one in re.split(r"(?<=[?？])\s+", text) if one]
    if len(asked) > 1:
        questions = [re.split(r"(?<=[.!])\s+", one)[-1] for one in asked if one.rstrip().endswith(("?", "？"))]
        parts = [part for one in questions for part in (_joined(one) or [one])]
    else:
        parts = _joined(text) or []
    if len(parts) < 2:
        return ()
    named = _with_names(parts)
    return _whole(named) if named else ()


def _joined(question: str) -> list[str] | None:
    """The sides of the joints in one question; None where one side is no direct question by itself."""
    text = question.rstrip("?？!. ")
    if _FRAME.match(text):
        return None
    sides = _JOINT.split(text)
    if len(sides) < 2:
        return None
    for at, side in enumerate(sides):
        if not _DIRECT.match(side) or len(side.split()) < 3:
            return None
        if at < len(sides) - 1 and _may_go_on(side, sides[at + 1]):
            return None
    return sides


def _may_go_on(side: str, next_side: str) -> bool:
    """Whether what follows may be a clause of the same question.

    "the person who founded the yard and who lives in it"; "Who was the owner and who died in 2007?"
    """
    if not _CLAUSE_LIKE.match(next_side):
        return False
    return _RELATIVE.search(side) is not None or _WHO_WAS.match(side) is not None


def _with_names(parts: list[str]) -> list[str] | None:
    """The parts with pronouns replaced by the one name of the first; None where that is not certain."""
    named = []
    for at, part in enumerate(parts):
        if not _PRONOUN.search(_THAT_CLAUSE.sub(" ", _HARMLESS.sub("", part))):
            named.append(part)
            continue
        name = _only_name(parts[0], person=_PERSON.search(part) is not None)
        if at == 0 or name is None or _HARMLESS.search(part):
            return None
        replaced = _AS_OWNER.sub(f"{name}'s", _AS_NAME.sub(name, part))
        if _PRONOUN.search(replaced):
            return None
        named.append(replaced)
    return named


def _only_name(part: str, *, person: bool) -> str | None:
    """The one name in a part that a pronoun can mean; None where there are several things that it could mean.

    A person has to be the one who is asked about ("is Mara …", "does Mara …"): behind any other word a name may be a
    place or a month.
    """
    if _GERMAN_ARTICLE.search(part) or _OWNED.search(part) or (_OTHER_THING.search(part) and not person):
        return None
    found = list(_NAME.finditer(part))
    if len({match["name"] for match in found}) != 1:
        return None
    if _BESIDE.fullmatch(found[0]["before"]) or (person and not _VERB_BEFORE.fullmatch(found[0]["before"])):
        return None
    return found[0]["name"]


def _whole(parts: list[str]) -> tuple[str, ...]:
    """Each as a question that stands for itself; none where they are too many to search or one is too long."""
    whole = list(dict.fromkeys(f"{part[:1].upper()}{part[1:]}".rstrip("?？!. ") + "?" for part in parts))
    fits = 1 < len(whole) <= PARTS_MAX and all(len(part) <= PART_LENGTH_MAX for part in whole)
    return tuple(whole) if fits else ()
