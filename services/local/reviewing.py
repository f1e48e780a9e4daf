"""Golden questions on their way to an owner and back: review files that are written and read."""

from collections.abc import Sequence
from pathlib import Path

from services.local.folder import shown
from services.local.question_files.files import LINES, REVIEWS
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.golden import GoldenQuestion, GoldenState


def check_free(path: Path, *, force: bool, for_review: bool = False) -> None:
    """A file may be written there.

    Raises: RagstoneError when it is there and may not be replaced, or is of no kind that is known; ``for_review``
    also for JSON lines, which hold approved questions only.
    """
    if for_review and path.suffix.lower() in LINES:
        detail = (
            f"{shown(path)} cannot hold proposals: JSON lines have no place for a yes or no. "
            f"Name a file that ends in {' or '.join(REVIEWS)}; `ragstone golden export` writes approved ones as lines."
        )
        raise RagstoneError(ErrorCode.INVALID_REQUEST, detail)
    if path.suffix.lower() not in (*REVIEWS, *LINES):
        kinds = ", ".join((*REVIEWS, *LINES))
        raise RagstoneError(ErrorCode.INVALID_REQUEST, f"{shown(path)} ends in none of {kinds}; name it so.")
    if path.exists() and not force:
        detail = f"{shown(path)} is there already; name another file, or replace it with --force."
        raise RagstoneError(ErrorCode.INVALID_REQUEST, detail)


def write(path: Path, items: Sequence[GoldenQuestion]) -> int:
    """Write a review file, or JSON lines of what may be asked (approved and unflagged); how many were written.

    Raises: RagstoneError.
    """
    if path.suffix.lower() in LINES:
        asked = [item for item in items if item.state is GoldenState.APPROVED and item.flagged is None]
        text = "".join(item.question.model_dump_json(exclude_defaults=True) + "\n" for item in asked)
    else:
        from services.shared.evaluation.golden.review import write_review

        asked, text = list(items), write_review(items)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise RagstoneError(ErrorCode.INVALID_REQUEST, f"{shown(path)} cannot be written: {error.strerror}.") from error
    return len(asked)
