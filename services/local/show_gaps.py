"""What `ragstone gaps` prints for a person."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from services.shared.contracts.gaps import Gap, GapList, GapState

OTHERS = 3
"""Other wordings that a table shows of each gap."""
_STYLES = {GapState.ANSWERED: "green", GapState.DISMISSED: "dim"}


def gaps(console: Console, found: GapList) -> None:
    """A line a gap with its other wordings below, and how many there are in each state."""
    if not found.items:
        console.print("No gap: nobody asked in vain, as far as is known.", markup=False)
    else:
        table = Table(box=None, header_style="bold", pad_edge=False)
        for heading in ("id", "state", "asked", "bad", "question", "nearest", "last"):
            table.add_column(heading, overflow="fold", no_wrap=heading in ("id", "state"))
        for one in found.items:
            table.add_row(*_cells(one))
        console.print(table)
    counts = ", ".join(f"{number} {state}" for state, number in found.counts.items() if number)
    if counts:
        console.print(counts, markup=False, highlight=False)


def _cells(one: Gap) -> list[Text]:
    question = Text(_line(one.question))
    for other in one.others[:OTHERS]:
        question.append(f"\n{_line(other)}", style="dim")
    more = len(one.others) - OTHERS
    if more > 0:
        question.append(f"\nand {more} more", style="dim")
    cells = [Text(one.id), Text(one.state, style=_STYLES.get(one.state, "")), Text(str(one.asked))]
    cells += [Text(str(one.judged_bad)), question, Text("\n".join(_line(title) for title in one.nearest))]
    return [*cells, Text(f"{one.last_at:%Y-%m-%d}")]


def _line(text: str) -> str:
    return " ".join(text.split())
