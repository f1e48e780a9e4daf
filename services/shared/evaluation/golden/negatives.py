"""Questions whose right answer is no: the document says that it is not so."""

import re
from collections.abc import Iterator

from services.shared.evaluation.golden.amounts import Asked
from services.shared.evaluation.golden.clauses import Clause
from services.shared.evaluation.golden.listed import listed

_ADVISING = listed("should may might must could")
_SHORT = {"will": "won't", "can": "can't", "do": "don't"}
_CONDITIONAL = listed(
    """
    until unless if when where while before after whereas
    """
)


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
    if (clause.base == "be" and not rest) or len(rest.split()) + len(clause.verb.split()) < 2:
        return
    if re.match(r"(?:only|just|necessarily|yet|all|always|as)\b", rest) or re.search(
        r"\b(?:yet|necessarily|anymore)$", rest
    ):
        return
    if re.match(r"(?:only|just|necessarily|always|yet)\b", clause.verb):
        return
    question = " ".join(word for word in (clause.aux, clause.subject, verb, rest) if word)
    yield question[:1].upper() + question[1:] + "?", (tuple(_wordings(clause)),)


def _wordings(clause: Clause) -> list[str]:
    """The negation in the words that deny it, and a plain no."""
    verb = clause.verb.split()[-1] if clause.verb else ""
    short = _SHORT.get(clause.aux, f"{clause.aux}n't")
    forms = [f"{word} {verb}".strip() for word in (f"{clause.aux} not", short, "not")]
    if verb:
        forms += [f"never {verb}", f"{clause.aux} never"]
    if clause.verb == "have":
        forms += ["has no", "have no", "had no", "without"]
    if clause.aux == "can":
        forms.append(f"cannot {verb}")
    return list(dict.fromkeys([*forms, "no"]))
