"""Words by which a sentence leans on the one before it."""

import re

_LEANS_BACK = re.compile(
    r"[\W_]*(?:he|she|it|they|his|her|its|their|this|that|these|those|such|both|also|then|so|however|therefore"
    r"|instead|otherwise|er|sie|es|dies\w*)\b(?!['’]\w)",
    re.IGNORECASE,
)


def leans_back(sentence: str) -> bool:
    """Whether the sentence cannot be understood without the one before: it begins with "It", "This", "However"."""
    return _LEANS_BACK.match(sentence) is not None
