"""Who counts what the flows have done."""

from typing import Protocol

from services.shared.contracts.answers import Answer


class Observer(Protocol):
    """Neither waits nor fails."""

    def answered(self, answer: Answer) -> None:
        """Somebody was given this answer."""
        ...
