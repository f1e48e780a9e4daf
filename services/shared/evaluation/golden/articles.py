"""Whether a thing can be named without an article: told by its last letters, which is right often enough."""

from collections.abc import Sequence

from services.shared.evaluation.golden.listed import listed

_BEHIND = listed("of for in on at with from to by about as during after before")
_UNCOUNTED = tuple(listed("s ing tion ment ity ness ship ance ence acy ism ware age ure ology"))
_MASS = listed(
    "work travel leave feedback access time pay support training data content security research salary health"
)


def needs_no_article(words: Sequence[str]) -> bool:
    """``the result``, ``vouchers``, ``remote work``, but not ``project checklist``: told by its article and head."""
    own = words[0].lower() in ("the", "a", "an", "your", "all") or words[0].endswith("'s")
    return own or "and" in words or _head(words)[-1:].isupper() or _is_uncounted(words)


def with_article(words: Sequence[str]) -> str:
    """``an adapter for Kafka``, ``any direct reports``."""
    article = "any" if _is_uncounted(words) else "an" if words[0][0].lower() in "aeiou" else "a"
    return f"{article} {' '.join(words)}"


def _is_uncounted(words: Sequence[str]) -> bool:
    head = _head(words).lower()
    return head.endswith(_UNCOUNTED) or head in _MASS


def _head(words: Sequence[str]) -> str:
    """The word before the first preposition."""
    end = next((n for n, word in enumerate(words) if word.lower() in _BEHIND), len(words))
    return words[end - 1] if end else ""
