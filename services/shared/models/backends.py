"""Which library computes the vectors, and in which arithmetic."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from services.shared.contracts.errors import ErrorCode, RagstoneError

CPUINFO = Path("/proc/cpuinfo")
BFLOAT16_FLAGS = frozenset({"amx_bf16", "avx512_bf16"})

PRECISIONS = {"torch": ("float32", "bfloat16"), "onnx": ("float32", "int8")}
"""What each library can compute in, its usual one first."""


class Use(StrEnum):
    """What a process embeds most; it decides which backend is the quickest."""

    QUESTIONS = "questions"
    DOCUMENTS = "documents"


@dataclass(frozen=True)
class Backend:
    """A library and its arithmetic. Vectors of two backends of one model may be compared."""

    library: str
    precision: str

    def __str__(self) -> str:
        return f"{self.library} in {self.precision}"


def preferred(library: str, precision: str, use: Use, cpu_flags: frozenset[str]) -> list[Backend]:
    """The backends to try, best first; ``library`` and ``precision`` as set, ``auto`` leaves the choice open.

    An exported model may be missing or damaged, so torch is always the last.
    Raises RagstoneError (model_unavailable) for settings that make no sense.
    """
    _check(library, precision)
    torch = Backend("torch", precision if precision in PRECISIONS["torch"] else _torch_precision(cpu_flags))
    onnx = Backend("onnx", precision if precision in PRECISIONS["onnx"] else PRECISIONS["onnx"][0])
    if library == "torch" or precision == "bfloat16":
        return [torch]
    if library == "auto" and precision == "auto" and use is Use.DOCUMENTS and torch.precision == "bfloat16":
        # Documents go through torch about three times quicker there; the exported model helps where torch is not.
        return [torch, onnx]
    return [onnx, torch]


def exported_precision(library: str, precision: str) -> str | None:
    """In which arithmetic the model is to be exported; None when these settings never use an exported model."""
    _check(library, precision)
    if library == "torch" or precision == "bfloat16":
        return None
    return precision if precision in PRECISIONS["onnx"] else PRECISIONS["onnx"][0]


def cpu_flags() -> frozenset[str]:
    """The processor's features; none where the system does not list them."""
    try:
        listed = CPUINFO.read_text(errors="replace")
    except OSError:
        return frozenset()
    for line in listed.splitlines():
        if line.startswith("flags"):
            return frozenset(line.split(":", 1)[1].split())
    return frozenset()


def _torch_precision(cpu_flags: frozenset[str]) -> str:
    return "bfloat16" if cpu_flags & BFLOAT16_FLAGS else "float32"


def _check(library: str, precision: str) -> None:
    if library not in ("auto", *PRECISIONS):
        raise _wrong(f"RAGSTONE_EMBEDDER_BACKEND is '{library}': use torch, onnx or auto")
    known = PRECISIONS.get(library) or sorted({one for group in PRECISIONS.values() for one in group})
    if precision != "auto" and precision not in known:
        detail = f"RAGSTONE_EMBEDDER_PRECISION is '{precision}': use {', '.join(known)} or auto"
        raise _wrong(detail if library == "auto" else f"{detail} with RAGSTONE_EMBEDDER_BACKEND={library}")


def _wrong(detail: str) -> RagstoneError:
    return RagstoneError(ErrorCode.MODEL_UNAVAILABLE, detail)
