"""Questions for what a statement says of its subject: what, who, when, where, why."""

import re
from collections.abc import Iterator

from services.shared.evaluation.golden.amounts import Asked
from services.shared.evaluation.golden.clauses import Clause
from services.shared.evaluation.golden.listed import listed
from services.shared.evaluation.golden.subjects import is_clear
from services.shared.evaluation.golden.verbs import base_of_gerund, base_of_participle, past_of, third_of
from services.shared.evaluation.golden.wordings import DATE, date_wordings

_DATED = re.compile(
    rf"^(?P<before>.*?)(?:\b(?P<how>on|in|since|from|at the end of|at the beginning of)) (?P<date>{DATE})(?P<after>.*)$"
)
_BY = re.compile(
    r"^(?P<done>[a-z]+)(?P<between>(?: (?!by\b)[a-z]+){0,3}) by "
    r"(?P<who>(?:the )?[A-Z][\w&.'-]*(?: (?:&|of|and|[A-Z][\w&.'-]*))*)$"
)
_REPORTS = re.compile(r"^to (?P<who>[A-Z][\w'-]+(?: [A-Z][\w'-]+)+)$")
_IN_PLACE = re.compile(r"^(?:in|near) (?P<place>[A-Z][\w'-]+(?: [A-Z][\w'-]+)*)$")
_KIND = re.compile(r"^(?P<article>a|an|the) (?P<kind>[^,;:]+)$")
_EXPANDED = re.compile(r"(?P<name>(?:[\w'/-]+ ){1,9}[\w'/-]+) \((?:the )?(?P<short>[A-Z][A-Za-z&/]{1,8})\)")
_KIND_ENDS = re.compile(r" (?:that|which|who|whose|where|for|with|by|when|used|designed|to|in|on|from|at|you|we)\b")
_OPINIONS = listed(
    """
    good great nice common must lot bit fine perfect best better helpful useful important interesting key big large
    small way reason result goal purpose number list page place part few little question example first second third
    last only same one next new main kind type case link right wrong
    very really quite fascinating neat handy nifty more source allowed program word term thing story attempt
    """
)
_PERSONS = listed(
    """
    engineer developer manager director person lead designer founder professor teacher researcher author writer
    chief officer consultant scientist analyst citizen colleague head maintainer president commissioner
    """
)
_NO_NAME = listed("the a an your each every all any")
MEANING_WORDS = 8
"""A longer explanation comes back in other words, so that it is no fact to look for."""
_SMALL = listed(
    """
    of and for the in on to a an & with by
    """
)


def whens(clause: Clause) -> Iterator[Asked]:
    """When something happened, or since when it is so."""
    if clause.negated:
        return
    if clause.leading is not None:
        how, date = clause.leading
        past = clause.aux in ("did", "was", "were")
        if past and how in ("In", "On") and clause.rest and not re.search(DATE, clause.rest):
            yield f"When {clause.asked()}?", (tuple(date_wordings(date)),)
        return
    found = _DATED.match(clause.rest)
    if found is None:
        return
    before, after = found["before"].strip(), found["after"].strip()
    if (
        re.match(r"(?:to|and|or|through|until|-|–)\b", after)
        or re.search(DATE, after)
        or (clause.base == "be" and not before)
    ):
        return
    if before.endswith(
        ("end of", "beginning of", "start of", "quarter of", "summer of", "season of", "version", "early")
    ):
        return
    facts = (tuple(date_wordings(found["date"])),)
    if found["how"] == "since":
        if clause.aux in ("has", "have"):
            yield f"Since when {clause.asked(before)}?", facts
    elif found["how"] == "from":
        if clause.base == "be":
            yield f"From when {clause.asked(before)}?", facts
    elif clause.aux in ("did", "was", "were", "will"):
        yield f"When {clause.asked(before)}?", facts


def whats(clause: Clause) -> Iterator[Asked]:
    """What or who a named subject is, and what a code means."""
    if clause.negated or clause.leading is not None:
        return
    if clause.base == "mean" and clause.aux == "does" and clause.rest:
        meaning = clause.rest.removeprefix("that ").strip()
        whole = not clause.joiner and len(meaning.split()) <= MEANING_WORDS
        yield f"What does {clause.subject} mean?", ((meaning,),) if whole else ()
        return
    found = (
        _KIND.match(clause.rest) if clause.base == "be" and clause.aux in ("is", "was") and not clause.verb else None
    )
    words = clause.subject.split()
    if (
        found is None
        or base_of_gerund(words[0].lower())
        or len(words) > 5
        or {"of", "for", "in", "at", "to"} & set(words)
        or words[0].lower() in _NO_NAME
    ):
        return
    kind, short = found["kind"].split(), _KIND_ENDS.split(found["kind"])[0]
    told = len(kind) + len(clause.tail.split())
    if told < 5 or set(kind[:3]) & _OPINIONS or (found["article"] == "the" and (len(kind) < 4 or clause.aux == "was")):
        return
    if words[0].endswith("'s") or (len(words) > 1 and words[-2].endswith("'s")):
        return
    if set(short.lower().replace("-", " ").split()) & set(clause.subject.lower().split()):
        return
    named = all(word[0].isupper() for word in words)
    person = named and any(word.strip(",.") in _PERSONS for word in short.lower().split())
    # One word, such as "service", says too little to tell a right answer by.
    facts = ((short,),) if len(short.split()) > 1 else ()
    yield f"{'Who' if person else 'What'} {clause.aux} {clause.subject}?", facts


def whos(clause: Clause) -> Iterator[Asked]:
    """Who did it, and to whom somebody reports."""
    if clause.negated or clause.leading is not None:
        return
    if clause.base == "report" and (found := _REPORTS.match(clause.rest)):
        yield f"Who {clause.asked('to')}?", ((found["who"],),)
    if clause.base == "be" and not clause.verb and (found := _BY.match(clause.rest)):
        base = base_of_participle(found["done"])
        if base is None or (past := past_of(base)) is None:
            return
        verb = {"is": third_of(base), "are": third_of(base)}.get(clause.aux, past)
        subject = clause.subject
        yield f"Who {verb} {subject}{found['between']}?", ((found["who"].removeprefix("the "),),)


def wheres(clause: Clause) -> Iterator[Asked]:
    """Where somebody lives, or where something is."""
    if clause.negated or clause.leading is not None:
        return
    if clause.base == "live" and (found := _IN_PLACE.match(clause.rest)):
        yield f"Where {clause.asked('')}?", ((found["place"],),)
    how = re.match(r"located|based", clause.rest) if clause.base == "be" else None
    found = _IN_PLACE.match(clause.rest[how.end() + 1 :]) if how else None
    if how and found:
        yield f"Where {clause.asked(how[0])}?", ((found["place"],),)


def whys(clause: Clause) -> Iterator[Asked]:
    """Why something is so, or is not so."""
    if clause.joiner != "because" or clause.leading is not None or len(clause.tail.split()) < 4:
        return
    if not clause.rest or clause.rest.split()[-1].lower() in ("simply", "just", "partly", "only", "mostly"):
        return
    verb = f"not {clause.verb}".strip() if clause.negated else clause.verb
    words = " ".join(part for part in (clause.aux, clause.subject, verb, clause.rest) if part)
    yield f"Why {words}?", ()


def expansions(sentence: str) -> Iterator[Asked]:
    """``Paid parental leave (PPL)``: what the letters stand for."""
    for found in _EXPANDED.finditer(sentence) if "(" in sentence else ():
        name = _spelled(found["name"].split(), found["short"])
        if name:
            wordings = dict.fromkeys((name, name.replace("-", " ")))
            yield f"What does {found['short']} stand for?", (tuple(wordings),)


def _spelled(words: list[str], short: str) -> str | None:
    """The last words whose initials are the letters; None when there are none."""
    if not short.isupper() and not short[:-1].isupper():
        return None
    letters = [letter.lower() for letter in short if letter.isalpha()]
    for start in range(len(words) - 1, -1, -1):
        tail = words[start:]
        parts = [part for word in tail for part in re.split(r"[-/]", word) if part]
        for initials in (
            [part[0].lower() for part in parts if part not in _SMALL],
            [part[0].lower() for part in parts],
        ):
            if initials == letters and tail[0] not in _SMALL and tail[0][0].isalpha() and is_clear(" ".join(tail)):
                return " ".join(tail)
    return None
