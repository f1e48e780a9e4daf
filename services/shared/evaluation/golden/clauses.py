"""The main clause of an English statement, taken apart far enough to be asked for one of its parts.

Conservative on purpose: a sentence that this module does not take apart gives no question.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from services.shared.evaluation.golden.articles import with_article
from services.shared.evaluation.golden.listed import listed
from services.shared.evaluation.golden.subjects import DETERMINERS, NO_SUBJECT, is_plural, is_subject
from services.shared.evaluation.golden.verbs import also_a_noun, base_of_participle, finite_form, past_of
from services.shared.evaluation.golden.wordings import DATE, NUMBER

BE = listed(
    """
    is are was were
    """
)
HAVE = listed(
    """
    has have had
    """
)
MODALS = listed(
    """
    can could may might must should will would
    """
)
FINITE = (
    BE
    | HAVE
    | MODALS
    | listed(
        """
    do does did cannot can't won't isn't aren't hasn't haven't doesn't don't
    """
    )
)
ADVERBS = listed(
    """
    already always automatically also currently generally typically usually often still now only then previously
    recently originally sometimes normally once actually mainly mostly therefore thus primarily officially
    """
)
_DROPPED = listed(
    """
    also then therefore thus already once now
    """
)
_ENDS = listed(
    """
    because since which who whose where when while although though but so unless until if whereas after before
    """
)
_NEGATIONS = frozenset(("not", "never", "no"))
_NO_ADVERB = listed(
    "apply supply reply rely comply imply only early daily weekly monthly yearly likely family assembly"
)
_LEADING = re.compile(rf"^(?P<how>In|On|Since|By) (?:early |late |mid-)?(?P<date>{DATE}),? (?=[A-Z])")


@dataclass(frozen=True)
class Clause:
    """Who does what: ``{aux} {subject} {verb} {rest}?`` is the statement turned round."""

    subject: str
    aux: str
    verb: str
    """As it follows the subject in a question; empty after a form of be."""
    base: str
    """The verb's plain form; be for a form of be."""
    rest: str
    joiner: str
    """What ends the clause: a comma, because, and so on; empty at the sentence's end."""
    tail: str
    negated: bool
    leading: tuple[str, str] | None
    """A date before the clause: ("In", "March 2019")."""

    def asked(self, rest: str | None = None, subject: str | None = None) -> str:
        """The statement turned round, without a question word or mark."""
        words = (self.aux, subject or self.subject, self.verb, self.rest if rest is None else rest)
        return " ".join(word for word in words if word)


def clause_of(sentence: str) -> Clause | None:
    """The sentence's first clause; None when it is not a plain statement of a named subject."""
    text = sentence.rstrip(".!")
    found = _LEADING.match(text)
    leading = (found["how"], found["date"]) if found else None
    tokens = (text[found.end() :] if found else text).split()
    for at in range(1, min(len(tokens), 10)):
        if tokens[at - 1][-1] in ",;:" or tokens[at - 1] in ("-", "–", "—", "--"):
            return None
        if not _may_be_finite(tokens, at):
            continue
        subject = tokens[:at]
        spare: list[str] = []
        while len(subject) > 1 and subject[-1].lower() in ADVERBS | {"never"}:
            spare.insert(0, subject.pop().lower())
        return _taken_apart(subject, spare, tokens[at:], leading) if is_subject(subject) else None
    return None


def split_rest(tokens: Sequence[str]) -> tuple[str, str, str]:
    """The words up to the clause's end, what ends it, and what comes after."""
    for n, token in enumerate(tokens):
        word = token.lower().strip("\"'()")
        if token in ("-", "–", "—", "--") or (word in _ENDS and not _is_date(tokens[n + 1 :], word)):
            return " ".join(tokens[:n]), word, " ".join(tokens[n + 1 :])
        if word == "and" and _goes_on(tokens[n + 1 :]):
            return " ".join(tokens[:n]), word, " ".join(tokens[n + 1 :])
        if token[-1] in ",;:" and not _inside_brackets(tokens[: n + 1]) and not _date_comma(tokens, n):
            return " ".join([*tokens[:n], token[:-1]]), token[-1], " ".join(tokens[n + 1 :])
    return " ".join(tokens), "", ""


def _taken_apart(
    subject: Sequence[str], spare: list[str], tokens: Sequence[str], leading: tuple[str, str] | None
) -> Clause | None:
    """``tokens`` begin with the finite verb; ``spare`` are the adverbs before it."""
    first = tokens[0].lower().rstrip(",;:")
    ended = tokens[0][-1] in ",;:"
    negated = "never" in spare or first in ("cannot", "can't", "won't") or first.endswith("n't")
    adverbs = [word for word in spare if word != "never" and word not in _DROPPED]
    first = {"cannot": "can", "can't": "can", "won't": "will"}.get(first, first.removesuffix("n't"))
    after = 1
    if first in FINITE and not ended:
        while after < len(tokens) and (tokens[after].lower() in ADVERBS | _NEGATIONS or _is_adverb(tokens[after])):
            word = tokens[after].lower()
            if word == "no" and not (first in HAVE and after == 1):
                return None
            negated = negated or word in ("not", "never", "no")
            if word == "no":
                after += 1
                break
            if word not in _NEGATIONS | _DROPPED:
                adverbs.append(word)
            after += 1
    parts = _verb_parts(subject, first, list(tokens[1:]) if ended else list(tokens[after:]), tokens, after)
    if parts is None:
        return None
    aux, verb, base, remaining = parts
    rest, joiner, tail = ("", tokens[0][-1], " ".join(tokens[1:])) if ended else split_rest(remaining)
    rest = re.sub(r"\s*\([^()]*\)$", "", rest)
    # In small letters only: May is a month.
    if {word.strip(",") for word in rest.split()} & FINITE and base != "mean":
        return None
    if aux in ("do", "have", "are", "were") and not is_plural(subject) and subject[0].lower() != "you":
        return None
    verb = " ".join([*adverbs, verb]).strip()
    return Clause(" ".join(subject), aux, verb, base, rest, joiner, tail, negated, leading)


def _verb_parts(
    subject: Sequence[str], first: str, remaining: list[str], tokens: Sequence[str], after: int
) -> tuple[str, str, str, list[str]] | None:
    """Auxiliary, verb as it is asked, its plain form, and the words after it."""
    if first in BE:
        return first, "", "be", remaining
    if first in HAVE:
        participle = remaining[0].lower().rstrip(",;:") if remaining else ""
        if base := base_of_participle(participle):
            return first, remaining[0], base, remaining[1:]
        aux = {"has": "does", "have": "do", "had": "did"}[first]
        if len(tokens) > 1 and tokens[after - 1].lower() == "no":
            thing = split_rest(remaining)[0].split()
            remaining = [*with_article(thing).split(), *remaining[len(thing) :]] if thing else []
        return (aux, "have", "have", remaining) if remaining else None
    if first in MODALS or first in ("do", "does", "did"):
        verb = remaining[0] if remaining else ""
        return (first, verb, verb.rstrip(",;:"), remaining[1:]) if re.fullmatch(r"[a-z]+[,;:]?", verb) else None
    form = finite_form(first)
    if form is None:
        return None
    if form.kind == "past":
        if past_of(form.base) == form.base and is_plural(subject):
            return None
        return "did", form.base, form.base, remaining
    return ("does" if form.kind == "s" else "do"), form.base, form.base, remaining


def _may_be_finite(tokens: Sequence[str], at: int) -> bool:
    word = tokens[at].lower().rstrip(",;:")
    if tokens[at][0].isupper():
        return False
    if word in FINITE:
        return True
    form = finite_form(word)
    if form is None:
        return False
    following = tokens[at + 1].lower().strip("\"'(") if at + 1 < len(tokens) else ""
    sure = following in DETERMINERS or NUMBER.match(following) is not None or tokens[at + 1 : at + 2] == ["to"]
    if form.kind == "past":
        return True
    if form.kind == "s":
        return not is_plural(tokens[:at]) and (sure or not also_a_noun(word))
    return (is_plural(tokens[:at]) or tokens[0].lower() == "you") and (sure or tokens[0].lower() == "you")


def _is_adverb(word: str) -> bool:
    return word.endswith("ly") and word not in _NO_ADVERB and len(word) > 4


def _is_date(tokens: Sequence[str], word: str) -> bool:
    """``since March 2019`` and the like belong to the clause."""
    ahead = " ".join(tokens[:3])
    return word in ("since", "until", "after", "before") and re.match(DATE, ahead) is not None


def _goes_on(tokens: Sequence[str]) -> bool:
    """Does a second clause begin behind this ``and``?"""
    for token in tokens[:2]:
        word = token.lower().rstrip(",")
        if word in FINITE or word in ("never", "not"):
            return True
        form = finite_form(word)
        sure = not also_a_noun(word) or set(tokens[1:2]) & (DETERMINERS | {"to"})
        if form is not None and form.kind in ("past", "s") and sure:
            return True
        if word not in ADVERBS:
            break
    following = [token.lower() for token in tokens[:3]]
    return bool(following) and (
        following[0] in NO_SUBJECT - {"other", "others"} or len(set(following[1:]) & FINITE) > 0
    )


def _inside_brackets(tokens: Sequence[str]) -> bool:
    text = " ".join(tokens)
    return text.count("(") > text.count(")")


def _date_comma(tokens: Sequence[str], n: int) -> bool:
    """``March 2, 2023``."""
    return tokens[n][0].isdigit() and n + 1 < len(tokens) and re.match(r"(?:19|20)\d\d\b", tokens[n + 1]) is not None
