"""How many answers are made at once."""

from collections import Counter


class Places:
    """So many places in all, so many of one caller; nobody waits for one."""

    def __init__(self, total: int, each: int | None, each_with_keys: int) -> None:
        self._total = total
        self._each = each
        self._each_with_keys = each_with_keys
        self._taken: Counter[str] = Counter()
        self.taken = 0
        """Answers under way."""

    def take(self, who: str, *, keyed: bool) -> bool:
        """Take a place, if there is one; each that is taken has to be given back."""
        each = self._each if self._each is not None else self._each_with_keys if keyed else self._total
        if self.taken >= self._total or self._taken[who] >= each:
            return False
        self.taken += 1
        self._taken[who] += 1
        return True

    def give_back(self, who: str) -> None:
        """The answer is over, however it ended."""
        self.taken -= 1
        self._taken[who] -= 1
        if not self._taken[who]:
            del self._taken[who]
