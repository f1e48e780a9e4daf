"""Names of language models, which every server writes a little differently."""

import re

_ENDING = re.compile(r"(?:\.gguf|:latest)$")


def same_model(one: str, other: str) -> bool:
    """Do two servers mean the same model? Path, case, file ending and Ollama's ``:latest`` make no difference."""
    return _plain(one) == _plain(other)


def _plain(name: str) -> str:
    return _ENDING.sub("", name.strip().lower().replace("\\", "/").rsplit("/", 1)[-1])
