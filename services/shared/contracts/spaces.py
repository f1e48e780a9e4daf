"""What a space may be called."""

import re

SPACE_RULE = "1 to 63 of a-z, 0-9, _ and -, beginning with a letter or digit"

_SPACE = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")


def is_space_name(name: str) -> bool:
    """May a space be called so?"""
    return _SPACE.fullmatch(name) is not None
