"""Markdown files: front matter by PyYAML, the body as it is."""

from collections.abc import Mapping
from typing import Any

from services.ingestor.adapters.parsers.decode import decode
from services.ingestor.domain.blocks import h1_of, markdown_blocks
from services.ingestor.domain.documents import Extracted
from services.ingestor.domain.front_matter import (
    FrontMatter,
    interpret,
    split,
    warning_of,
    with_negatives,
    with_quoted_items,
)

FRONT_MATTER_MAX = 100_000
"""Characters. The reader is slow, and a description is short."""


class _AliasError(ValueError):
    """The front matter refers to another part of itself."""


def parse(data: bytes, name: str) -> Extracted:
    """The body as text, described by the front matter.

    Front matter that is no YAML mapping stays part of the text, so that nothing is lost, with a warning.
    """
    decoded = decode(data, name)
    described, body, fault = _front_matter(decoded.text, name)
    text, body_end, negatives = with_negatives(body, described.negatives)
    warnings = (decoded.warning, fault, warning_of(described.no_sentences, name))
    # The first heading stands near the beginning; a whole large file need not be scanned for it twice.
    return Extracted(
        text=text,
        markdown=True,
        title=described.title or h1_of(markdown_blocks(body[:2000]), body),
        type=described.type,
        tags=described.tags,
        source=described.source,
        metadata=described.metadata,
        warning="; ".join(part for part in warnings if part) or None,
        negatives=negatives,
        body_end=body_end,
    )


def _front_matter(text: str, name: str) -> tuple[FrontMatter, str, str | None]:
    source, body = split(text)
    if source is None:
        return FrontMatter(), text, None
    if len(source) > FRONT_MATTER_MAX:
        return (
            FrontMatter(),
            text,
            f"the front matter of {name} is longer than {FRONT_MATTER_MAX:,} characters and was taken as text",
        )
    import yaml

    try:
        try:
            value = _loaded(source)
        except yaml.YAMLError:
            quoted = with_quoted_items(source)
            if quoted == source:
                raise
            value = _loaded(quoted)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 2}" if mark else ""
        why = (
            "holds aliases (*name), which are not read,"
            if isinstance(error, _AliasError)
            else f"is not valid YAML{where}"
        )
        fault = f"the front matter of {name} {why} and was taken as text; correct it and send again"
        return FrontMatter(), text, fault
    if value is None:
        return FrontMatter(), body, None
    if not isinstance(value, Mapping):
        return FrontMatter(), text, f"the front matter of {name} is not a list of keys and was taken as text"
    return interpret(value), body, None


def _loaded(source: str) -> Any:
    """The YAML's value. An alias is refused: a few lines of them can stand for gigabytes, or for themselves."""
    import yaml

    class WithoutAliases(yaml.SafeLoader):
        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                raise _AliasError
            return super().compose_node(parent, index)

    return yaml.load(source, WithoutAliases)  # noqa: S506
