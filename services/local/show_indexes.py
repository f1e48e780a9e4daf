"""What `ragstone reembed` and `ragstone indexes` print for a person."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from services.local.doors import as_commands
from services.shared.contracts.indexes import Index, IndexComparison, IndexList, IndexPhase

NONE = "Nothing has been ingested into this space, so it has no index yet."
_STYLES = {IndexPhase.SERVING: "green", IndexPhase.FAILED: "red", IndexPhase.RETIRED: "dim"}
_GOLDEN = {"own": "of the approved golden set", "made": "made of the content"}


def indexes(console: Console, found: IndexList, where: str) -> None:
    """A line an index, and below what is to be said of each."""
    if not found.items:
        console.print(f"{NONE} The first one is made with {found.configured}.", markup=False, highlight=False)
        return
    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in ("id", "state", "embedder", "width", "vectors", "behind", "left"):
        table.add_column(heading, overflow="fold", no_wrap=heading in ("id", "state"))
    for one in found.items:
        table.add_row(*(Text(cell, style=_STYLES.get(one.state, "")) for cell in _cells(one)))
    console.print(table)
    for one in found.items:
        _notes(console, one, where)


def built(console: Console, one: Index, where: str) -> None:
    """What came out of building one, and how to go on."""
    vectors = f"{one.vectors} vectors of width {one.embedder.dimension or 0}"
    console.print(Text(f"Index {one.id} ({one.embedder.name}): {vectors}, {one.state}", style="bold"))
    _notes(console, one, where)
    if one.state is IndexPhase.READY:
        force = " --force" if one.comparison is None or one.comparison.worse else ""
        console.print(Text(f"`ragstone indexes promote {one.id}{force}{where}` lets it serve."), soft_wrap=True)


def switched(console: Console, one: Index, where: str) -> None:
    """Which index serves now, or that it does not yet."""
    if one.state is IndexPhase.SERVING:
        said = f"Index {one.id} ({one.embedder.name}) serves. `ragstone indexes rollback{where}` goes back."
        console.print(Text(said, style="green"), soft_wrap=True)
    else:
        said = f"Index {one.id} does not serve yet. `ragstone indexes{where}` shows when it does."
        console.print(Text(said, style="yellow"), soft_wrap=True)
    if one.reason:
        console.print(Text(as_commands(one.reason, where), style="yellow"), soft_wrap=True)


def comparison(one: IndexComparison) -> str:
    """The figures in a sentence."""
    word = "finds less than" if one.worse else "is not shown to find less than"
    return (
        f"It {word} the serving one: {one.metric} {one.candidate:.3f} against {one.serving:.3f}, difference "
        f"{one.difference:+.3f} (95 % interval {one.low:+.3f} to {one.high:+.3f}), by {one.questions} questions "
        f"{_GOLDEN.get(one.golden, one.golden)}."
    )


def _cells(one: Index) -> tuple[str, ...]:
    amount = str(one.vectors) if one.vectors == one.chunks else f"{one.vectors}/{one.chunks}"
    left = "" if one.seconds_left is None else _time(one.seconds_left)
    width = "" if one.embedder.dimension is None else str(one.embedder.dimension)
    behind = "" if one.state is IndexPhase.SERVING else str(one.lag)
    return (str(one.id), str(one.state), one.embedder.name, width, amount, behind, left)


def _notes(console: Console, one: Index, where: str) -> None:
    if one.comparison is not None and one.state is not IndexPhase.SERVING:
        style = "red" if one.comparison.worse else ""
        console.print(Text(f"{one.id}: {comparison(one.comparison)}", style=style), soft_wrap=True)
    if one.truncated:
        said = (
            f"{one.id}: {one.truncated} passages are longer than {one.embedder.name} reads "
            f"({one.embedder.max_tokens} tokens) and stand in it by their beginning."
        )
        console.print(Text(said, style="yellow"), soft_wrap=True)
    if one.reason:
        console.print(Text(f"{one.id}: {as_commands(one.reason, where)}", style="yellow"), soft_wrap=True)


def _time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
