"""Follow-ups that are no sentence of their own: "why?", "who else?", "and in Berlin?", "what about 2024?"."""

import re

from services.gateway.domain.grammar import ASKING, AUXILIARIES, GOES_ON
from services.gateway.domain.mentions import names, words
from services.shared.contracts.profile import Subject

_ADVERB = (
    r"since when|until when|for how long|how long|how often|how so|how come|why not|what for|why|when|where|how"
    r"|seit wann|bis wann|wie lange|wie oft|warum nicht|warum|wieso|weshalb|wann|wo|wozu|woher|wohin|wie"
)
_BARE = re.compile(
    rf"(?:and |but |so |und |aber |ok |okay )*(?P<ask>{_ADVERB}|who|whom|(?:with|by|for|from|to|about) (?:who|whom|what"
    r"|where)|how much|how many|which(?: ones?)?|what (?:kind|sort|type)|whose|(?:mit|von|für) wem"
    r"|wer|wen|wem|wie viele?"
    r"|welche[rsn]?)(?: exactly| then| genau| denn)?",
    re.IGNORECASE,
)
_ELSE = re.compile(r"(?:and |but |so )?(?P<ask>who|what|where|when|how|why) else", re.IGNORECASE)
_MORE = re.compile(
    r"(?:and |und |ok |okay |please |bitte )*(?:anything else|(?:then )?what happened(?: next| then| afterwards)?"
    r"|(?:could|can) you (?:please )?(?:give|show)(?: me| us)? (?:an |some |more )?(?:examples?|details?)"
    r"|(?:an? )?examples?|what more|more|(?:some )?more details?|tell me more"
    r"|(?:and )?what else|go on|continue|(?:can|could) you elaborate|elaborate|in (?:more )?detail|for example"
    r"|for instance|such as|like what|(?:wer|was|wo|wann) (?:sonst )?noch|noch (?:etwas|mehr|jemand)"
    r"|sonst noch (?:etwas|was"
    r"|jemand)|(?:erzähl(?:e)?|sag) mir mehr(?: davon| dazu| darüber)?|mehr(?: dazu| davon| darüber)?|weiter"
    r"|genauer|zum beispiel|anything more|any others?|any more|the others?|the rest)(?: about (?:it|that|this|them))?"
    r"(?: please| bitte)?",
    re.IGNORECASE,
)
_SURE = re.compile(
    r"(?:but |so |aber )?(?:are you (?:really |quite )?(?:sure|certain)|really|is (?:that"
    r"|this) (?:really )?(?:true|right"
    r"|correct|so)|wirklich|stimmt das|sicher|bist du (?:dir )?sicher|ist das (?:wahr|richtig|so))",
    re.IGNORECASE,
)
_LATER = re.compile(
    r"(?:and |but |und |aber )?(?:(?:what|where|who|how|was|wer|wo) (?:came|comes|was|is|were"
    r"|happened|happens|about|kam"
    r"|kommt|war|geschah|passierte) )?(?P<when>(?:right |just |shortly |long )?(?:before|after|since|during|until)"
    r" (?:that|this|then)|before|after(?:wards)?|later(?: on)?|earlier|previously|then|next|now"
    r"|nowadays|today|in between"
    r"|davor|danach|vorher|nachher|zuvor|dann|später|früher|seitdem|seither|inzwischen|heute|jetzt|dazwischen)",
    re.IGNORECASE,
)
_ABOUT = re.compile(
    r"(?:and |but |so |ok |okay |und |aber )?(?:what about|how about|what of"
    r"|(?:the )?same (?:question )?for|was ist mit|wie ist es mit|wie wäre es mit"
    r"|wie sieht es (?:mit|in|bei)(?= )|und was ist mit|et)\s+(?P<rest>.+?)(?: aus)?",
    re.IGNORECASE,
)
_AND = re.compile(r"(?:and|or|but|und|oder|aber)\s+(?:also |only |auch |nur )?(?P<rest>.+)", re.IGNORECASE)
_PLACED = re.compile(
    r"(?:ok |okay |so |and |or |but |und |only |even |also |not |just |nur |auch |sogar )*(?P<rest>(?P<link>in|at"
    r"|on|for|with|from|during"
    r"|since|until|by|under|without|im|am|bei|mit|für|seit|bis|ohne|ab|vor|nach)\s+.+)",
    re.IGNORECASE,
)
_WHICH = re.compile(
    r"(?:and |but |und )?(?:(?:in|at|on|for|with|from|by|to|of|mit|bei|für|von|seit|aus) )?(?:which"
    r"|what|how many|how much"
    r"|whose|welche[rsnm]?|was für|wie viele?)\s+(?P<rest>[\w-]+)(?: exactly| genau)?"
    r"|(?:and )?any (?:other|more) [\w-]+",
    re.IGNORECASE,
)
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_DAY = re.compile(
    r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|weekdays?|weekends?"
    r"|(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)s?)\b",
    re.IGNORECASE,
)
_MONTH = re.compile(
    r"\b(?:january|february|march|april|june|july|august|september|october|november|december|januar|februar|märz"
    r"|juni|juli|oktober|dezember)\b",
    re.IGNORECASE,
)
_SEASON = re.compile(r"\b(?:spring|summer|autumn|winter|frühling|sommer|herbst)\b", re.IGNORECASE)
_TIME_LINK = r"(?:in|on|at|since|until|before|after|by|during|im|am|seit|bis|vor|nach|ab)"
_GERMAN_VERB = re.compile(r"[A-ZÄÖÜ]\w+ \w*[a-zäöüß](?:t|en)$")
"""A participle at the end, as in "was ist mit Kosten verbunden"."""

_LONGEST = 6
"""Words of a fragment; what is longer says what it means."""

_VERBAL = re.compile(
    r"(?:\w{3,}ed|happened|happens|works?|knows?|means?|matters?|comes?|goes|went|did|costs?|changed)$"
)


def fragment_made_whole(question: str, last: str, answered: list[str], subject: Subject | None) -> str | None:
    """The whole question for a fragment; None when it is none.

    ``last`` is the question before, whole itself, and ``answered`` the names that its answer held.
    """
    said = question.strip(" ?.!…")
    if match := _BARE.fullmatch(said):
        return _asked_anew(match["ask"], last) or joined(last, question)
    if match := _ELSE.fullmatch(said):
        return _with_else(match["ask"], last) or joined(last, question)
    if _SURE.fullmatch(said):
        return last
    if _MORE.fullmatch(said):
        return joined(last, question)
    if match := _LATER.fullmatch(said):
        return _in_time(match["when"], last, answered) or joined(last, question)
    match = _ABOUT.fullmatch(said)
    if match and len(match["rest"].split()) <= _LONGEST and not _GERMAN_VERB.search(match["rest"]):
        return _exchanged(match["rest"], last, subject) or joined(last, question)
    return _loose(question, said, last, subject)


def joined(last: str, question: str) -> str:
    """Both, the question before first: what cannot be put into one sentence by rule."""
    earlier = last.split(" — ")
    # A chain of fragments keeps its first whole question and what came right before.
    head = " — ".join([earlier[0], *earlier[1:][-1:]]).rstrip(" ?.!")
    return f"{head} — {_small(question)}" + ("" if question.endswith(("?", "!", ".")) else "?")


def _loose(question: str, said: str, last: str, subject: Subject | None) -> str | None:
    """Fragments that only their shape tells: few words, no verb, and a question mark or an "and"."""
    if len(said.split()) > _LONGEST or any(word.low in AUXILIARIES for word in words(said)):
        return None
    if (match := _WHICH.fullmatch(said)) and not _VERBAL.search((match["rest"] or "").casefold()):
        return joined(last, question)
    if any(word.low in ASKING for word in words(said)):
        return None
    placed = _PLACED.fullmatch(said)
    if placed and (question.rstrip().endswith("?") or said.split()[0].casefold() in ("and", "or", "but", "und")):
        return _exchanged(placed["rest"], last, subject) or f"{last.rstrip(' ?.!')} {placed['rest']}?"
    match = _AND.fullmatch(said)
    if match and not _VERBAL.search(said.split()[1].casefold()):
        return _exchanged(match["rest"], last, subject) or joined(last, question)
    return None


def _asked_anew(ask: str, last: str) -> str | None:
    """The question before with another question word: "When did it close?" and "why?"."""
    if " — " in last or not re.fullmatch(_ADVERB, ask, re.IGNORECASE):
        return None
    if ask.casefold() in ("how so", "how come", "why not", "what for"):
        return None
    head = re.match(rf"(?:{_ADVERB})\s+(?=(\w+))", last, re.IGNORECASE)
    if head is not None and head.group(1).casefold() in AUXILIARIES:
        return f"{ask.capitalize()} {last[head.end() :]}"
    said = words(last)
    if said and said[0].low in AUXILIARIES:
        return f"{ask.capitalize()} {_small(last)}"
    return None


def _with_else(ask: str, last: str) -> str | None:
    said = words(last)
    if " — " in last or len(said) < 2 or said[0].low != ask.casefold():
        return None
    if said[1].low not in AUXILIARIES and said[0].low != "who":
        return None
    return f"{said[0].text} else{last[said[0].end :]}"


def _in_time(when: str, last: str, answered: list[str]) -> str | None:
    """ "And before that?" after an answer that held one name: before what bears it."""
    link = re.fullmatch(r"(.*(?:before|after|since|during|until)) (?:that|this|then)", when, re.IGNORECASE)
    if link is None or len(answered) != 1 or " — " in last:
        return None
    return f"{last.rstrip(' ?.!')} {link.group(1).lower()} {answered[0]}?"


def _exchanged(rest: str, last: str, subject: Subject | None) -> str | None:
    """The question before with one thing in place of the only one of its kind: a year, a day, a name."""
    if " — " in last:
        return None
    for kind in (_YEAR, _DAY, _MONTH, _SEASON):
        new, old = kind.findall(rest), kind.findall(last)
        if len(new) == 1 and len(old) == 1 and re.fullmatch(rf"(?:{_TIME_LINK} )?{new[0]}", rest, re.IGNORECASE):
            return _time_exchanged(rest, new[0], old[0], last)
    if whom := _whom_exchanged(rest, last):
        return whom
    new_names = names(f"x {rest}", None)
    if len(new_names) != 1:
        return None
    link = rest[: rest.index(new_names[0].split()[0])].strip()
    if f"{link} {new_names[0]}".strip().casefold() != rest.strip().casefold():
        return None
    return _name_exchanged(link, new_names[0], last, subject)


def _whom_exchanged(rest: str, last: str) -> str | None:
    """ "For children" in place of "for adults" at the question's end."""
    new = re.fullmatch(r"((?:for|with|without|für|mit|ohne) )(.+)", rest, re.IGNORECASE)
    old = new and re.fullmatch(rf"(?i:(.*\b{new[1]}))([\w -]+)(\??)", last)
    return f"{old[1]}{new[2]}{old[3]}" if new and old and last.casefold().count(f" {new[1].casefold()}") == 1 else None


def _time_exchanged(rest: str, new: str, old: str, last: str) -> str:
    """Along with its own preposition, where it has one."""
    place = re.escape(old) if rest == new else rf"\b(?:{_TIME_LINK} )?{re.escape(old)}\b"
    return re.sub(place, lambda _: rest, last, count=1, flags=re.IGNORECASE)


def _name_exchanged(link: str, new: str, last: str, subject: Subject | None) -> str | None:
    if link:
        name = r"([^\W\d_a-zà-ÿ][\w'-]*(?: [^\W\d_a-zà-ÿ][\w'-]*)*)"
        there = list(re.finditer(rf"\b(?i:{re.escape(link)}) {name}", last))
        if len(there) != 1:
            return None
        return last[: there[0].start(1)] + new + last[there[0].end(1) :]
    others = names(last, subject)
    if len(others) == 1 and last.count(others[0]) == 1:
        return last.replace(others[0], new)
    if not others and subject is not None and last.count(subject.name) == 1:
        return last.replace(subject.name, new)
    return None


def _small(question: str) -> str:
    """The question as it goes on after another: a small letter where no name begins it."""
    first = question.split(maxsplit=1)[0].strip("?,.!") if question.split() else ""
    known = first.casefold() in ASKING | AUXILIARIES or first.casefold() in GOES_ON
    return question[:1].lower() + question[1:] if known else question
