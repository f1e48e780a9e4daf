"""What `pip install '.[gateway]'` and `'.[generator]'` bring along, followed through every requirement."""

import re
from importlib.metadata import PackageNotFoundError, distribution

import pytest
from packaging.requirements import Requirement

HEAVY = {
    *("torch", "numpy", "chromadb", "chromadb-client", "sentence-transformers", "transformers", "rank-bm25"),
    *("onnx", "onnxruntime", "tokenizers"),
}


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def brought_by(name: str, extras: frozenset[str], seen: set[tuple[str, frozenset[str]]]) -> set[str]:
    """Every distribution that this one needs, itself included."""
    if (name, extras) in seen:
        return set()
    seen.add((name, extras))
    found = {name}
    try:
        requirements = distribution(name).requires or []
    except PackageNotFoundError:
        return found
    for line in requirements:
        requirement = Requirement(line)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in extras | {""}):
            found |= brought_by(canonical(requirement.name), frozenset(requirement.extras), seen)
    return found


@pytest.mark.parametrize("service", ["gateway", "generator"])
def test_a_lean_service_brings_nothing_heavy(service: str) -> None:
    brought = brought_by("ragstone", frozenset({service}), set())
    assert "fastapi" in brought
    assert brought & HEAVY == set()


def test_the_retriever_is_not_lean_so_the_check_can_fail() -> None:
    assert brought_by("ragstone", frozenset({"retriever"}), set()) & HEAVY
