"""Small weights that come with the product: a file of weights, and a manifest that holds its SHA-256."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

M = TypeVar("M", bound=BaseModel)
W = TypeVar("W", bound=BaseModel)


class DamagedError(Exception):
    """The files do not hold what they should; the text says which part."""


def read_signed(
    manifest_file: Path, weights_file: Path, manifest: type[M], weights: type[W], *, digest_of: Callable[[M], str]
) -> tuple[M, W]:
    """Both, read and compared; ``digest_of`` finds the digest in the manifest. Raises: DamagedError."""
    try:
        found = manifest.model_validate_json(manifest_file.read_bytes())
        content = weights_file.read_bytes()
        digest, wanted = hashlib.sha256(content).hexdigest(), digest_of(found)
        if digest != wanted:
            raise DamagedError(f"its weights have SHA-256 {digest} and not {wanted}")
        return found, weights.model_validate_json(content)
    except OSError as error:
        raise DamagedError(f"a file cannot be read ({error.strerror})") from error
    except ValidationError as error:
        raise DamagedError("a file does not hold what it should") from error
