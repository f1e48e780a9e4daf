"""Keeps lists, tables and paragraphs whole where sentences of the model are left out."""

import re
from dataclasses import replace

from services.generator.domain.model_text import Written

_NUMBERED = re.compile(r"\n(?P<indent>[ \t]*)\d+\. ")


class Layout:
    """Gives each sentence that is shown the Markdown that stands before it.

    A block's first sentence may be left out: the next one of the block takes over its mark. Numbers of a list
    close up, and a table's header comes with its first row that holds.
    """

    def __init__(self) -> None:
        self._left_over = ""
        self._numbers: dict[str, int] = {}
        self._header: tuple[str, ...] = ()

    def skip(self, written: Written) -> None:
        """This sentence is not shown."""
        if written.before != " ":
            self._left_over = written.before

    def placed(self, written: Written) -> Written:
        """The sentence as it is shown after those shown before."""
        mark = written.before if written.before != " " else self._left_over or " "
        self._left_over = ""
        if written.kind == "row":
            return self._row(written)
        self._header = ()
        if mark == "\n\n":
            self._numbers.clear()
        if numbered := _NUMBERED.fullmatch(mark):
            indent = numbered["indent"]
            self._numbers = {one: at for one, at in self._numbers.items() if len(one) <= len(indent)}
            self._numbers[indent] = self._numbers.get(indent, 0) + 1
            mark = f"\n{indent}{self._numbers[indent]}. "
        return replace(written, before=mark)

    def _row(self, written: Written) -> Written:
        if not written.header:
            return replace(written, before="\n\n")
        if written.header == self._header:
            return replace(written, before="\n")
        self._header = written.header
        ruler = " | ".join("---" for _ in written.header)
        head = f"| {' | '.join(written.header)} |\n| {ruler} |\n"
        return replace(written, before="\n\n", text=head + written.text)
