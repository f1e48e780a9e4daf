"""Which arithmetic a processor is given."""

import pytest

from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.models.loader import resolve_precision


@pytest.mark.parametrize(
    ("wanted", "flags", "precision"),
    [
        ("auto", {"avx2", "amx_bf16"}, "bfloat16"),
        ("auto", {"avx512_bf16"}, "bfloat16"),
        ("auto", {"avx2", "avx512f"}, "float32"),
        ("auto", set(), "float32"),
        ("float32", {"amx_bf16"}, "float32"),
        ("bfloat16", set(), "bfloat16"),
    ],
)
def test_auto_follows_the_processor(wanted: str, flags: set[str], precision: str) -> None:
    assert resolve_precision(wanted, frozenset(flags)) == precision


def test_an_unknown_precision_is_refused() -> None:
    with pytest.raises(RagstoneError, match="float32, bfloat16 or auto") as refused:
        resolve_precision("int3", frozenset())
    assert refused.value.code == ErrorCode.MODEL_UNAVAILABLE
