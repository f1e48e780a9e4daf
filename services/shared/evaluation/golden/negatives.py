"""Questions whose right answer is no: the document says that it is not so."""

import re
from collections.abc import Iterator

from services.shared.evaluation.golden.amounts import Asked
from services.shared.evaluation.golden.clauses import Clause, clause_of
from services.shared.evaluation.golden.listed import listed
from services.shared.evaluation.golden.verbs import past_of, third_of

_ADVISING = listed("should may might must could")
_SHORT = {"will": "won't", "can": "can't", "do": "don't"}
_CONDITIONAL = listed(
    """
    until unless if when where while before after whereas
    """
)
_DENIAL = re.compile(r"\b(?:not|never|no|cannot|[a-z]+n't)\b")
_ARTICLE = re.compile(r"^(?:an?|any) ")


def yes_or_no(clause: Clause, sentence: str) -> Iterator[Asked]:
    """``Has X …?`` of ``X has not …``; nothing where the negation holds under a condition only."""
    if not clause.negated or clause.joiner in _CONDITIONAL or clause.leading is not None or clause.aux in _ADVISING:
        return
    # "Not without approval" is a yes with approval.
    if re.search(r"\b(?:without|unless|until|except)\b", clause.tail):
        return
    never = re.search(r"\bnever\b", sentence) is not None
    verb = (
        f"ever {clause.verb}"
        if never and clause.aux in ("has", "have", "had", "did", "does", "do", "was")
        else clause.verb
    )
    rest = clause.rest
    if not rest or len(rest.split()) + len(clause.verb.split()) < 2:
        return
    if re.match(r"(?:only|just|necessarily|yet|all|always|as)\b", rest) or re.search(
        r"\b(?:yet|necessarily|anymore)$", rest
    ):
        return
    if re.match(r"(?:only|just|necessarily|always|yet)\b", clause.verb):
        return
    literal = _as_it_stands(clause, sentence)
    if literal is None:
        return
    question = " ".join(word for word in (clause.aux, clause.subject, verb, rest) if word)
    wordings = dict.fromkeys([literal, *_wordings(clause)])
    yield question[:1].upper() + question[1:] + "?", (tuple(wordings),)


def affirmations(sentence: str) -> tuple[str, ...]:
    """What the sentence denies, affirmed: words that no right answer holds. Nothing where they cannot be formed."""
    clause = clause_of(sentence)
    if clause is None or not clause.negated or re.match(r"any\b", clause.rest):
        return ()
    verb = clause.verb.split()[-1] if clause.verb else ""
    said = {"does": _third(clause.base), "did": past_of(clause.base)}.get(clause.aux, f"{clause.aux} {verb}".strip())
    return (f"{said} {clause.rest}",) if said and clause.aux != "do" else ()


def _third(base: str) -> str:
    return "has" if base == "have" else third_of(base)


def _as_it_stands(clause: Clause, sentence: str) -> str | None:
    """The sentence's own words from the denial to the end of the clause; None when they are not found."""
    end = re.escape(_ARTICLE.sub("", clause.rest))
    found = re.search(rf"{_DENIAL.pattern}.*?{end}", sentence)
    return found[0] if found else None


def _wordings(clause: Clause) -> Iterator[str]:
    """The denial in other words, each with the verb and what is denied: "not" alone denies anything."""
    verb, rest = clause.verb.split()[-1] if clause.verb else "", clause.rest
    forms = [clause.aux + " not", _SHORT.get(clause.aux, f"{clause.aux}n't"), "not", "never"]
    yield from (" ".join(f"{form} {verb}".split()) + f" {rest}" for form in forms)
    if clause.aux == "can":
        yield f"cannot {verb} {rest}"
    if clause.aux == "does":
        yield f"never {_third(clause.base)} {rest}"
    if clause.aux == "did" and (past := past_of(clause.base)):
        yield f"never {past} {rest}"
    if clause.verb == "have":
        thing = _ARTICLE.sub("", rest)
        yield from (f"{denial} {thing}" for denial in ("no", "without", "without any", "without a"))
