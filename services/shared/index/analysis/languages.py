"""Which languages the analyser knows, and which language a word of a text is treated as.

A word's script comes first, for it is sure: an Arabic word in an English text is stemmed as Arabic. Only where
languages share a script does the text's own language decide.
"""

from functools import lru_cache

DEFAULT = "en"
"""The language of a text that says none, and of Latin words in a text of another script."""

PLAIN = "und"
"""Stands for the languages without a stemmer: words stay as they are."""

STEMMERS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish", "fr": "french",
    "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian",
    "lt": "lithuanian", "ne": "nepali", "nl": "dutch", "no": "norwegian", "pl": "polish", "pt": "portuguese",
    "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish", "ta": "tamil", "tr": "turkish",
}  # fmt: skip
"""Snowball's name of each language's stemmer."""

KNOWN = (*STEMMERS, "he", "ja", "ko", "th", "uk", "zh")
"""The languages that an index tells apart: those with a stemmer, function words, or a script cut into pairs."""

_ALIASES = {"nb": "no", "nn": "no", "iw": "he", "in": "id", "sh": "sr", "bs": "sr", "hr": "sr"}

# First and last letter of each script, and the language of its words when the text's own is of another script.
_SCRIPTS = (
    ("Latin", 0x0000, 0x024F, DEFAULT),
    ("Greek", 0x0370, 0x03FF, "el"),
    ("Cyrillic", 0x0400, 0x052F, "ru"),
    ("Armenian", 0x0530, 0x058F, "hy"),
    ("Hebrew", 0x0590, 0x05FF, "he"),
    ("Arabic", 0x0600, 0x077F, "ar"),
    ("Devanagari", 0x0900, 0x097F, "hi"),
    ("Tamil", 0x0B80, 0x0BFF, "ta"),
    ("Latin", 0x1E00, 0x1EFF, DEFAULT),
    ("Greek", 0x1F00, 0x1FFF, "el"),
)
_SCRIPTS_OF = {
    **dict.fromkeys(("ru", "uk", "be", "bg", "mk", "kk", "ky", "mn", "tg"), ("Cyrillic",)),
    **dict.fromkeys(("ar", "fa", "ur", "ps", "sd", "ug", "ckb"), ("Arabic",)),
    **dict.fromkeys(("hi", "ne", "mr", "sa"), ("Devanagari",)),
    **dict.fromkeys(("he", "yi"), ("Hebrew",)),
    **dict.fromkeys(("am", "as", "bn", "dv", "gu", "ja", "ka", "km", "kn", "ko", "lo", "ml", "my"), ()),
    **dict.fromkeys(("or", "pa", "si", "te", "th", "zh"), ()),
    "el": ("Greek",), "hy": ("Armenian",), "ta": ("Tamil",), "sr": ("Cyrillic", "Latin"),
}  # fmt: skip
"""The scripts that a language is written in, of those above; Latin for one that is not named."""

SCRIPTS = tuple(dict.fromkeys(name for name, _, _, _ in _SCRIPTS))


@lru_cache(maxsize=1024)
def canonical(language: str | None) -> str | None:
    """The primary code of a BCP 47 tag (``pt-BR`` is ``pt``, ``nb`` is ``no``); None for None and for nonsense."""
    primary = (language or "").strip().lower().replace("_", "-").split("-")[0]
    if not (primary.isascii() and primary.isalpha() and 2 <= len(primary) <= 3) or primary in ("und", "mul", "zxx"):
        return None
    return _ALIASES.get(primary, primary)


@lru_cache(maxsize=16_384)
def script_of(letter: str) -> str | None:
    """The script of a letter, of those whose words the analyser treats by language."""
    code = ord(letter)
    return next((name for name, first, last, _ in _SCRIPTS if first <= code <= last), None)


@lru_cache(maxsize=1024)
def treated_as(language: str | None) -> dict[str | None, str]:
    """For each script the language that its words are treated as in a text of this language."""
    # A mark of the language that is none of ours comes back as it went in.
    own = PLAIN if language == PLAIN else canonical(language) or DEFAULT
    scripts = _SCRIPTS_OF.get(own, ("Latin",))
    return {name: own if name in scripts else default for name, _, _, default in _SCRIPTS} | {None: PLAIN}
