"""The owner's profile from its YAML file; a fault is named by its line and field."""

from pathlib import Path

import yaml
from pydantic import ValidationError

from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.profile import Profile


def load_profile(path: Path | None) -> Profile:
    """The profile; a neutral one when no path is set. Raises RagstoneError (profile_invalid)."""
    if path is None:
        return Profile()
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise _invalid(path, None, f"cannot be read: {why}; correct RAGSTONE_PROFILE or leave it unset") from error
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        values = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        why = getattr(error, "problem", None) or str(error)
        raise _invalid(path, None if mark is None else mark.line + 1, f"is not YAML: {why}") from error
    return _checked(path, root, {} if values is None else values)


def _checked(path: Path, root: yaml.Node | None, values: object) -> Profile:
    try:
        profile = Profile.model_validate(values)
    except ValidationError as error:
        # A field that nobody knows is likely the misspelling of one that is missing, so it is named first.
        fault = min(error.errors(), key=lambda fault: fault["type"] != "extra_forbidden")
        field = ".".join(str(step) for step in fault["loc"]) or "the whole"
        raise _invalid(path, _line_of(root, fault["loc"]), f"{field}: {fault['msg']}") from error
    if profile.subject is not None and not profile.subject.name.strip():
        raise _invalid(path, _line_of(root, ("subject", "name")), "subject.name: is blank; name the subject")
    return profile


def _line_of(node: yaml.Node | None, steps: tuple[int | str, ...]) -> int | None:
    """The line of the innermost part of the path that the file holds."""
    if node is None:
        return None
    line = node.start_mark.line + 1
    for step in steps:
        if isinstance(node, yaml.MappingNode):
            found = next((pair for pair in node.value if pair[0].value == step), None)
            if found is None:
                break
            line, node = found[0].start_mark.line + 1, found[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
            line = node.start_mark.line + 1
        else:
            break
    return line


def _invalid(path: Path, line: int | None, what: str) -> RagstoneError:
    where = f"Profile {path}" if line is None else f"Profile {path}, line {line}"
    return RagstoneError(ErrorCode.PROFILE_INVALID, f"{where}: {what}.")
