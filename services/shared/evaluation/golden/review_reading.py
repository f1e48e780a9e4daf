"""Reading a reviewed file back: forgiving about form, exact about what is wrong and where."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.golden import QUESTIONS_MAX, GoldenIn, GoldenState, Question
from services.shared.evaluation.golden.listed import listed

if TYPE_CHECKING:
    from yaml import MappingNode, Node

SHOWN = 5
"""Faults that are named at once; more would not be read."""
TEXT_MAX = 50_000_000
"""Characters of a review file."""

_STATES = {
    **dict.fromkeys(("yes", "y", "true", "keep", "approved"), GoldenState.APPROVED),
    **dict.fromkeys(("no", "n", "false", "reject", "rejected"), GoldenState.REJECTED),
    **dict.fromkeys(("undecided", "later", "proposed", "?", ""), GoldenState.PROPOSED),
}
_KEYS = listed("id keep question behaviour expected facts needed must_not gold kind tags language")
_ADVICE = {
    "behaviour": "write answer, abstain or decline",
    "question": "write what a visitor asks",
    "id": "give it an id of its own, such as g-opening-hours",
    "facts": 'write a list of facts, each a list of its wordings: - ["13 weeks", "thirteen weeks"]',
    "gold": "write a list, each with document and, if it is only a part of it, quote",
    "needed": "write a whole number from 1 on, or leave the line out",
    "must_not": 'write a list of words: ["word", "another"]',
    "tags": 'write a list of words: ["word", "another"]',
}


def read_items(text: str) -> list[GoldenIn]:
    """The questions of a review file. Raises RagstoneError (invalid_request)."""
    items: list[GoldenIn] = []
    faults: list[str] = []
    seen: dict[str, int] = {}
    for entry in _entries(text):
        line = entry.start_mark.line + 1
        try:
            item = _item(entry)
        except ValueError as error:
            faults.append(str(error))
        else:
            before = seen.setdefault(item.question.id, line)
            if before != line:
                faults.append(f"line {line}: the id {item.question.id} stands in line {before} too; change one of them")
            items.append(item)
        if len(faults) > SHOWN:
            break
    if faults:
        more = "; and more" if len(faults) > SHOWN else ""
        raise _refused("; ".join(faults[:SHOWN]) + more)
    return items


def _entries(text: str) -> "Iterator[MappingNode]":
    from yaml import MappingNode, SequenceNode

    root = _composed(text)
    if root is None:
        return
    if not isinstance(root, SequenceNode):
        raise _refused("the file is not a list of questions; each begins with a line such as - id: g-opening-hours")
    if len(root.value) > QUESTIONS_MAX:
        raise _refused(f"the file holds {len(root.value):,} questions and the limit is {QUESTIONS_MAX:,}; split it")
    for entry in root.value:
        if not isinstance(entry, MappingNode):
            line = entry.start_mark.line + 1
            raise _refused(f"line {line}: this is no question; each begins with a line such as - id: g-opening-hours")
        yield entry


def _composed(text: str) -> "Node | None":
    """The file as YAML's nodes, whose values are all texts: nothing becomes a date, a number or a no by accident."""
    import yaml

    class WithoutAliases(yaml.SafeLoader):
        def compose_node(self, parent: Any, index: Any) -> Any:
            # A few lines of aliases can stand for gigabytes.
            if self.check_event(yaml.AliasEvent):
                reader: Any = self
                line = reader.peek_event().start_mark.line + 1
                raise _refused(f"line {line}: it refers to another place (*name), which is not read; write it out")
            return super().compose_node(parent, index)

    if len(text) > TEXT_MAX:
        raise _refused(f"the file has more than {TEXT_MAX:,} characters; split it")
    try:
        return yaml.compose(text, WithoutAliases)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}" if mark else "somewhere"
        problem = getattr(error, "problem", None) or "it cannot be read"
        advice = "put texts with a colon or a quotation mark into double quotation marks, and indent with spaces"
        raise _refused(f"the file is no YAML at {where} ({problem}); {advice}") from error
    except RecursionError as error:
        raise _refused("the file is nested too deeply; write a plain list of questions") from error


def _item(entry: "MappingNode") -> GoldenIn:
    """Raises ValueError that names the line or the question, and says what to do."""
    values: dict[str, Any] = {}
    for key, node in entry.value:
        name = str(getattr(key, "value", ""))
        line = key.start_mark.line + 1
        if name not in _KEYS:
            raise ValueError(f"line {line}: {name!r} is no part of a question; known are {', '.join(sorted(_KEYS))}")
        if name in values:
            raise ValueError(f"line {line}: {name} is there twice; take one of them out")
        values[name] = _plain(node)
    line = entry.start_mark.line + 1
    id = str(values.get("id") or "")
    where = f"question {id} (line {line})" if id else f"line {line}"
    if not id:
        raise ValueError(f"{where}: the question has no id; {_ADVICE['id']}")
    if not str(values.get("question") or "").strip():
        raise ValueError(f"{where}: the question is missing; {_ADVICE['question']} behind question:")
    keep = str(values.get("keep", "")).strip().lower()
    if keep not in _STATES:
        raise ValueError(f"{where}: keep is {keep!r}; write yes, no or undecided")
    try:
        return GoldenIn(question=Question.model_validate(_fields(values)), state=_STATES[keep])
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        name = {"text": "question"}.get(place.split(".")[0], place.split(".")[0])
        advice = _ADVICE.get(name, "correct it")
        raise ValueError(f"{where}: {place} is not right ({first['msg']}); {advice}") from error


def _fields(values: Mapping[str, Any]) -> dict[str, Any]:
    """The contract's fields; what was left empty is left out."""
    fields = {key: value for key, value in values.items() if key != "keep" and value not in ("", None)}
    fields["text"] = fields.pop("question")
    if isinstance(fields.get("facts"), list):
        # A fact of one wording may be written without brackets.
        fields["facts"] = [[fact] if isinstance(fact, str) else fact for fact in fields["facts"]]
    for name in ("must_not", "tags"):
        if isinstance(fields.get(name), str):
            fields[name] = [fields[name]]
    if isinstance(fields.get("gold"), list):
        fields["gold"] = [_span(span) for span in fields["gold"]]
    return fields


def _span(span: Any) -> Any:
    if not isinstance(span, dict):
        return span
    renamed = {"document_id" if key == "document" else key: value for key, value in span.items()}
    return {key: value for key, value in renamed.items() if not (key == "quote" and value == "")}


def _plain(node: "Node") -> Any:
    from yaml import MappingNode, SequenceNode

    if isinstance(node, MappingNode):
        return {str(getattr(key, "value", "")): _plain(value) for key, value in node.value}
    if isinstance(node, SequenceNode):
        return [_plain(one) for one in node.value]
    return _text(node)


def _text(node: Any) -> Any:
    """The scalar's words; an empty or null one without quotation marks is nothing."""
    return None if node.style is None and node.value in ("", "~", "null") else node.value


def _refused(why: str) -> RagstoneError:
    return RagstoneError(ErrorCode.INVALID_REQUEST, f"the review cannot be read: {why}")
