"""Writes docs/settings.md from the settings classes: python -m tests.unit.settings_page > docs/settings.md."""

import importlib
import pkgutil
from pathlib import Path

from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings

import services

INTRO = """# Settings

Every setting is an environment variable. This page is made from the code; a test compares the two.
"""


def settings_classes() -> list[type[BaseSettings]]:
    """Every settings class of the tree, in the order of its module and name."""
    found: dict[str, type[BaseSettings]] = {}
    for module in pkgutil.walk_packages(services.__path__, "services."):
        if not module.name.endswith(".settings"):
            continue
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, type) and issubclass(value, BaseSettings) and value.__module__ == module.name:
                found[f"{module.name}.{value.__name__}"] = value
    return [found[name] for name in sorted(found)]


def variable(name: str, field: FieldInfo) -> str:
    """The environment variable of a field."""
    alias = field.validation_alias
    if alias is None:
        return f"RAGSTONE_{name.upper()}"
    choices = getattr(alias, "choices", [alias])
    return next(str(choice) for choice in choices if str(choice).isupper())


def page() -> str:
    """The whole page."""
    parts = [INTRO]
    seen: set[str] = set()
    for cls in settings_classes():
        rows = []
        for name, field in cls.model_fields.items():
            if name in seen and cls.__module__ != "services.shared.kit.settings" and name not in cls.__annotations__:
                continue
            seen.add(name)
            default = field.get_default(call_default_factory=True, validated_data={})
            shown = ", ".join(str(one) for one in default) if isinstance(default, list) else str(default)
            rows.append(f"| `{variable(name, field)}` | `{shown}` | {field.description} |")
        if rows:
            where = cls.__module__.removeprefix("services.").removesuffix(".settings")
            about = (cls.__doc__ or "").strip().splitlines()[0]
            parts += [f"\n## {where}: {about}\n", "| variable | default | meaning |", "|---|---|---|", *rows]
    return "\n".join(parts) + "\n"


def written() -> str:
    """The page as it is in docs."""
    return (Path(__file__).parents[2] / "docs" / "settings.md").read_text(encoding="utf-8")


if __name__ == "__main__":
    print(page(), end="")  # noqa: T201
