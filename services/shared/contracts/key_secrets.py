"""How the secret of a key is written, and how a shown one is compared with what is kept of it."""

import hashlib
import hmac
import re
from typing import NamedTuple

from services.shared.contracts.keys import KEY_PREFIX

_WRITTEN = re.compile(rf"{KEY_PREFIX}([0-9a-z]{{1,32}})_([0-9a-z]{{16,128}})", re.ASCII)


class Shown(NamedTuple):
    """The two halves of what a caller shows; both empty when it is no key at all."""

    id: str
    secret: str


def written(id: str, secret: str) -> str:
    """The whole secret, as it is shown once: letters and digits, so that a double click takes all of it."""
    return f"{KEY_PREFIX}{id}_{secret}"


def read(text: str) -> Shown:
    """The halves of a whole secret."""
    found = _WRITTEN.fullmatch(text)
    return Shown("", "") if found is None else Shown(found[1], found[2])


def hash_of(secret: str) -> str:
    """What is kept of a secret: SHA-256 in hex.

    A fast hash is right here. Slow ones (bcrypt, Argon2) make it dear to try what people choose as passwords; a secret
    is 256 random bits, of which nobody tries a noticeable share at any speed, and every request would pay for it.
    """
    return hashlib.sha256(secret.encode()).hexdigest()


NO_HASH = "0" * 64
"""Compared with where there is no key of that id, so that the work is the same; no secret is known to have it."""


def same(shown: str, kept_hash: str) -> bool:
    """Is it the secret whose hash is kept? Takes as long wherever the two differ."""
    return hmac.compare_digest(hash_of(shown), kept_hash)
