"""Questions that a document's owner expects, and where in the document they are answered."""

import math
import re
from collections.abc import Iterator, Sequence

from services.shared.evaluation.golden.drafts import Draft
from services.shared.evaluation.golden.material import Passage, SourceDocument
from services.shared.evaluation.golden.sentences import Sentence, bare
from services.shared.evaluation.golden.telling import most_telling
from services.shared.evaluation.golden.words import Corpus, content_words

KIND = "likely_question"

SENTENCE_SHARE = 0.75
"""Part of the question's weight that a sentence must share to be taken for the answer. Chosen on two sample sites."""
PASSAGE_SHARE = 0.4
LEAST_TOLD = 0.6
"""Part of the question's weight that a sentence must share where nothing else says in which passage the answer is."""
_TAKES_SEVERAL = re.compile(r"why\b|how (?!many|much|long|often|big|old|far|large)", re.IGNORECASE)
"""Such a question is seldom answered in one sentence: the one that repeats its words only begins to."""
LEAST_SHARED = 3
"""Words that a sentence must share; a question of fewer gets a passage."""


def likely(document: SourceDocument, sentences: Sequence[Sentence], corpus: Corpus) -> Iterator[Draft]:
    """The document's own questions, each with the stretch that fits it best, else with the document as a whole.

    A question is left out where no words say what a right answer to it is.
    """
    for question in document.questions:
        words = content_words(question)
        weights = {word: math.log(1 + corpus.size * corpus.rarity(word)) for word in words}
        quote, expected = (None, None)
        if not _TAKES_SEVERAL.match(question):
            quote, expected = _best_sentence(words, weights, sentences)
        if quote is None:
            quote = _best_passage(words, weights, document)
            told = [one for one in sentences if quote is None or one.quote in quote]
            expected = most_telling(question, told, weights, 0.0 if quote else LEAST_TOLD)
            if quote is not None and not told:
                # A table: the passage itself.
                expected = bare(quote)
        if expected:
            yield Draft(question, KIND, document.document_id, (quote,), expected=expected)


def _best_sentence(
    words: Sequence[str], weights: dict[str, float], sentences: Sequence[Sentence]
) -> tuple[str | None, str | None]:
    """The one sentence that shares most, when it shares enough and no other shares as much."""
    scored = sorted(((_share(words, weights, one.plain), -n, one) for n, one in enumerate(sentences)), reverse=True)
    if not scored or len(words) < LEAST_SHARED or scored[0][0] < SENTENCE_SHARE:
        return None, None
    best = scored[0][2]
    if len(set(words) & set(content_words(best.plain))) < LEAST_SHARED or _ties(scored[0][0], scored[1:]):
        return None, None
    return best.quote, best.plain


def _best_passage(words: Sequence[str], weights: dict[str, float], document: SourceDocument) -> str | None:
    scored = sorted(
        ((_fit(words, weights, one), -n, one) for n, one in enumerate(document.passages)),
        reverse=True,
    )
    if not scored or scored[0][0] < PASSAGE_SHARE or _ties(scored[0][0], scored[1:]):
        return None
    return scored[0][2].body


def _fit(words: Sequence[str], weights: dict[str, float], passage: Passage) -> float:
    """A heading says what a passage is about, so what the question shares with it counts again by half."""
    heading = passage.section.split(" > ")[-1]
    return _share(words, weights, f"{heading} {passage.text}") + _share(words, weights, heading) / 2


def _ties(best: float, others: Sequence[tuple[float, int, object]]) -> bool:
    """Does another share nearly as much? Then words do not tell which holds the answer."""
    return bool(others) and others[0][0] > best * 0.8


def _share(words: Sequence[str], weights: dict[str, float], text: str) -> float:
    there = set(content_words(text))
    whole = sum(weights.values())
    return sum(weights[word] for word in words if word in there) / whole if whole else 0.0
