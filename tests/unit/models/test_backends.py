"""Which library and arithmetic a process is given."""

import pytest

from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.models.backends import Use, exported_precision, preferred

AMX = frozenset({"avx2", "amx_bf16"})
PLAIN = frozenset({"avx2", "avx512f"})


@pytest.mark.parametrize(
    ("library", "precision", "use", "flags", "tried"),
    [
        ("auto", "auto", Use.QUESTIONS, AMX, ["onnx in float32", "torch in bfloat16"]),
        ("auto", "auto", Use.QUESTIONS, PLAIN, ["onnx in float32", "torch in float32"]),
        ("auto", "auto", Use.DOCUMENTS, AMX, ["torch in bfloat16", "onnx in float32"]),
        ("auto", "auto", Use.DOCUMENTS, frozenset({"avx512_bf16"}), ["torch in bfloat16", "onnx in float32"]),
        ("auto", "auto", Use.DOCUMENTS, PLAIN, ["onnx in float32", "torch in float32"]),
        ("auto", "auto", Use.DOCUMENTS, frozenset(), ["onnx in float32", "torch in float32"]),
        ("auto", "float32", Use.DOCUMENTS, AMX, ["onnx in float32", "torch in float32"]),
        ("auto", "bfloat16", Use.QUESTIONS, PLAIN, ["torch in bfloat16"]),
        ("auto", "int8", Use.QUESTIONS, AMX, ["onnx in int8", "torch in bfloat16"]),
        ("torch", "auto", Use.QUESTIONS, AMX, ["torch in bfloat16"]),
        ("torch", "float32", Use.DOCUMENTS, AMX, ["torch in float32"]),
        ("onnx", "auto", Use.DOCUMENTS, AMX, ["onnx in float32", "torch in bfloat16"]),
        ("onnx", "int8", Use.DOCUMENTS, PLAIN, ["onnx in int8", "torch in float32"]),
    ],
)
def test_the_quickest_exact_enough_way_comes_first_and_torch_is_always_one(
    library: str, precision: str, use: Use, flags: frozenset[str], tried: list[str]
) -> None:
    assert [str(backend) for backend in preferred(library, precision, use, flags)] == tried


@pytest.mark.parametrize(
    ("library", "precision", "exported"),
    [
        ("auto", "auto", "float32"),
        ("onnx", "auto", "float32"),
        ("auto", "int8", "int8"),
        ("onnx", "int8", "int8"),
        ("auto", "bfloat16", None),
        ("torch", "auto", None),
        ("torch", "float32", None),
    ],
)
def test_what_is_exported_is_what_will_be_loaded(library: str, precision: str, exported: str | None) -> None:
    assert exported_precision(library, precision) == exported
    first = preferred(library, precision, Use.QUESTIONS, AMX)[0]
    assert (first.precision if first.library == "onnx" else None) == exported


@pytest.mark.parametrize(
    ("library", "precision", "says"),
    [
        ("tensorflow", "auto", "RAGSTONE_EMBEDDER_BACKEND is 'tensorflow': use torch, onnx or auto"),
        ("auto", "int3", "RAGSTONE_EMBEDDER_PRECISION is 'int3': use bfloat16, float32, int8 or auto"),
        ("torch", "int8", "use float32, bfloat16 or auto with RAGSTONE_EMBEDDER_BACKEND=torch"),
        ("onnx", "bfloat16", "use float32, int8 or auto with RAGSTONE_EMBEDDER_BACKEND=onnx"),
    ],
)
def test_settings_that_make_no_sense_are_refused_with_what_would(library: str, precision: str, says: str) -> None:
    for refusing in (
        lambda: preferred(library, precision, Use.QUESTIONS, AMX),
        lambda: exported_precision(library, precision),
    ):
        with pytest.raises(RagstoneError, match=says) as refused:
            refusing()
        assert refused.value.code == ErrorCode.MODEL_UNAVAILABLE
