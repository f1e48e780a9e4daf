"""Questions for the numbers in a statement: how many, how long, how much, how often."""

import re
from collections.abc import Iterator

from services.shared.evaluation.golden.clauses import Clause, split_rest
from services.shared.evaluation.golden.listed import listed
from services.shared.evaluation.golden.subjects import is_clear
from services.shared.evaluation.golden.wordings import MONTHS, NUMBER, number_wordings

Asked = tuple[str, tuple[tuple[str, ...], ...]]
"""A question and the facts of its answer."""

_ABOUT = (
    r"(?:about|some|roughly|around|approximately|up to|a maximum of|a minimum of|at least|at most|no more than"
    r"|more than|less than|fewer than|only|nearly|almost|over|exactly|just)"
)
_N = rf"(?:{NUMBER.pattern})(?: (?:hundred|thousand|million|billion)\b)?"
_TIME = r"(?:second|minute|hour|day|week|month|year|working day|business day)s?"
_SPAN = rf"(?:{_N}) {_TIME}(?: (?:{_N}) {_TIME})?"
_COUNT = re.compile(rf"^(?:{_ABOUT} )?(?P<n>{_N}) (?P<thing>[A-Za-z][^,;:()]*)$")
_COUNT_BEHIND = re.compile(
    rf"^(?P<before>[^,;:()]*?)\b(?P<how>for|to|into|within) (?:{_ABOUT} )?(?P<n>{_N}) "
    r"(?P<thing>[A-Za-z][^,;:()]*)$"
)
_SPAN_ALONE = re.compile(rf"^(?:{_ABOUT} )?(?P<span>{_SPAN})(?P<post>(?: [^,;:()]*)?)$")
_SPAN_BEHIND = re.compile(rf"^(?P<before>[^,;:()]+?) for (?:{_ABOUT} )?(?P<span>{_SPAN})(?P<post>(?: [^,;:()]*)?)$")
_OFTEN = re.compile(
    rf"^(?P<before>[^,;:()]+?) (?P<how>every (?:(?:{_N}|other) )?(?:day|week|month|year|quarter|hour|minute)s?"
    rf"|(?:once|twice|three times) (?:a|per) (?:day|week|month|year|quarter))$"
)
_THERE = re.compile(rf"^There (?P<be>are|were) (?:{_ABOUT} )?(?P<n>{_N}) (?P<thing>[a-z][^,;:()]*)$")
_FROM_TO = re.compile(
    rf"^from (?:{_ABOUT} )?(?P<old>(?:{_N})[^,;:()]{{0,20}}?) to (?:{_ABOUT} )?"
    rf"(?P<new>(?:{_N})(?:%|(?: [a-z]+)?(?: {_N} [a-z]+)?))"
    r"(?: (?:at|in|on|by|per|within|of)\b.*)?$"
)
_VALUE = re.compile(r"^(?:[A-Z]{3} |[$€£])?[A-Za-z]{0,3}\d[\w.,:%/-]*(?: (?:%|percent|[a-z]{1,12}))?$")
_PREPOSITIONS = listed(
    """
    for to from in on at by with per during within as into through over under across including and or before after
    when if that which who a every each between without based against out off up down ago since until about whether
    what how where whose why while unless
    """
)
_CLAUSES = listed("whether if that which who what how when where whose why while until unless")
_CHANGES = listed(
    """
    fall drop decrease grow rise increase improve shrink sink
    """
)
_LASTS = listed(
    """
    take last
    """
)


def amounts(clause: Clause) -> Iterator[Asked]:
    """What can be asked for the numbers in this clause. One question at most makes sense of each clause."""
    rest = clause.rest
    if clause.base == "exceed":
        return
    if clause.base == "be":
        yield from _of_being(clause)
        return
    if clause.base in _CHANGES and (found := _FROM_TO.match(rest)):
        old, new = found["old"].strip(), found["new"].strip()
        yield f"By how much {clause.asked('')}?", _change(old, new)
    elif found := _SPAN_ALONE.match(rest):
        post = found["post"].strip()
        if clause.base in _LASTS and not post.startswith(("of", "and", "or")):
            yield f"How long {clause.asked(post)}?", (_span_wordings(found["span"]),)
        elif clause.base not in _LASTS:
            yield from _counted(clause, rest)
    elif (found := _SPAN_BEHIND.match(rest)) and not found["post"].strip().startswith(("of", "and", "or", "to")):
        yield f"For how long {clause.asked(found['before'] + found['post'])}?", (_span_wordings(found["span"]),)
    elif (found := _OFTEN.match(rest)) and not re.search(rf"\b(?:{_N})\b", found["before"]):
        yield f"How often {clause.asked(found['before'])}?", ((found["how"],),)
    else:
        yield from _counted(clause, rest)


def there_are(sentence: str) -> Iterator[Asked]:
    """``There are 12 desks in the office``."""
    rest, _, _ = split_rest(sentence.rstrip(".").split())
    if found := _THERE.match(rest):
        thing, post = _thing(found["thing"])
        if thing and post:
            wordings = tuple(number_wordings(found["n"], _unit(thing)))
            yield f"How many {thing} {found['be']} there {post}?", (wordings,)


def _of_being(clause: Clause) -> Iterator[Asked]:
    if (found := _SPAN_ALONE.match(clause.rest)) and not found["post"].strip():
        if not clause.subject[0].isdigit() and clause.aux in ("is", "was"):
            yield f"How long {clause.asked('')}?", (_span_wordings(found["span"]),)
    elif _VALUE.match(clause.rest) and clause.aux in ("is", "was") and not re.match(r"(?:19|20)\d\d$", clause.rest):
        money = re.match(r"[A-Z]{3} |[$€£]", clause.rest)
        yield f"{'How much' if money else 'What'} {clause.asked('')}?", (_wordings(clause.rest),)


def _counted(clause: Clause, rest: str) -> Iterator[Asked]:
    if found := _COUNT.match(rest):
        thing, post = _thing(found["thing"])
        if thing:
            wordings = tuple(number_wordings(found["n"], _unit(thing)))
            yield f"How many {thing} {clause.asked(post)}?", (wordings,)
    elif found := _COUNT_BEHIND.match(rest):
        thing, post = _thing(found["thing"])
        before = found["before"].strip()
        near = len(before.split()) <= 3 and (clause.base != "be" or before)
        if thing and near and is_clear(before) and not re.search(rf"\b(?:{_N})\b", before):
            wordings = tuple(number_wordings(found["n"], _unit(thing)))
            words = " ".join(part for part in (before, post) if part)
            yield f"{found['how'].capitalize()} how many {thing} {clause.asked(words)}?", (wordings,)


def _thing(words: str) -> tuple[str, str]:
    """What is counted, and the words behind it; nothing when that cannot be told."""
    tokens = words.split()
    end = next((n for n, token in enumerate(tokens) if token.lower() in _PREPOSITIONS), len(tokens))
    thing, post = tokens[:end], tokens[end:]
    if post and post[0].lower() in _CLAUSES:
        return "", ""
    head = thing[: thing.index("of")] if "of" in thing else thing
    named = any(token in MONTHS for token in thing)
    if post[:1] in (["a"], ["per"], ["each"]) and len(post) > 1 and re.fullmatch(_TIME, post[1]):
        thing, post = [*thing, *post[:2]], post[2:]
    if (
        not head
        or named
        or thing[-1] == "of"
        or thing[0] == "of"
        or len(thing) > 8
        or (not head[-1].endswith("s") and head[-1] not in ("people", "staff"))
    ):
        return "", ""
    if post and post[0].lower() in ("and", "or", "to", "that", "which", "who", "as", "ago", "before", "after"):
        post = []
    return " ".join(thing), " ".join(post)


def _unit(thing: str) -> str:
    """The word that follows the number in most wordings."""
    return re.split(r" (?:of|a|per|each) ", thing)[0]


def _wordings(value: str) -> tuple[str, ...]:
    found = re.match(rf"^({_N}) ?(.*)$", value)
    return tuple(number_wordings(found[1], found[2])) if found and not found[2].startswith("%") else (value,)


def _change(old: str, new: str) -> tuple[tuple[str, ...], ...]:
    """``from 40 to 25 minutes``: the first has the unit of the second."""
    unit = new.partition(" ")[2]
    if re.fullmatch(_N, old) and unit:
        return (*(f"{form} to" for form in _wordings(old)), *_wordings(f"{old} {unit}")), _wordings(new)
    return _wordings(old), _wordings(new)


def _span_wordings(span: str) -> tuple[str, ...]:
    found = re.fullmatch(rf"({_N}) ({_TIME})", span)
    return tuple(dict.fromkeys([span, *number_wordings(found[1], found[2])])) if found else (span,)
