"""What must be true of the documents, as somebody knows it who only saw the answers to what was sent."""

import hashlib
import random
import string
from dataclasses import dataclass, field

PARAGRAPHS = 3
FILLING = (
    "The harbour keeps a record of every boat that came in before the storm.",
    "A clerk reads the tide table aloud, and the pilot writes down what he hears.",
    "Nets are mended in the long shed, where the light is best in the morning.",
)


@dataclass(frozen=True)
class Text:
    """One version of a document; each of its paragraphs, and so each of its chunks, holds its canary."""

    canary: str
    text: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


def new_text(dice: random.Random) -> Text:
    """A word that no other version has, in sections that become a chunk each."""
    canary = "zq" + "".join(dice.choices(string.ascii_lowercase, k=10))
    parts = [
        f"# Part {n} of {canary}\n\n{' '.join(dice.sample(FILLING, 3))} The call sign is {canary}.\n"
        for n in range(dice.randint(1, PARAGRAPHS))
    ]
    return Text(canary, "\n".join(parts))


@dataclass
class Belief:
    """For each document the versions that it may have now; None is "it is not there"."""

    may_be: dict[str, set[Text | None]] = field(default_factory=dict)
    dead: set[str] = field(default_factory=set)
    """Canaries that no answer may hold any more."""
    leaving: set[str] = field(default_factory=set)
    """Canaries of versions that are replaced once the jobs are done."""

    def certain(self, document_id: str) -> bool:
        return len(self.may_be.get(document_id, {None})) == 1

    @property
    def live(self) -> dict[str, Text]:
        """Documents of which the version is certain."""
        return {
            id: text for id, states in self.may_be.items() if len(states) == 1 for text in states if text is not None
        }

    def sent(self, document_id: str, text: Text, *, accepted: bool) -> None:
        before = self.may_be.get(document_id, {None})
        self.may_be[document_id] = {text} if accepted else before | {text}
        if accepted:
            self._leave(before)

    def deleted(self, document_id: str, *, confirmed: bool) -> None:
        before = self.may_be.get(document_id, {None})
        self.may_be[document_id] = {None} if confirmed else before | {None}
        if confirmed:
            # A deletion is complete the moment it is confirmed.
            self.dead = self.dead | {text.canary for text in before if text is not None}

    def seen(self, document_id: str, sha256: str | None) -> str | None:
        """What is really there once everything is quiet; a fault when it cannot be."""
        possible = self.may_be.get(document_id, {None})
        real = [text for text in possible if (text.sha256 if text else None) == sha256]
        if not real:
            expected = ", ".join(text.canary if text else "nothing" for text in possible)
            return f"{document_id} is {sha256 or 'not there'}, and should be {expected}"
        self.may_be[document_id] = {real[0]}
        self._leave(possible - {real[0]})
        return None

    def _leave(self, texts: set[Text | None]) -> None:
        """Not yet forbidden: an accepted replacement becomes visible when its job is done."""
        self.leaving |= {text.canary for text in texts if text is not None}

    def settle(self) -> None:
        """Everything is quiet: what was replaced or deleted must not be seen again."""
        self.dead = self.dead | self.leaving
        self.leaving = set()
