"""In which language is a text? Script first, then the share of a dozen languages' commonest words.

Meant for one question only: is an answer in the language that it should be in? It says None where it cannot tell.
"""

import re
from collections.abc import Sequence

LEAST_WORDS = 20
"""Shorter texts are not judged: names and numbers outweigh their few common words."""
LEAST_SHARE = 0.12
"""Least share of common words for a language to be named; ordinary prose has 0.3 to 0.5."""
LEAD = 1.5
"""How many times more of them than the next language it must have."""

_COMMON: dict[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "en": "the of and to in is was for that with on as are by from at it this be which an or has have not her his"
        " she he they their its who when were had been but would will can than about after also",
        "de": "der die das und in ist von zu den mit des auf für nicht ein eine im dem sich als auch es an werden aus"
        " er sie hat dass nach wird bei einer um am sind noch wie einem über einen so zum haben nur oder war",
        "fr": "le la les de des et en un une du est dans que qui pour par sur au aux avec ce cette il elle sont ne pas"
        " plus se son sa ses ont été leur ou mais comme nous vous l'on d'un",
        "es": "el la los las de y en que un una es por con para del se no al como su más pero sus le ha lo fue este"
        " esta son entre cuando también desde está",
        "it": "il la i gli le di e che un una in è per con del della non si al da sono nel dei alla più come anche ha"
        " ma lo delle dal questo suo sua stato",
        "pt": "o a os as de e que um uma em é por com para do da não se no na dos das ao como mais foi seu sua são mas"
        " pelo pela também à entre ele ela",
        "nl": "de het een en van in is dat op te zijn voor met niet aan er om ook als door bij werd naar uit maar zij"
        " heeft hij ze wordt nog deze dit kan over",
        "sv": "och i att det som en är på av för med den till ett har de inte om var han hon sig från vid så kan men"
        " eller när efter också där under",
        "da": "og i at det en er på af for med den til et har de ikke om var han hun sig fra ved så kan men eller"
        " efter også der som blev være hvor",
        "pl": "i w na z nie się do że to jest jak o po od za co przez dla ale czy był była jego jej oraz są być tym"
        " lub który która",
        "cs": "a v na se je že do s z o to jako za by pro ale po od které který jeho její byl byla jsou nebo také při"
        " podle být",
        "fi": "ja on ei se että oli hän mutta ovat kun myös joka ole kuin tai sen ovat jo vain sekä hänen mukaan jonka"
        " voi niin",
        "tr": "ve bir bu da de için ile olarak çok daha olan gibi en o ne var kadar sonra ama değil tarafından ya"
        " veya her",
    }.items()
}
_SCRIPTS: tuple[tuple[str, str], ...] = (
    ("[\u3040-\u30ff]", "ja"),
    ("[\uac00-\ud7af]", "ko"),
    ("[\u3400-\u9fff]", "zh"),
    ("[\u0370-\u03ff\u1f00-\u1fff]", "el"),
    ("[\u0590-\u05ff]", "he"),
    ("[\u0e00-\u0e7f]", "th"),
    ("[\u0400-\u04ff]", "cyrillic"),
    ("[\u0600-\u06ff\u0750-\u077f]", "arabic"),
    ("[\u0900-\u097f]", "devanagari"),
)
_SHARED = {
    **dict.fromkeys(("ru", "uk", "bg", "sr", "be", "mk", "kk"), "cyrillic"),
    **dict.fromkeys(("ar", "fa", "ur", "ps"), "arabic"),
    **dict.fromkeys(("hi", "mr", "ne"), "devanagari"),
}
"""Languages that are told by their script only, and not from each other."""
_KANA_SHARE = 0.15
_LETTER_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")


def in_language(text: str, language: str) -> bool | None:
    """Is the text in the language (BCP 47; only its first part counts)? None: too short, or it cannot be told."""
    wanted = language.split("-")[0].split("_")[0].casefold()
    found = language_of(text)
    if found is None:
        return None
    if found in _COMMON:
        latin = wanted in _COMMON or wanted in _SHARED or any(wanted == one for _, one in _SCRIPTS)
        return found == wanted if latin else None
    return found == _SHARED.get(wanted, wanted)


def language_of(text: str) -> str | None:
    """Name of the language, or of the script where several share it; None: too short or not clear."""
    letters = [letter for letter in text if letter.isalpha()]
    if scripts := _script(letters):
        return scripts if len(letters) >= LEAST_WORDS else None
    words = [word.group().casefold().replace("’", "'") for word in _LETTER_WORD.finditer(text)]
    if len(words) < LEAST_WORDS:
        return None
    shares = sorted(((_share(words, common), name) for name, common in _COMMON.items()), reverse=True)
    (best, name), (next_best, _) = shares[:2]
    return name if best >= LEAST_SHARE and best >= LEAD * next_best else None


def _script(letters: Sequence[str]) -> str | None:
    """The script's language where most letters are of it; kana beside Chinese characters are Japanese."""
    if not letters:
        return None
    shares = {name: sum(1 for one in letters if re.match(range_, one)) / len(letters) for range_, name in _SCRIPTS}
    if shares["ja"] >= _KANA_SHARE and shares["ja"] + shares["zh"] > 0.5:
        return "ja"
    name = max(shares, key=lambda one: shares[one])
    return name if shares[name] > 0.5 else None


def _share(words: Sequence[str], common: frozenset[str]) -> float:
    return sum(1 for word in words if word in common) / len(words)
