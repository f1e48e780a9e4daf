"""What a setting is called, and what it may be, in words."""

import os
from enum import Enum
from typing import Any, Literal, get_args, get_origin

from annotated_types import Ge, Gt, Le
from pydantic import AliasChoices
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings

PREFIX = "RAGSTONE_"


def variable_of(table: type[BaseSettings], place: str) -> tuple[str, FieldInfo]:
    """The environment variable behind a place in a table, and its field; of several names, the one that is set."""
    for name, field in table.model_fields.items():
        alias = field.validation_alias
        names = [str(one) for one in alias.choices] if isinstance(alias, AliasChoices) else [name]
        if place == name or place in names:
            variables = [one if one.isupper() else f"{PREFIX}{one.upper()}" for one in names]
            return next((one for one in variables if one in os.environ), variables[0]), field
    raise KeyError(place)


def allowed(field: FieldInfo) -> str:
    """What a setting may be, with an example where the words alone do not show it."""
    kinds = get_args(field.annotation) if get_origin(field.annotation) is not Literal else ()
    kinds = kinds or (field.annotation,)
    words = next((said for kind in kinds if (said := _words(kind)) is not None), "text that can be read")
    if get_origin(field.annotation) is list:
        words = f"a list {f'of {words} ' if _chosen(kinds[0]) else ''}with commas between, or as JSON"
    for limit in field.metadata:
        if getattr(limit, "pattern", None):
            words = "text"
        elif isinstance(limit, Ge):
            words += f" from {limit.ge}"
        elif isinstance(limit, Gt):
            words += f" above {limit.gt}"
        elif isinstance(limit, Le):
            words += f" to {limit.le}"
    example = _example(field)
    return words if example is None or bool in kinds or _chosen(kinds[0]) else f"{words}, such as {example}"


def _words(kind: Any) -> str | None:
    if kind is bool:
        return "true or false"
    if kind is int:
        return "a whole number"
    if kind is float:
        return "a number"
    chosen = _chosen(kind)
    return " or ".join((", ".join(chosen[:-1]), chosen[-1])) if len(chosen) > 1 else None


def _chosen(kind: Any) -> list[str]:
    """The values to choose from, where there are some."""
    if get_origin(kind) is Literal:
        return [str(one) for one in get_args(kind)]
    if isinstance(kind, type) and issubclass(kind, Enum):
        return [str(one.value) for one in kind]
    return []


def _example(field: FieldInfo) -> str | None:
    if field.examples:
        return str(field.examples[0])
    default = field.get_default(call_default_factory=True, validated_data={})
    return None if default is None or default == [] else str(default)
