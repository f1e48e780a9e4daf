"""Which cells of a table's row a question asks for: those that tell the row from others, and the columns it names.

A cell that is left out cannot answer. So columns are left out only where the noun that is asked for ("What is the
closing pressure of …?") is one of the columns, or where no word of the question is left that might ask for another
one; a question that names a column only as a condition ("the plan for 5 users") gets the whole row.
"""

import re
from collections.abc import Sequence

from services.generator.domain import terms
from services.generator.domain.asked import Asked
from services.generator.domain.hints import kind_hint
from services.generator.domain.terms import Token
from services.generator.domain.units import UNITS

_SAME = 0.8
"""``terms.akin`` from which on a word of the question names a column: inspects, Inspector."""
_ASKING_LIST = (
    "what which whose who whom how when where why"
    " wie wer wen wem wessen wann wo warum welche welcher welches welchen welchem"
)
_ASKING = frozenset(_ASKING_LIST.split())
_BE = frozenset(
    ["is", "are", "was", "were", "be", "ist", "sind", "war", "waren", "beträgt", "betragen", "lautet", "lauten"]
)
_GERMAN_BE = frozenset(["ist", "sind", "war", "waren"])
_DO_LIST = (
    "do does did has have had can could will would should may might must"
    " hat haben hatte hatten kann können wird werden muss müssen soll sollen"
)
_DO = frozenset(_DO_LIST.split())
_BESIDE_LIST = (
    "in at for on with from to by during under over about near that which who where when if"
    " von vom für im bei beim am an mit aus auf zu zum zur des seit"
)
_BESIDE = frozenset(_BESIDE_LIST.split())
"""What follows these says of which thing, where or when; it is not what is asked for."""
_OWNER = re.compile(r"['’]s$|s['’]$", re.IGNORECASE)
_LITTLE = re.compile(r"[a-zà-öø-ÿ]{1,2}")
_BRACKETS = re.compile(r"\([^)]*\)|\[[^\]]*\]")


def wanted(asked: Asked, place: str, header: Sequence[str], row: Sequence[str]) -> frozenset[int]:
    """The columns of the row that are said, by number; all where the question names none or it is not certain.

    ``place`` is the heading over the table: its words ask for no column.
    """
    every = frozenset(range(max(len(header), len(row))))
    if len(row) > len(header) or len(header) < 3:
        return every
    row = [*row, *[""] * (len(header) - len(row))]
    question = terms.tokens(asked.text)
    words = _without_values(question, row)
    heads = [_head(one) for one in header]
    key = _key(question, row)
    known = frozenset(word for at in key for word in _telling(row[at]))
    slot = _slot(words, yes_or_no=asked.yes_or_no)
    inside = _named(_stems(slot), heads, known)
    named = (_named(_stems(words), heads, known) | inside) - (frozenset({0}) if asked.yes_or_no else key)
    given = frozenset(at for at in named if _given(question, header, row[at], known))
    sought = frozenset(at for at in named if row[at] and (asked.yes_or_no or at not in given))
    kept = key | sought | given
    sure = bool(inside & sought) or (asked.yes_or_no and bool(given))
    if not sought or not (sure or _accounted(_unmeasured(words, slot, sought, row), place, header, row)):
        return every
    loose = any(not _held(word, heads) and word not in known for word in _stems(slot))
    if _loses(asked.text, [row[at] for at in sought], [row[at] for at in every - kept], sure=sure, loose=loose):
        return every
    return kept


def _head(name: str) -> frozenset[str]:
    """Telling words of a column's name, without its unit and little words (de) where there is more to it."""
    words = [word for word in terms.tokens(_BRACKETS.sub(" ", name)) if not word.stop]
    telling = [word.stem for word in words if word.stem not in UNITS and not _LITTLE.fullmatch(word.written)]
    return frozenset(telling or _stems(words)) or _telling(name)


def _telling(text: str) -> frozenset[str]:
    return frozenset(_stems(terms.tokens(text)))


def _stems(words: Sequence[Token]) -> list[str]:
    return [word.stem for word in words if not word.stop]


def _plain(word: Token) -> str:
    return re.sub(r"['’]s$", "", word.written.casefold())


def _without_values(question: Sequence[Token], row: Sequence[str]) -> list[Token]:
    """The question without the row's name, and without other cells of several words: their words name no column.

    "Line Valve 3" is no question for the line.
    """
    left = list(question)
    for at, cell in enumerate(row):
        value = [word.stem for word in terms.tokens(cell)]
        if not value or (at and len(value) < 2):
            continue
        for start in range(len(left) - len(value), -1, -1):
            if [word.stem for word in left[start : start + len(value)]] == value:
                del left[start : start + len(value)]
                break
    return left


def _key(question: Sequence[Token], row: Sequence[str]) -> frozenset[int]:
    """The first column, and others whose value the question gives; a mere number only where nothing else tells."""
    said = frozenset(_stems(question))
    first = bool(_telling(row[0]) & said)
    whole = {at for at, cell in enumerate(row) if _telling(cell) and _telling(cell) <= said}
    return frozenset({0} | {at for at in whole if not first or re.search(r"[^\W\d_]", row[at])})


def _slot(words: Sequence[Token], *, yes_or_no: bool) -> list[Token]:
    """The words that say what is asked for: behind the question word, and behind the "is" after it, up to an "of".

    Where there is no question word they come first; a question for yes or no has none.
    """
    plain = [_plain(word) for word in words]
    german = len(plain) > 1 and plain[0] == "was" and plain[1] in _GERMAN_BE
    if yes_or_no and not german:
        return []
    asks = next((at for at, word in enumerate(plain) if word in _ASKING or (german and word == "was")), -1)
    found: list[Token] = []
    is_there = asks < 0
    for word, spelt in zip(words[asks + 1 :], plain[asks + 1 :], strict=True):
        if not is_there and spelt in _BE:
            is_there = True
        elif spelt in _DO or (_stems(found) and (spelt in _BESIDE or (is_there and spelt == "of"))):
            break
        else:
            found.append(word)
    owner = max((at for at, word in enumerate(found) if _OWNER.search(word.written)), default=-1)
    return found[owner + 1 :] if _stems(found[owner + 1 :]) else found


def _named(said: Sequence[str], heads: Sequence[frozenset[str]], known: frozenset[str]) -> frozenset[int]:
    """Columns of which all words that they share with no other are said, or some where nothing else is said.

    A word that several columns share names them all, but not beside a word that tells them apart: the closing
    pressure is not the opening pressure; and the price is the column Price rather than Total price.
    """
    held = {word: _held(word, heads) for word in said}
    loose = any(not found and word not in known for word, found in held.items())
    by = [frozenset(name for found in held.values() for at, name in found if at == one) for one in range(len(heads))]
    own = [frozenset(word for word in head if sum(word in other for other in heads) == 1) for head in heads]
    columns = frozenset(at for at, words in enumerate(own) if words & by[at] and (words <= by[at] or not loose))
    told = frozenset(word for at in columns for word in heads[at])
    alike = [at for at, head in enumerate(heads) if head - own[at] and head - own[at] <= by[at] - told]
    return columns | frozenset([at for at in alike if not own[at]] or alike)


def _held(word: str, heads: Sequence[frozenset[str]]) -> list[tuple[int, str]]:
    """The words of columns' names that a word of the question stands for; kindred ones only where none is the same."""
    same = [(at, word) for at, head in enumerate(heads) if word in head]
    if same or any(sign.isdigit() for sign in word):
        return same
    return [(at, name) for at, head in enumerate(heads) for name in head if terms.akin(word, name) >= _SAME]


def _unmeasured(
    words: Sequence[Token], slot: Sequence[Token], sought: frozenset[int], row: Sequence[str]
) -> list[Token]:
    """The question without the noun of "At which pressure does it close?", where the column that is named has figures.

    Such a noun is the measure of what the verb names, and no column of its own.
    """
    measured = words[0].written.casefold() in ("at", "bei") and all(_counts([row[at]]) for at in sought)
    return [word for word in words if not (measured and word in slot)]


def _accounted(words: Sequence[Token], place: str, header: Sequence[str], row: Sequence[str]) -> bool:
    """Whether every word of the question stands in the table, so that none can ask for another column."""
    there = frozenset().union(_telling(place), *(_telling(one) for one in (*header, *row)))
    return all(any(terms.akin(word, other) >= _SAME for other in there) for word in _stems(words))


def _given(question: Sequence[Token], header: Sequence[str], cell: str, known: frozenset[str]) -> bool:
    """Whether the question gives something of the cell, which then is a condition and not what is asked for."""
    names = frozenset(word for name in header for word in _telling(name))
    return bool((_telling(cell) - names - known) & frozenset(_stems(question)))


def _loses(question: str, sought: Sequence[str], left_out: Sequence[str], *, sure: bool, loose: bool) -> bool:
    """Whether what is left out may hold the kind of thing that is asked for: a name for a who, a number for a how many.

    ``sure``: the noun that is asked for is a column. ``loose``: it has a further word that no column has, as the
    ticket price in a table of tickets and rates; a number is the likelier answer then.
    """
    here = [kind_hint(question, one) for one in sought]
    there = [kind_hint(question, one) for one in left_out]
    if 1.0 in there and (not sure or 1.0 not in here):
        return True
    return (not sure and 0.0 in here and 1.0 not in here) or (loose and _counts(left_out) and not _counts(sought))


def _counts(cells: Sequence[str]) -> bool:
    return any(sign.isdigit() for cell in cells for sign in cell)
