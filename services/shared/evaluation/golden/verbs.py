"""The forms of common English verbs: enough to turn a statement into a question, and no more.

A sentence whose verb is not listed gives no question, so the list trades numbers for well-formed questions.
"""

from dataclasses import dataclass
from functools import cache

from services.shared.evaluation.golden.listed import listed

_REGULAR = """
accept access accrue achieve acknowledge activate add address adjust adopt agree aim allocate allow amend announce
answer anticipate apologise apologize appear apply appoint appreciate approve archive arrange arrive ask assess
assign assume attach attempt attend authorise authorize automate award balance base belong block book borrow browse
calculate call cancel carry celebrate change charge check claim clarify classify clean click close code collaborate
collect combine comment commit communicate compare complete comply conduct configure confirm connect consider
consist contact contain continue contribute convert convince cooperate copy correct cover crash create customise
customize decide declare decline deduct define delay delegate delete deliver deny depend deploy describe deserve
design destroy detect determine develop differ direct disable disagree discover discuss dismiss display dispute
dissolve distribute document donate download drop earn edit elect email embrace employ enable encourage end enforce
enjoy enrol enroll ensure enter escalate establish estimate evaluate examine exceed exchange exclude execute exist
expand expect expense experience expire explain export express extend fail file fill finish fix focus follow forward
foster found fund gather generate govern grade grant guarantee handle happen harness hire host identify ignore
implement import improve include increase indicate inform initiate inspect install integrate intend interview
introduce invent invest invite involve issue join label last launch learn leverage like limit list live load locate
lock log look maintain manage mark match measure mention mentor merge migrate modify monitor move name need nominate
note notice notify obtain occur offer open operate order organise organize own participate pass pause perform permit
pick place plan play post prefer prepare present prevent prioritise prioritize process procure produce program
prohibit promise promote propose protect prove provide publish pull purchase push qualify raise rate reach realise
realize receive recognise recognize recommend record recover recruit redeem reduce refactor refer refuse regard
register reimburse reject release relocate rely remain remember remind remove rename renew reorganise repair replace
replicate reply report represent request require research reserve resign resolve respond restart restore restrict
retain retire return review revise rotate save scale schedule score scrub search secure select separate serve settle
share ship sign simplify solve sort specify staff start state stay stop store strip structure submit suggest
supervise supply support suspend switch sync talk target tend test thank track train transfer translate travel treat
trigger trust try turn type uninstall update upgrade upload use validate verify view visit volunteer vote wait want
warn watch welcome work
"""
_IRREGULAR = """
be was been|become became become|begin began begun|break broke broken|bring brought brought|build built built
buy bought bought|catch caught caught|choose chose chosen|come came come|cost cost cost|cut cut cut|deal dealt dealt
do did done|draw drew drawn|drive drove driven|eat ate eaten|fall fell fallen|feel felt felt|fight fought fought
find found found|fly flew flown|forget forgot forgotten|get got got|give gave given|go went gone|grow grew grown
hang hung hung|have had had|hear heard heard|hide hid hidden|hold held held|keep kept kept|know knew known
lay laid laid|lead led led|leave left left|lend lent lent|let let let|lose lost lost|make made made|mean meant meant
meet met met|oversee oversaw overseen|pay paid paid|put put put|quit quit quit|read read read|ride rode ridden
rise rose risen|run ran run|say said said|see saw seen|sell sold sold|send sent sent|set set set|show showed shown
speak spoke spoken|spend spent spent|stand stood stood|take took taken|teach taught taught|tell told told
think thought thought|understand understood understood|wear wore worn|win won won|withdraw withdrew withdrawn
write wrote written|overwrite overwrote overwritten|rebuild rebuilt rebuilt|rewrite rewrote rewritten
"""
_DOUBLED = listed(
    """
    commit drop log occur permit plan prefer refer scrub ship stop strip submit transfer
    """
)

_NOUNS_TOO = listed(
    """
    accesses addresses aims answers approaches attempts awards balances bases blocks books calls changes charges
    checks claims codes comments commits contacts copies costs covers crashes cuts deals delays designs displays
    documents drops drives edits emails ends estimates exchanges expenses experiences exports files fixes focuses
    forwards funds grades grants handles hosts imports increases interviews issues labels lasts leads leaves lets
    likes limits links lists lives loads locks logs looks marks matches means measures mentors moves names needs
    notes notices offers orders owns passes pauses permits picks places plans plays posts presents processes
    programs promises proposes pulls purchases pushes rates reads records refuses releases remains replies reports
    requests researches resigns returns reviews rises runs saves scales schedules scores searches sets shares ships
    shows signs sorts stands starts states stays stops stores strips structures supplies supports switches talks
    targets tests tracks trains transfers travels treats triggers trusts tries turns types updates upgrades uploads
    uses views visits volunteers votes waits wants watches works
    """
)


@dataclass(frozen=True)
class Form:
    """One word as a form of a verb."""

    base: str
    kind: str
    """base, s (third person) or past."""


@cache
def _table() -> tuple[dict[str, Form], dict[str, str], dict[str, str], dict[str, str]]:
    """Finite forms, and by their base: past, participle (of the participle: base) and -ing form's base."""
    finite: dict[str, Form] = {}
    past: dict[str, str] = {}
    participle: dict[str, str] = {}
    gerund: dict[str, str] = {}
    forms = [(verb, _regular_past(verb), _regular_past(verb)) for verb in _REGULAR.split()]
    for row in _IRREGULAR.replace("\n", "|").split("|"):
        if row.strip():
            base, was, been = row.split()
            forms.append((base, was, been))
    for base, was, been in forms:
        if base not in ("be", "have", "do"):
            finite.setdefault(was, Form(base, "past"))
            finite.setdefault(_third(base), Form(base, "s"))
        past[base] = was
        participle.setdefault(been, base)
        gerund.setdefault(_ing(base), base)
    for base, _, _ in forms:
        if base not in ("be", "have", "do"):
            finite.setdefault(base, Form(base, "base"))
    # "found" is far oftener what somebody found than what somebody founds.
    finite["found"], participle["found"] = Form("find", "past"), "find"
    finite["founded"], participle["founded"] = Form("found", "past"), "found"
    return finite, past, participle, gerund


def finite_form(word: str) -> Form | None:
    """The word as a main verb that is not be, have or do; in doubt the past."""
    return _table()[0].get(word)


def past_of(base: str) -> str | None:
    """The past of a verb that is listed."""
    return _table()[1].get(base)


def base_of_participle(word: str) -> str | None:
    """``write`` of ``written``; None when it is none that is listed."""
    return _table()[2].get(word)


def base_of_gerund(word: str) -> str | None:
    """``request`` of ``requesting``."""
    return _table()[3].get(word)


def is_base(word: str) -> bool:
    """Is this the plain form of a verb that is listed?"""
    return word in _table()[1]


def third_of(base: str) -> str:
    """``writes`` of ``write``."""
    return _third(base)


def also_a_noun(word: str) -> bool:
    """``plans`` is as often a thing as a doing."""
    return word in _NOUNS_TOO


def _third(base: str) -> str:
    if base.endswith(("s", "x", "z", "ch", "sh", "o")):
        return base + "es"
    if base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ies"
    return base + "s"


def _regular_past(base: str) -> str:
    if base in _DOUBLED:
        return base + base[-1] + "ed"
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ied"
    return base + "ed"


def _ing(base: str) -> str:
    if base in _DOUBLED or base in ("begin", "cut", "forget", "get", "let", "put", "quit", "run", "set", "win"):
        return base + base[-1] + "ing"
    if base.endswith("e") and not base.endswith(("ee", "ye", "oe")) and base != "be":
        return base[:-1] + "ing"
    return base + "ing"
