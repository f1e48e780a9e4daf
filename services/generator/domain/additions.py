"""What a sentence adds to its source: a word that stands nowhere in it, or one sentence made of two of the source's.

Stricter than entailment, on purpose: a writer that copies loses nothing by it, and one that embroiders is given the
source's own sentence in its place. A measure of meaning cannot stand here: "The buoy is blue" is close to "is red".
"""

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise

from services.generator.domain import terms
from services.generator.domain.sentences import split
from services.generator.domain.wording import leans_back

_GENERAL_LIST = (
    "thing way part person people someone somebody time example case fact reason kind type number name called known"
    " include including mention mentions mentioned state states stated say says said describe describes described"
    " have has had make makes made get gets got give gives given take takes taken use uses used using provide provides"
    " offer offers offered work works worked working follow follows following several total current currently also"
    " overall specific particular certain available able well both together among additionally furthermore moreover"
    " finally first second third next located based"
)
_GENERAL = frozenset(word for text in _GENERAL_LIST.split() for word in terms.words(text))
"""Words that say next to nothing, in whatever sentence."""
_SAME_LIST = (
    "live lives lived living resides reside resided|begin begins began begun start starts started|end ends ended"
    " finish finishes finished|company employer firm|job position role post|big large|small little|buy bought"
    " purchase purchased|build built create created develop developed|write wrote written author authored|lead led"
    " leads head headed|help helps helped assist|fast quick quickly|costs cost price priced|speak speaks spoke talk"
    " talks|town city|per each every|euro euros eur|dollar dollars usd|percent per cent"
    "|hold holds held holding|keep keeps kept|find finds found|win wins won"
)
_SAME = [frozenset(word for text in group.split() for word in terms.words(text)) for group in _SAME_LIST.split("|")]
_HEDGES_LIST = (
    "hardly barely almost nearly approximately roughly about may might could would should must unless if until because"
    " formerly false untrue wrong mistaken immediately instantly hourly daily weekly monthly yearly annually twice"
    " permanently temporarily previously alone optional mandatory free every all only no never always"
)
_HEDGE = re.compile(rf"(?<![\w'-])(?:{'|'.join(_HEDGES_LIST.split())}|used to)(?![\w'-])")
"""Words that change a fact wherever they stand: the source has to say them too. Lower case: May is a month."""
_WEAKER = re.compile(r"(?<![\w'-])(?:hardly|barely|almost|nearly|may|might|could|unless|formerly|used to)(?![\w'-])")
"""Words that a sentence must not lose."""
_PART = re.compile(r";|,(?=\s)|\b(?:and|but|while|whereas|which|who|und|aber|sowie)\b", re.IGNORECASE)
_NAME = re.compile(r"(?<![\w'’-])[A-ZÀ-ÖØ-Þ][\w'’-]*\w")
_NUMBERS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_DIGITS = {stem: str(value) for value, word in enumerate(_NUMBERS) for stem in terms.words(word)}
_AKIN = 0.8
_SAME_HEDGES: tuple[tuple[str, ...], ...] = (
    ("every", "each", "all", "daily"),
    ("approximately", "roughly", "about", "around", "some"),
    ("no", "never", "not", "none", "nobody"),
    ("must", "has to", "have to", "required"),
    ("if", "when"),
)


def added(claim: str, evidence: Sequence[str], known: str) -> list[str]:
    """What the claim says beyond its evidence; empty: nothing.

    Each telling word has to stand in the evidence, up to its ending, or among the ``known`` words of the headings and
    the subject's names. Where no single sentence or row of the evidence holds them all, each part of the claim has to
    find one that holds the part's, with the name that the first part spoke of.
    """
    text = claim
    for address in terms.addresses(claim):
        text = text.replace(address, " ")
    units = [unit for place in evidence for unit in _units(place)]
    everywhere = {*_words(known)} | _GENERAL
    open_words = [word for word in terms.words(text) if not _held(word, everywhere)]
    stands = {word for unit in units for word in unit.words}
    wrong = [f"added: {word} is not in the source" for word in open_words if not _held(word, stands)]
    wrong += _new_hedges(text, " ".join(evidence))
    wrong += _names(text, " ".join([*evidence, known]))
    whole = [unit for unit in units if unit.holds(open_words)]
    if wrong or any(not unit.lost(text) for unit in whole):
        return wrong
    if whole:
        return [f"added: the source says {whole[0].lost(text)}"]
    return [
        f"joined: {' '.join(part)} stand in different sentences of the source"
        for part in _parts(text, everywhere)
        if not any(unit.holds(part) for unit in units)
    ]


@dataclass(frozen=True)
class _Unit:
    """A sentence or row of the evidence; one that leans back has the words of the one before it too."""

    words: frozenset[str]
    text: str

    def holds(self, words: Sequence[str]) -> bool:
        return all(_held(word, self.words) for word in words)

    def lost(self, claim: str) -> str:
        """A word that makes its fact weaker and that the claim leaves out, or nothing."""
        said = claim.casefold()
        lost = (word for word in _WEAKER.findall(self.text) if not re.search(rf"(?<![\w'-]){word}(?![\w'-])", said))
        return next(lost, "")


def _units(evidence: str) -> Iterator[_Unit]:
    previous: frozenset[str] = frozenset()
    for one in split(evidence):
        text = evidence[one.start : one.end]
        own = frozenset(_words(text))
        yield _Unit(own | previous if leans_back(text) else own, text)
        previous = own


def _parts(claim: str, everywhere: Set[str]) -> Iterator[list[str]]:
    """The telling words of each clause or item, led by the name that the claim began with where it has none itself."""
    subject: list[str] = []
    for at, part in enumerate(_PART.split(claim)):
        words = [word for word in terms.words(part) if not _held(word, everywhere)]
        names = {stem for name in _NAME.findall(part) for stem in terms.words(name)}
        own = [word for word in words if word in names or _is_code(word)]
        if at == 0:
            subject = own[:1]
        if words:
            yield words if own or at == 0 else [*subject, *words]


def _new_hedges(claim: str, evidence: str) -> Iterator[str]:
    given = evidence.casefold()
    for hedge in dict.fromkeys(_HEDGE.findall(claim)):
        if not re.search(rf"(?<![\w'-]){re.escape(hedge)}(?![\w'-])", given) and not _same_hedge(hedge, given):
            yield f"added: {hedge} is not in the source"


def _same_hedge(hedge: str, given: str) -> bool:
    return any(hedge in group and any(re.search(rf"\b{other}\b", given) for other in group) for group in _SAME_HEDGES)


def _names(claim: str, evidence: str) -> Iterator[str]:
    """Full names whose words the source holds, but not side by side."""
    given = {(one.casefold(), two.casefold()) for one, two in pairwise(re.findall(r"[\w'’-]+", evidence))}
    singles = {word for pair in given for word in pair}
    for match in re.finditer(rf"{_NAME.pattern}(?: {_NAME.pattern})+", claim):
        for one, two in pairwise(match.group().casefold().split()):
            two = re.sub(r"['’]s$", "", two)
            if (
                not re.search(r"['’]s?$", one)
                and {one, two} <= singles
                and (one, two) not in given
                and (one, f"{two}'s") not in given
            ):
                yield f"joined: {one} {two} is no name of the source"


def _words(text: str) -> list[str]:
    """The words of a text, and of "front-end" or "about/bio.txt" the parts too."""
    parts = terms.words(re.sub(r"[-/_.]", " ", text))
    return [*terms.words(text), *parts, *(_DIGITS[word] for word in parts if word in _DIGITS)]


def _is_code(word: str) -> bool:
    return any(letter.isdigit() for letter in word) and any(letter.isalpha() for letter in word)


def _held(word: str, known: Set[str]) -> bool:
    if word in known or any(terms.akin(word, other) >= _AKIN for other in known):
        return True
    return any(word in group and group & known for group in _SAME) or _DIGITS.get(word) in known
