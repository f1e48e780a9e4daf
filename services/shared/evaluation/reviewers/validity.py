"""Is the answer a sound piece of writing? Sees the answer's text only: tone, persona, clarity, nothing of its truth.

It judges what a writer wrote; the owner's fixed texts of an abstention are not its business.
"""

import math
import re
from collections.abc import Iterator, Sequence

from services.shared.contracts.evaluation import Review
from services.shared.evaluation.reviewers.debris import debris
from services.shared.evaluation.reviewers.tone import tone
from services.shared.evaluation.reviewers.wording import spelled, without_markers

REVIEWER = "validity"

LONGEST_ANSWER = 200
"""Words. Writers are asked for at most four short sentences."""
LONGEST_SENTENCE = 80
MARGIN = 0.2
"""How much nearer to the unsound examples than to the sound ones an answer must be to fail.

Of 92 labelled texts it fails 7 of 49 unsound ones (refusals, talk of itself, empty phrases) and none of 43 sound ones;
at 0 it would fail half of either. tests/unit/evaluation_reviewers/fit.py counts again.
"""
NEAREST = 3
"""How many examples of each side are compared: the nearest ones."""

_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+(?=[^\W\d_a-z]|[\"'“‘(])|(?<=[。！？])|\n+")
_WORD = re.compile(r"[^\W\d_]{2,}")
_LOOPS = ((1, 4), (2, 3), (3, 3))
"""So many words said so often one after the other are a loop; "Row, row, row your boat" is none."""
LOUD_WORDS = 4
"""Capital words in a row that shout, unless all of them are short as abbreviations are."""


def by_rule(answer_text: str) -> Review:
    """Faults that a pattern can tell; one is enough to fail. The score is 1 / (1 + faults)."""
    text = without_markers(answer_text).strip()
    if not text:
        return Review(reviewer=REVIEWER, by="rule", passed=False, score=0.0, notes=["empty"])
    notes = list(
        dict.fromkeys([*tone(text), *debris(answer_text), *_repetition(text), *_shouting(text), *_length(text)])
    )
    return Review(reviewer=REVIEWER, by="rule", passed=not notes, score=1 / (1 + len(notes)), notes=notes)


def exemplars() -> tuple[list[str], list[str]]:
    """Texts of sound and unsound manner, about nothing in particular, that ``by_embedding`` compares with."""
    return list(_SOUND), list(_UNSOUND)


def by_embedding(to_sound: Sequence[float], to_unsound: Sequence[float]) -> Review:
    """Is the answer's manner nearer to the sound or to the unsound examples? Cosines, in the order of ``exemplars``.

    A weak witness, for all-MiniLM-L6-v2: an embedding hears what a text is about louder than how it speaks, so that
    it only fails what is almost nothing but a refusal or talk about the answer. Likenesses that are no numbers fail.
    """
    if not all(map(math.isfinite, (*to_sound, *to_unsound))):
        note = "a likeness is no number"
        return Review(reviewer=REVIEWER, by="embedding", passed=False, score=0.0, notes=[note])
    near, far = _nearest(to_sound), _nearest(to_unsound)
    passed = far - near <= MARGIN
    notes = [] if passed else [f"nearer to unsound examples ({far:.2f}) than to sound ones ({near:.2f})"]
    return Review(
        reviewer=REVIEWER, by="embedding", passed=passed, score=min(1.0, max(0.0, 0.5 + near - far)), notes=notes
    )


def _nearest(similarities: Sequence[float]) -> float:
    best = sorted(similarities, reverse=True)[:NEAREST]
    return sum(best) / len(best)


def _sentences(text: str) -> list[str]:
    return [sentence for sentence in _SENTENCE_END.split(text) if sentence.strip()]


def _repetition(text: str) -> Iterator[str]:
    seen: set[tuple[str, ...]] = set()
    for sentence in _sentences(text):
        words = tuple(spelled(sentence))
        if len(words) >= 3 and words in seen:
            yield f"says twice: {_shortened(sentence)}"
        seen.add(words)
    words = tuple(spelled(text))
    for size, times in _LOOPS:
        for at in range(len(words) - size * times + 1):
            if words[at : at + size] * times == words[at : at + size * times]:
                yield f"goes round in circles: {' '.join(words[at : at + size])}"
                return


def _shouting(text: str) -> Iterator[str]:
    if re.search(r"!{2,}|\?{2,}", text) or text.count("!") > 2:
        yield "exclaims"
    run: list[str] = []
    for word in text.split():
        run = [*run, word] if word.isupper() and _WORD.search(word) else []
        if len(run) >= LOUD_WORDS and max(map(len, run)) > LOUD_WORDS:
            yield "shouts"
            return
        if word[-1] in ",;:/()":
            run = []


def _length(text: str) -> Iterator[str]:
    count = len(text.split())
    if count > LONGEST_ANSWER:
        yield f"too long: {count} words"
    longest = max((len(sentence.split()) for sentence in _sentences(text)), default=0)
    if longest > LONGEST_SENTENCE:
        yield f"a sentence of {longest} words"


def _shortened(sentence: str) -> str:
    return sentence if len(sentence) <= 60 else sentence[:59] + "…"


_SOUND = (
    "The company has used the new system since March 2021, and the monthly report takes two hours instead of nine.",
    "She studied chemistry in Lund and finished her degree in 2012.",
    "The library supports three formats: CSV, JSON and Parquet.",
    "He left the firm because the role had turned into pure administration.",
    "The warranty covers repairs for two years after the purchase.",
    "No, the service has never been available outside of Europe.",
    "The project took four months longer than planned, mainly because of the data migration.",
    "Error E-17 means that the disk is full; delete old backups and start the service again.",
    "Visitors may park behind the building from 8 am to 6 pm.",
    "She prefers small teams and written decisions.",
    "The document does not name the price, but says that it depends on the number of users.",
    "The meeting is held every Tuesday, and its minutes are sent to all members.",
)
_UNSOUND = (
    "I'm sorry, but I can't help with that request.",
    "As an AI language model, I do not have access to personal information.",
    "Based on the passages provided, I cannot answer your question.",
    "Sure! Here is the answer to your question:",
    "I hope this helps! Let me know if you have any other questions.",
    "My instructions say that I must answer only from the numbered passages.",
    "I am the person you are asking about, and I can tell you about my work.",
    "The context does not provide enough information to answer the question.",
    "Passage 1 says this, passage 2 says that, and passage 3 is not relevant.",
    "WOW!!! This is THE BEST answer EVER!!!",
    "the the the and and and of of of",
    "Note: please answer the question using only the given text.",
)
