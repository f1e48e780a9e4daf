"""Words that carry meaning, and what all documents together say about a word."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from services.shared.evaluation.golden.listed import listed
from services.shared.evaluation.golden.material import SourceDocument
from services.shared.evaluation.golden.verbs import base_of_gerund, base_of_participle, finite_form

WORD = re.compile(r"[^\W_](?:[\w'.&/+-]*[^\W_])?")

_NO_PROSE = re.compile(r"[`@/_\\]|\w\.\w")

STOP = listed(
    """
    a about above after again all also am an and any are as at be because been before being below between both but
    by can could did do does doing done down during each either else ever every few for from further get got had has
    have having he her hers him his how i if in into is it its itself just let like made make many may me might more
    most much must my never no nor not now of off on once one only or other our out over own per please same say
    says shall she should since so some such take takes than that the their them then there these they thing things
    this those through to too under until up us use used using very was we were what when where which while who whom
    whose why will with within without would yes you your yours according know page long much far tell
    """
)

_ARTICLES = listed("a an the your each every all any most some no")


def stem(word: str) -> str:
    """A crude common form, so that ``left`` meets ``leave`` and ``policies`` meets ``policy``."""
    word = word.lower().removesuffix("'s").removesuffix("'")
    base = base_of_participle(word) or base_of_gerund(word)
    form = finite_form(word)
    word = base or (form.base if form else word)
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def content_words(text: str) -> list[str]:
    """Stems of the words that carry meaning, each once."""
    words = (found[0] for found in WORD.finditer(text.replace("’", "'")))
    return list(dict.fromkeys(stem(word) for word in words if word.lower() not in STOP and len(word) > 1))


class Corpus:
    """What all documents together know: which words stand where, and which are names."""

    def __init__(self, documents: Sequence[SourceDocument]) -> None:
        self._holders: dict[str, set[int]] = defaultdict(set)
        self._lower: Counter[str] = Counter()
        self._names: Counter[str] = Counter()
        self._seen: set[str] = set()
        self.size = len(documents)
        for n, document in enumerate(documents):
            texts = [passage.text for passage in document.passages]
            sections = dict.fromkeys(passage.section for passage in document.passages)
            self._read(n, [document.title, *sections, *texts])

    def _read(self, n: int, texts: Iterable[str]) -> None:
        for text in texts:
            straight = text.replace("’", "'")
            for found in WORD.finditer(straight):
                lower = found[0].lower()
                self._seen.update((lower, lower.removesuffix("'s")))
                if lower not in STOP and len(lower) > 1:
                    self._holders[stem(lower)].add(n)
            self._count_case(straight)

    def _count_case(self, text: str) -> None:
        after_lower = False
        for token in text.split():
            found = WORD.search(token)
            # Addresses and code write names small.
            if found is None or _NO_PROSE.search(token):
                after_lower = False
                continue
            word = found[0].removesuffix("'s")
            if word[0].islower():
                self._lower[word.lower()] += 1
            elif after_lower and found.start() == 0:
                self._names[word.lower()] += 1
            after_lower = token[-1].islower() or token[-1] == ","

    @property
    def few(self) -> int:
        """Documents among which a question's words may still be looked for: one in fifty, at least two."""
        return max(2, self.size // 50)

    def documents_with(self, words: Sequence[str]) -> int:
        """How many documents hold every one of these stems."""
        if not words:
            return self.size
        first, *others = sorted((self._holders.get(word, set()) for word in words), key=len)
        return len(first.intersection(*others))

    def rarity(self, word: str) -> float:
        """1 for a stem of one document, near 0 for one of all."""
        return 1 / max(1, len(self._holders.get(word, ())))

    def is_common(self, word: str) -> bool:
        """Is the word written small oftener than as a name?"""
        key = word.lower().removesuffix("'s")
        return self._lower[key] > self._names[key]

    def mid_sentence(self, phrase: str) -> str | None:
        """The phrase as it stands in the middle of a sentence: its first letter small unless it begins with a name.

        None when the documents do not show which it is.
        """
        words = phrase.split()
        first = words[0].rstrip(",")
        if first[1:] != first[1:].lower() or not first[:1].isalpha() or first[0].islower():
            return phrase
        small = phrase[:1].lower() + phrase[1:]
        if first.lower() in _ARTICLES or base_of_gerund(first.lower()):
            return small
        if len(words) > 1 and words[1][:1].isupper():
            return phrase
        key = first.lower().removesuffix("'s")
        lower, names = self._lower[key], self._names[key]
        if len(words) == 1 and lower and names:
            return None
        if lower > 4 * names:
            return small
        return phrase if names > 4 * lower or (not lower and (len(words) == 1 or first.endswith("'s"))) else None

    def is_rare(self, word: str) -> bool:
        """Does the word stand in at most a tenth of the documents, and at least in one?"""
        return 0 < len(self._holders.get(stem(word), ())) <= max(self.few, self.size // 10)

    def is_widespread(self, word: str) -> bool:
        """Does the word stand in more than half of the documents, so that it tells none of them from the others?"""
        return 2 * len(self._holders.get(stem(word), ())) > self.size

    def knows(self, word: str) -> bool:
        """Does the word stand in any document, whatever its case?"""
        return word.lower() in self._seen
