"""Which profile.yaml a run speaks with, also when it is started again without naming it."""

import shlex
from collections.abc import Mapping, MutableMapping, Sequence
from pathlib import Path

from services.local.folder import shown

PROFILE = "profile.yaml"
SETTING = "RAGSTONE_PROFILE"
REMEMBERED = "profile.path"


def adopt_profile(content: Sequence[Path], environment: MutableMapping[str, str], state_dir: Path) -> None:
    """Set RAGSTONE_PROFILE, where it is not set, to the profile.yaml of the content's first folder that has one.

    Without any, the one of the last time, which the state folder remembers; without that, the one in the current
    folder; else none, and Ragstone speaks neutrally. One that was set by hand is not remembered.
    """
    if environment.get(SETTING):
        return
    candidates = (_of(content), _remembered(state_dir), _of([Path()]))
    found = next((profile for profile in candidates if profile is not None), None)
    if found is not None:
        environment[SETTING] = str(found)
        remember(state_dir, found)


def remember(state_dir: Path, profile: Path) -> None:
    """The next run speaks with this one, unless another is named."""
    state_dir.mkdir(parents=True, exist_ok=True)
    (state_dir / REMEMBERED).write_text(f"{profile}\n", encoding="utf-8", errors="surrogateescape")


def profile_of(environment: Mapping[str, str], state_dir: Path) -> str | None:
    """The profile that the next run on this state folder speaks with, if nothing else is said."""
    remembered = _remembered(state_dir)
    return environment.get(SETTING) or (str(remembered) if remembered is not None else None)


def why_idle(content: Sequence[Path], used: str | None) -> str | None:
    """What to say when the content has a profile of its own that the run does not use; null when there is nothing."""
    own = _of(content)
    if own is None or (used is not None and Path(used).resolve() == own.resolve()):
        return None
    folder = shlex.quote(shown(own.parent))
    return (
        f"{shown(own)} is not in use: this run speaks {speaks(used)}. "
        f"To use it: ragstone down; ragstone up --ingest {folder} (or set {SETTING} to it before `ragstone up`)."
    )


def speaks(used: str | None) -> str:
    """With whose profile a run speaks, in words."""
    return f"with {shown(used)}" if used else "without a profile"


def _of(content: Sequence[Path]) -> Path | None:
    return next(((place / PROFILE).absolute() for place in content if (place / PROFILE).is_file()), None)


def _remembered(state_dir: Path) -> Path | None:
    try:
        noted = (state_dir / REMEMBERED).read_text(encoding="utf-8", errors="surrogateescape").strip()
    except OSError:
        return None
    return Path(noted) if noted and Path(noted).is_file() else None
