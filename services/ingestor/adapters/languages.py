"""Which language a document is written in, by py3langid."""

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

SURE = 0.5
"""The library's own probability below which it is not believed: a list of names, a line of code, a greeting."""

SAMPLE = 3_000
"""Characters of the beginning, the middle and the end that are looked at: a licence may open a text, or close it."""

_VARIETIES = frozenset({"arz", "ary", "wuu", "yue", "pcm", "ext"})
"""Spoken varieties of Arabic, Chinese, English and Spanish, which would share the probability of the written one."""

_NO_LANGUAGE = "zxx"


class Languages:
    """Tells languages. Its model takes a second and 100 MB, so it is loaded with the first text."""

    def __init__(self) -> None:
        self._identifier: LanguageIdentifier | None = None
        self._loading = threading.Lock()

    def language_of(self, text: str) -> str | None:
        """The primary code (``de``), or None where the text does not tell."""
        language, probability = self._ready().classify(_sample(text))
        return str(language) if probability >= SURE and language != _NO_LANGUAGE else None

    def _ready(self) -> "LanguageIdentifier":
        with self._loading:
            if self._identifier is None:
                from py3langid.langid import MODEL_FILE, LanguageIdentifier

                identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
                identifier.set_languages(set(identifier.labels) - _VARIETIES)
                self._identifier = identifier
            return self._identifier


def _sample(text: str) -> str:
    if len(text) <= 3 * SAMPLE:
        return text
    middle = (len(text) - SAMPLE) // 2
    return "\n".join((text[:SAMPLE], text[middle : middle + SAMPLE], text[-SAMPLE:]))
