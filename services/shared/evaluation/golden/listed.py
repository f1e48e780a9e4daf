"""Word lists as a person can read and extend them."""


def listed(words: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(words.split())
