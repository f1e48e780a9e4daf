"""Words, codes, numbers and names of a text, as far as a writer has to compare them.

This is no index analyser: the retriever owns that. It serves where two short texts are compared word by word,
and as the stand-in for the retriever's scores while it cannot be asked.
"""

import re
from dataclasses import dataclass

_WORD = re.compile(r"[^\W_]+(?:[.'’+#/:-]*[^\W_]+)*[+#]*")
_CODE = re.compile(r"(?<![\w.])[#§]?[^\W_]*\d(?:[\w]|[.,:/'’-](?=\w))*(?:\s?%)?")
_NAME = re.compile(r"[^\W\d_][\w'’.-]*[\w]|[^\W\d_]")
_ADDRESS = re.compile(r"(?:https?://|www\.)[^\s<>\"')\]]+|[\w.+-]+@[\w-]+\.[\w.-]+\w")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")

_STOP_LIST = (
    "a an the and or but if of at by for with about to from in on is are was were be been being do does did have has"
    " had having i me my we our you your he him his she her hers it its they them their this that these those what"
    " which who whom whose when where why how can could will would shall should may might must as than then there"
    " here so such not no nor any some much many more most other into over under between through during before"
    " after up down out off again also only own same too very just tell please know give say us per s t"
    " der die das den dem des ein eine einer einem einen und oder aber ist sind war waren hat haben wie was wer wo"
    " wann warum welche welcher welches von zu mit auf im in am an für"
)
STOP_WORDS = frozenset(_STOP_LIST.split())
_NUMBER_LIST = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    " seventeen eighteen nineteen twenty"
)
_NUMBER_WORDS = {word: str(value) for value, word in enumerate(_NUMBER_LIST.split())}
_IRREGULAR_LIST = (
    "begin:began begun|bring:brought|build:built|buy:bought|choose:chose chosen|come:came|draw:drew drawn|drive:drove"
    " driven|fall:fell fallen|fight:fought|find:found|fly:flew flown|give:gave given|go:went gone|grow:grew grown"
    "|hold:held|keep:kept|know:knew known|lead:led|leave:left|lose:lost|make:made|meet:met|pay:paid|rise:rose risen"
    "|run:ran|say:said|sell:sold|send:sent|speak:spoke spoken|spend:spent|take:took taken|teach:taught|tell:told"
    "|think:thought|understand:understood|win:won|write:wrote written"
)
_VERBS = [one.partition(":") for one in _IRREGULAR_LIST.split("|")]
_IRREGULAR = {form: verb for verb, _, forms in _VERBS for form in forms.split()}
_NEGATION = re.compile(
    r"\b(?:no|not|never|none|nobody|nothing|neither|nor|without|cannot|nicht|kein\w*|nie|ohne)\b|n['’]t\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Token:
    """A word at its place: as written, and roughly stemmed in lower case."""

    start: int
    end: int
    written: str
    stem: str
    stop: bool
    """One of the words that every text is full of."""

    @property
    def special(self) -> bool:
        """A capital letter or a digit in it: a name, a number or a code, unless it begins the sentence."""
        return self.written[:1].isupper() or any(sign.isdigit() or sign.isupper() for sign in self.written[1:])


def tokens(text: str) -> list[Token]:
    """Every word in order, stop words too."""
    found = []
    for match in _WORD.finditer(text):
        plain = re.sub(r"['’]s$", "", match.group().casefold())
        stem = _stem(_IRREGULAR.get(plain, plain))
        found.append(Token(match.start(), match.end(), match.group(), stem, plain in STOP_WORDS))
    return found


def akin(one: str, other: str) -> float:
    """How much two stems are one word: 1 the same, 0.8 where only the ending differs, else 0."""
    if one == other:
        return 1.0
    shared = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        shared += 1
    longest = max(len(one), len(other))
    return 0.8 if (shared >= 5 and shared >= 0.6 * longest) or (shared >= 4 and shared >= longest - 2) else 0.0


def words(text: str) -> list[str]:
    """Words in lower case and roughly stemmed, stop words left out; single characters of unspaced scripts."""
    found: list[str] = []
    for match in _WORD.finditer(text):
        word = match.group().casefold()
        if _UNSPACED.search(word):
            found.extend(word)
        elif word not in STOP_WORDS:
            found.append(_stem(word))
    return found


def overlap(question: str, text: str) -> float:
    """Share of the question's words that the text holds, 0 to 1."""
    wanted = set(words(question))
    return len(wanted & set(words(text))) / len(wanted) if wanted else 0.0


def likeness(one: str, other: str) -> float:
    """Jaccard similarity of the words, 0 to 1."""
    left, right = set(words(one)), set(words(other))
    return len(left & right) / len(left | right) if left | right else 1.0


def codes(text: str) -> set[str]:
    """Numbers, versions, years and codes such as 500, v2.1.4, 85%, X-40 in one spelling (1,312 is 1312)."""
    return {_plain_code(match.group()) for match in _CODE.finditer(_ADDRESS.sub(" ", text))}


def known_codes(text: str) -> set[str]:
    """The codes of a text with their parts (7 and 2025 of 2025-10-07) and small numbers written as words."""
    found: set[str] = set()
    for match in _CODE.finditer(text):
        code = _plain_code(match.group())
        found |= {code, code.removeprefix("v"), code.rstrip("%"), *re.findall(r"\d+", match.group())}
        found |= {part.lstrip("0") for part in re.findall(r"\d+", match.group())}
    found |= {_NUMBER_WORDS[word] for word in re.findall(r"[a-z]+", text.casefold()) if word in _NUMBER_WORDS}
    return found


def addresses(text: str) -> set[str]:
    """Web and mail addresses, without the full stop that may follow them."""
    return {match.group().rstrip(".,;:!?") for match in _ADDRESS.finditer(text)}


def names(text: str) -> set[str]:
    """Words in lower case that carry a capital letter where the start of a sentence does not explain it."""
    found = set()
    for match in _NAME.finditer(_ADDRESS.sub(" ", text)):
        word = match.group()
        begins = not text[: match.start()].strip(" \t\n\"'“‘(*_>-")
        capital_inside = any(letter.isupper() for letter in word[1:])
        if (word[0].isupper() and not begins) or capital_inside:
            plain = re.sub(r"['’]s?$", "", word.casefold())
            if plain not in STOP_WORDS:
                found.add(plain)
    return found


def negated(text: str) -> bool:
    """Whether the text denies something."""
    return _NEGATION.search(text) is not None


def _plain_code(code: str) -> str:
    plain = re.sub(r"(?<=\d)[,'’](?=\d{3}(?!\d))", "", code.casefold().replace(" ", ""))
    return plain.lstrip("#§")


def _stem(word: str) -> str:
    """Cuts the commonest English endings; enough to compare two sentences, and harmless elsewhere."""
    word = re.sub(r"['’]s$", "", word)
    for ending, least in (("ies", 5), ("ing", 6), ("ed", 5), ("es", 5), ("s", 4), ("e", 4)):
        if word.endswith(ending) and len(word) >= least and not word.endswith("ss"):
            return word[: -len(ending)] + ("y" if ending == "ies" else "")
    return word
