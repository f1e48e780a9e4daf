"""The owner's profile from its YAML file; every fault is named by its line and field, all of them at once."""

import difflib
import re
import types
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args, get_origin

import yaml
from pydantic import BaseModel, ValidationError

from services.gateway.domain.fixed_texts import in_its_language
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.profile import Profile

_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")
_IS = {str: "a text", int: "a number", float: "a number", bool: "yes or no", list: "a list", dict: "a group of fields"}
_WANTED = {
    "string_type": "a text",
    "list_type": "a list, as in [one, two]",
    "model_type": "a group of fields, one a line and indented",
    "dict_type": "a group of fields, one a line and indented",
}


@dataclass(frozen=True)
class Fault:
    """What is wrong in one place; no line where the file as a whole is meant."""

    line: int | None
    what: str


def load_profile(path: Path | None) -> Profile:
    """The profile; a neutral one when no path is set.

    Raises: RagstoneError (profile_invalid), whose detail has a line for each fault.
    """
    if path is None:
        return Profile()
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise _invalid(
            path, [Fault(None, f"cannot be read: {why}; correct RAGSTONE_PROFILE or leave it unset")]
        ) from error
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        if (line := _circle(root, set(), set())) is not None:
            why = "an alias (*name) stands inside of what it stands for; write out what is meant"
            raise _invalid(path, [Fault(line, why)])
        values = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        why = getattr(error, "problem", None) or str(error)
        raise _invalid(path, [Fault(None if mark is None else mark.line + 1, f"is not YAML: {why}")]) from error
    except RecursionError as error:
        raise _invalid(path, [Fault(None, "lists or groups stand too deep inside of one another")]) from error
    profile, faults = _checked(root, {} if values is None else values)
    if profile is None or faults:
        raise _invalid(path, faults)
    return in_its_language(profile)


def _checked(root: yaml.Node | None, values: object) -> tuple[Profile | None, list[Fault]]:
    faults = list(_twice(root, ()))
    profile: Profile | None = None
    try:
        profile = Profile.model_validate(values)
    except ValidationError as error:
        errors = error.errors()
        misspelt = {(*one["loc"][:-1], _near(one["loc"])) for one in errors if one["type"] == "extra_forbidden"}
        faults += [
            _fault(root, one["type"], one["loc"], one["msg"], one["input"])
            for one in errors
            if one["type"] != "missing" or one["loc"] not in misspelt
        ]
    else:
        faults += [Fault(_line_of(root, loc), f"{_dotted(loc)}: {what}") for loc, what in _senseless(profile)]
    return profile, sorted(set(faults), key=lambda fault: (fault.line or 0, fault.what))


def _fault(root: yaml.Node | None, kind: str, loc: tuple[int | str, ...], message: str, given: object) -> Fault:
    field = _dotted(loc)
    if kind == "extra_forbidden":
        near = _near(loc)
        hint = f"did you mean {near}?" if near else f"known are {', '.join(_fields_at(loc[:-1]))}"
        what = f"{field}: there is no such field; {hint}"
    elif kind == "missing":
        what = f"{field}: is missing"
    elif kind in _WANTED:
        written = _scalar(root, loc)
        quoted = f'; put it in quotes: "{written}"' if kind == "string_type" and written else ""
        what = f"{field}: has to be {_WANTED[kind]}, and is {_kind(given)}{quoted}"
    else:
        what = f"{field}: {message[:1].lower()}{message[1:]}"
    return Fault(_line_of(root, loc), what)


def _kind(given: object) -> str:
    return "empty" if given is None else _IS.get(type(given), f"a {type(given).__name__}")


def _dotted(loc: tuple[int | str, ...]) -> str:
    return ".".join(str(step) for step in loc) or "the whole"


def _near(loc: tuple[int | str, ...]) -> str | None:
    """The field that was likely meant."""
    return next(iter(difflib.get_close_matches(str(loc[-1]), _fields_at(loc[:-1]), n=1)), None)


def _fields_at(loc: tuple[int | str, ...]) -> list[str]:
    """The fields that the part of a profile at this place may have."""
    model: Any = Profile
    for step in loc:
        if isinstance(step, str) and isinstance(model, type) and issubclass(model, BaseModel):
            model = model.model_fields[step].annotation if step in model.model_fields else None
        if isinstance(model, types.UnionType):
            model = next((one for one in get_args(model) if one is not types.NoneType), None)
        if get_origin(model) is list:
            model = get_args(model)[0]
    return list(model.model_fields) if isinstance(model, type) and issubclass(model, BaseModel) else []


def _senseless(profile: Profile) -> Iterator[tuple[tuple[int | str, ...], str]]:
    """What has the right form and says nothing."""
    if profile.subject is not None and not profile.subject.name.strip():
        yield ("subject", "name"), "is blank; name the subject"
    if not _LANGUAGE.fullmatch(profile.language):
        yield ("language",), f'"{profile.language}" is no language tag; write one such as en, de or pt-BR'
    for n, topic in enumerate(profile.decline):
        if not any(char.isalnum() for char in topic.topic):
            yield ("decline", n, "topic"), "is blank; name the topic by a word that questions about it hold"
        for at, word in enumerate(topic.words):
            if not any(char.isalnum() for char in word):
                yield ("decline", n, "words", at), "is blank; leave it out"
        if topic.text is not None and not topic.text.strip():
            yield ("decline", n, "text"), "is blank; leave it out to say texts.declined"
    for name, text in profile.texts.model_dump().items():
        if not text.strip() and name != "topics_intro":
            yield ("texts", name), "is blank; leave it out for the usual text"


def _twice(node: yaml.Node | None, loc: tuple[int | str, ...]) -> Iterator[Fault]:
    """Fields that stand twice; YAML would let the last one win without a word."""
    if isinstance(node, yaml.SequenceNode):
        for n, item in enumerate(node.value):
            yield from _twice(item, (*loc, n))
    if not isinstance(node, yaml.MappingNode):
        return
    seen: dict[str, int] = {}
    for key, value in node.value:
        line = key.start_mark.line + 1
        name = str(key.value)
        if name in seen:
            yield Fault(line, f"{_dotted((*loc, name))}: is there already in line {seen[name]}; keep one of the two")
        seen.setdefault(name, line)
        yield from _twice(value, (*loc, name))


def _circle(node: yaml.Node | None, around: set[int], done: set[int]) -> int | None:
    """The line of a part that holds itself, which has no end; ``around`` are the parts that this one stands in."""
    if not isinstance(node, yaml.CollectionNode) or id(node) in done:
        return None
    if id(node) in around:
        return node.start_mark.line + 1
    inner = [one for pair in node.value for one in (pair if isinstance(pair, tuple) else (pair,))]
    around.add(id(node))
    found = next((line for one in inner if (line := _circle(one, around, done)) is not None), None)
    around.discard(id(node))
    done.add(id(node))
    return found


def _line_of(node: yaml.Node | None, steps: tuple[int | str, ...]) -> int | None:
    """The line of the innermost part of the path that the file holds."""
    if node is None:
        return None
    line = node.start_mark.line + 1
    for step in steps:
        if isinstance(node, yaml.MappingNode):
            found = next((pair for pair in reversed(node.value) if pair[0].value == step), None)
            if found is None:
                break
            line, node = found[0].start_mark.line + 1, found[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
            line = node.start_mark.line + 1
        else:
            break
    return line


def _scalar(node: yaml.Node | None, steps: tuple[int | str, ...]) -> str:
    """What stands there as the owner wrote it; nothing where it is no single value."""
    for step in steps:
        if isinstance(node, yaml.MappingNode):
            node = next((value for key, value in reversed(node.value) if key.value == step), None)
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
        else:
            return ""
    return str(node.value) if isinstance(node, yaml.ScalarNode) else ""


def _invalid(path: Path, faults: list[Fault]) -> RagstoneError:
    if len(faults) == 1:
        fault = faults[0]
        where = f"Profile {path}" if fault.line is None else f"Profile {path}, line {fault.line}"
        return RagstoneError(ErrorCode.PROFILE_INVALID, f"{where}: {fault.what}.")
    lines = [f"  line {fault.line}: {fault.what}" for fault in faults]
    return RagstoneError(ErrorCode.PROFILE_INVALID, "\n".join([f"Profile {path} has {len(faults)} faults:", *lines]))
