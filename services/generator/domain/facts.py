"""Does a claim state a fact that its evidence does not hold? By rule: the rules can only forbid, never support.

Numbers with their units, dates, times, codes, addresses and names of the claim must stand in the evidence, and the
sentence of the evidence that is closest to the claim must not deny what the claim says, nor the other way round.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from services.generator.domain import polarity, terms
from services.generator.domain.dates import Date, without_dates
from services.generator.domain.quantities import Quantities, Quantity, quantities
from services.generator.domain.sentences import split
from services.generator.domain.units import STRICT_UNITS

ALIKE = 0.5
"""Least share of the claim's words in a sentence of the evidence before the two are held to speak of the same."""
TOGETHER = 0.6
"""With less than this share of its words in one sentence, a claim is held against all of a short evidence too."""
DENIED_SHARE = 1 / 3
"""A claim contradicts a denial that covers this share of the words it has in common with it."""

_GERMAN = re.compile(r"\b(?:der|die|das|und|ist|nicht|mit|ein|eine|für|von|auf)\b", re.IGNORECASE)
_INITIAL_NO_NAME = re.compile(r".*(?:ly|ing|ed|s|ion|ment|ness|ity|al|er|or)$")
_CODE = re.compile(r"(?<![\w/.])(?=[\w.+/-]*[^\W\d_])(?=[\w.+/-]*\d)[#§]?[^\W_]+(?:[.+/_-]+[^\W_]+)*")
_ADDRESS = re.compile(r"(?:https?://|www\.)\S+|\S+@\S+")
_WITH_DIGITS = re.compile(r"[^\s(\[]*\d[^\s)\]]*")
_CORRECTED = re.compile(r",\s*(?:and )?not [^,.;:]{1,40}(?=[,.;:]|$)")
"""In "It fell to 212 ms, not 121" the second figure is the question's mistake."""
_FROM_TO = re.compile(r"\bfrom (?:about )?(\d[\d.,]*)[^.;,]{0,20}? to (?:about )?(\d[\d.,]*)")
_DECADE = re.compile(r"(\d{3})0['’]?s")


def faults(claim: str, evidence: str, known: str = "") -> list[str]:
    """What is wrong with ``claim``, each as a short text for a trace; empty where no rule objects.

    ``known`` are names that need no source, such as the persona and the title that the evidence stands under.
    """
    given = f"{known}\n{evidence}" if known else evidence
    claim = _CORRECTED.sub("", claim)
    return [
        *_unknown_quantities(claim, given),
        *_unknown_codes(claim, given),
        *_unknown_names(claim, given),
        *_contrary(claim, evidence),
    ]


def _unknown_quantities(claim: str, evidence: str) -> Iterator[str]:
    said, given = quantities(_DECADE.sub(" ", claim)), quantities(evidence)
    for date in said.dates:
        if not _date_is_given(date, given):
            yield f"date: {date.spelling} is not in the source"
    for decade in _DECADE.finditer(claim):
        if not re.search(rf"(?<!\d){decade[1]}\d(?!\d)", evidence):
            yield f"date: {decade.group()} is not in the source"
    for readings, spelling in said.times:
        if not any(readings & other for other, _ in given.times):
            yield f"time: {spelling} is not in the source"
    for number in said.numbers:
        if wrong := _wrong_number(number, given):
            yield f"number: {number.spelling} {wrong}"


def _unknown_codes(claim: str, evidence: str) -> Iterator[str]:
    addresses = {one.casefold().rstrip("/") for one in terms.addresses(evidence)}
    for address in sorted(terms.addresses(claim)):
        if address.casefold().rstrip("/") not in addresses:
            yield f"address: {address} is not in the source"
    codes = [match.group() for match in _CODE.finditer(_ADDRESS.sub(" ", claim))]
    known = _known_codes(evidence) if codes else set()
    for code in codes:
        if not _is_measure(code) and not known & _code_parts(code, whole=True):
            yield f"code: {code} is not in the source"


def _date_is_given(date: Date, given: Quantities) -> bool:
    if any(date.is_said_by(other) for other in given.dates):
        return True
    if date.month and date.day and date.year:
        without = Date(0, date.month, date.day, date.spelling, date.swapped)
        return any(without.is_said_by(one) and not one.year for one in given.dates) and any(
            one.year == date.year for one in given.dates
        )
    return not date.month and any(date.year in one.values and not one.unit for one in given.numbers)


def _wrong_number(number: Quantity, given: Quantities) -> str:
    same = [one for one in given.numbers if one.values & number.values]
    if not same:
        years = {date.year for date in given.dates} | {date.day for date in given.dates}
        return "" if not number.unit and any(value in years for value in number.values) else "is not in the source"
    numbered = [one for one in given.numbers if number.label and one.label == number.label]
    if numbered and not any(one.values & number.values for one in numbered):
        return f"is another {number.label} in the source, which says {numbered[0].spelling}"
    if number.unit:
        if any(one.unit == number.unit or (not one.unit and number.unit in given.units) for one in same):
            return ""
        return "has another unit in the source"
    if all(one.unit in STRICT_UNITS for one in same):
        return "has a unit in the source"
    counted = {terms.words(word)[0] for word in number.counted if terms.words(word)}
    if counted and not any(counted & _stems(one) for one in same):
        others = [one for one in given.numbers if counted & _stems(one)]
        if others and not any(one.values & number.values for one in others):
            return f"counts something else in the source, which says {others[0].spelling}"
    return ""


def _stems(number: Quantity) -> set[str]:
    return {stem for word in number.counted for stem in terms.words(word)}


def _is_measure(code: str) -> bool:
    """Whether the code is a number that carries its unit, such as 40ms, or an ordinal, such as 3rd."""
    return re.fullmatch(r"[\d.,'’/-]+(?:st|nd|rd|th|[^\W\d_]{1,3}|%)?(?:[/-][^\W\d_]+)*", code) is not None


def _known_codes(evidence: str) -> set[str]:
    found: set[str] = set()
    for token in re.findall(r"[^\W_]+(?:[.+/_-]+[^\W_]+)*", evidence):
        found |= _code_parts(token, whole=False)
    for word, number in re.findall(r"(?<!\w)([^\W\d_]+) (\d[\w.]*\w|\d)", evidence):
        found |= {f"{word}{number}".casefold(), number.casefold()}
    return found


_RUN = 8
"""Longest run of a code's parts that is looked at: a long path has too many."""


def _code_parts(token: str, *, whole: bool) -> set[str]:
    """The code without hyphens and a leading v; for a source also each run of its parts (il-6 of il-6-positive)."""
    parts = re.split(r"[-/_]+", token.casefold())
    if whole:
        while len(parts) > 1 and parts[-1].isalpha() and len(parts[-1]) > 3:
            parts.pop()
        return {"".join(parts), "".join(parts).removeprefix("v")}
    runs = {"".join(parts[at:to]) for at in range(len(parts)) for to in range(at + 1, min(at + _RUN, len(parts)) + 1)}
    return runs | {run.removeprefix("v") for run in runs}


def _unknown_names(claim: str, evidence: str) -> Iterator[str]:
    if _is_german(claim):
        return
    folded = evidence.casefold()
    words = set(re.findall(r"[^\W_]+", folded))
    stems = set(terms.words(folded))
    names = terms.names(_WITH_DIGITS.sub(" ", without_dates(claim)))
    unknown = sorted(name for name in names if not _name_is_known(name, words, stems, evidence))
    if not unknown and (initial := _initial_name(claim, words, stems)):
        unknown = [initial]
    for name in unknown:
        yield f"name: {name} is not in the source"


def _name_is_known(name: str, words: set[str], stems: set[str], evidence: str) -> bool:
    parts = [part for part in re.findall(r"[^\W_]+", name) if part not in terms.STOP_WORDS]
    if "-" in name:
        parts = parts[:1]  # HIV-positive: the rest is an ordinary word
    if all(part in words or any(stem in stems for stem in terms.words(part)) for part in parts):
        return True
    plain = name.removesuffix("s") if len(name) > 3 else name
    return name.isalpha() and 2 <= len(plain) <= 6 and (plain in _acronyms(evidence) or plain in words)


@lru_cache(maxsize=64)
def _acronyms(text: str) -> frozenset[str]:
    """First letters of each two to six neighbouring words."""
    found: set[str] = set()
    for pattern in (r"[^\W\d_]+", r"[^\W\d_]+(?:-[^\W\d_]+)*"):
        letters = "".join(word[0] for word in re.findall(pattern, text.casefold()))
        found |= {letters[at : at + size] for size in range(2, 7) for at in range(len(letters) - size + 1)}
    return frozenset(found)


def _initial_name(claim: str, words: set[str], stems: set[str]) -> str:
    """A name at the sentence's start, told by all the rest being known: another subject was put in its place."""
    match = re.match(r"[\W_]*([A-ZÀ-ÖØ-Þ][a-zà-öø-ÿ]+)\b(?!['’]\w)", claim)
    if not match:
        return ""
    word = match[1].casefold()
    rest = set(terms.words(claim[match.end() :]))
    known = word in words or word in terms.STOP_WORDS or any(stem in stems for stem in terms.words(word))
    if known or _INITIAL_NO_NAME.fullmatch(word) or len(rest) < 2 or not rest <= stems:
        return ""
    return word


def _is_german(text: str) -> bool:
    return len(_GERMAN.findall(text)) * 6 >= len(text.split())


def _contrary(claim: str, evidence: str) -> Iterator[str]:
    """Denials, opposites and overstatements against the sentences that speak of the same thing."""
    wanted = set(terms.words(claim))
    if not wanted:
        return
    near = _nearest(claim, wanted, evidence)
    if not near:
        if polarity.denies(claim) and not polarity.denies(evidence):
            yield "negation: the claim denies, the source does not"
        return
    found = [list(_against(claim, sentence)) for sentence in near]
    yield from min(found, key=len)


def _nearest(claim: str, wanted: set[str], evidence: str) -> list[str]:
    """The sentences of the evidence with the most of the claim's words, and all of it where it is short."""
    texts = [evidence[one.start : one.end] for one in split(evidence)]
    shares = [len(wanted & set(terms.words(text))) / len(wanted) for text in texts]
    best = max(shares, default=0.0)
    if best < ALIKE:
        return [evidence] if len(texts) <= 3 and terms.overlap(claim, evidence) >= ALIKE else []
    near = [text for text, share in zip(texts, shares, strict=True) if share >= best - 0.1]
    if 1 < len(texts) <= 3 and best < TOGETHER:
        near.append(evidence)
    return near


def _against(claim: str, sentence: str) -> Iterator[str]:
    yield from _wrongly_denied(claim, sentence)
    denies = polarity.denies(claim), polarity.denies(sentence)
    for said, given in polarity.opposed(claim, sentence):
        if denies[0] == denies[1] and _agreement(claim, said, sentence, given) >= 0:
            yield f"opposite: {said} where the source says {given}"
            break
    if more := polarity.overstated(claim, sentence):
        yield f"quantifier: {more} is more than the source says"
    for word in ("before", "after", "than"):
        if _exchanged(claim, sentence, word):
            yield f"order: the two sides of {word} are exchanged"
    from_to, there = _FROM_TO.findall(claim), _FROM_TO.findall(sentence)
    if any((to, start) in there and (start, to) not in there for start, to in from_to):
        yield "order: from and to are exchanged"


def _wrongly_denied(claim: str, sentence: str) -> Iterator[str]:
    denied_here, denied_there = polarity.denied(claim), polarity.denied(sentence)
    asserted_here, asserted_there = polarity.asserted(claim), polarity.asserted(sentence)
    twice = polarity.denied_twice(claim), polarity.denied_twice(sentence)
    if twice[0] != twice[1]:
        # Two denials assert; who denies once what is denied twice says the opposite.
        if denied_here and denied_there and len(denied_here & denied_there) * 2 >= len(denied_here):
            yield "negation: the claim and the source deny a different number of times"
        return
    if denied_here and not denied_here & denied_there:
        inverse = any(polarity.same_denied_otherwise(word, asserted_there) for word in denied_here)
        if denied_here & asserted_there and not inverse:
            yield "negation: the claim denies what the source says"
        elif not denied_there and not inverse and not (denied_here & asserted_there):
            yield "negation: the claim denies, the source does not"
    common = asserted_here & (denied_there | asserted_there)
    turned = (common & denied_there) - asserted_there
    much = common and len(turned) / len(common) >= DENIED_SHARE and not denied_here
    if much and not any(polarity.same_denied_otherwise(word, asserted_here) for word in denied_there):
        yield "negation: the source denies what the claim says"


def _sides(text: str, word: str) -> tuple[set[str], set[str]] | None:
    parts = re.split(rf"\b{re.escape(word)}\b", text, flags=re.IGNORECASE)
    return (set(terms.words(parts[0])), set(terms.words(parts[1]))) if len(parts) == 2 else None


def _agreement(claim: str, said: str, sentence: str, given: str) -> int:
    """Above 0 where what stands before and behind the two words is the same, under 0 where it is exchanged.

    "A before B" is "B after A".
    """
    here, there = _sides(claim, said), _sides(sentence, given)
    if not here or not there:
        return 0
    straight = len(here[0] & there[0]) + len(here[1] & there[1])
    return straight - len(here[0] & there[1]) - len(here[1] & there[0])


def _exchanged(claim: str, sentence: str, word: str) -> bool:
    here, there = _sides(claim, word), _sides(sentence, word)
    if not here or not there or not here[1] & there[0]:
        return False
    return _agreement(claim, word, sentence, word) < 0 and not polarity.opposed(claim, sentence)
