"""What people see of `ragstone search`: passages, and with --explain how they were found."""

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from services.local.show import place
from services.shared.contracts.places import place_of
from services.shared.contracts.search import Passage, SearchResponse

LIST_ROWS = 10
"""Rows of each list that are printed; --json has them all."""


def search(console: Console, found: SearchResponse) -> None:
    """Passages, best first, then the trace where it was asked for."""
    for n, passage in enumerate(found.passages, 1):
        _passage(console, n, passage)
    if found.sub_questions:
        console.print(Text(f"looked up in parts: {' | '.join(found.sub_questions)}", style="dim"))
    verdict = found.verdict
    limit = "" if verdict.threshold is None else f" (limit {verdict.threshold:.2f})"
    console.print(
        Text(f"answerable {verdict.answerable:.2f}{limit}, gate {verdict.gate}: {verdict.reason}", style="dim")
    )
    if found.degraded:
        console.print(Text(f"left out: {', '.join(found.degraded)}", style="yellow"))
    if found.trace is not None:
        _trace(console, found.trace, {passage.chunk_id: n for n, passage in enumerate(found.passages, 1)})


def _passage(console: Console, n: int, passage: Passage) -> None:
    at = place_of(passage.places, passage.start, passage.end)
    where = ", ".join(part for part in (place(passage.title, passage.section), at) if part)
    console.print(Text.assemble((f"{n}. ", "bold cyan"), (where, "bold"), (f"  {passage.score:.4f}", "dim")))
    measures = [
        f"{name} {value:.3f}"
        for name, value in (("distance", passage.distance), ("bm25", passage.bm25), ("critic", passage.critic))
        if value is not None
    ]
    console.print(Text(f"   {passage.document_id}  {', '.join(measures)}", style="dim"))
    console.print(Text(f"   {' '.join(passage.text.split())}"))
    if passage.also_in:
        others = ", ".join(place(also.title, also.section) for also in passage.also_in)
        console.print(Text(f"   the same stands in: {others}", style="dim"))


def _trace(console: Console, trace: dict[str, Any], shown: dict[str, int]) -> None:
    stages = trace.get("stages", {})
    if stages:
        on = [name for name, value in stages.items() if value is True]
        depth = trace["depth"]
        why = ", ".join(depth["signals"]) or "a short question"
        console.print(Text(f"\nstages: {', '.join(on)}; fusion {stages['fusion']}", style="bold"))
        console.print(f"depth: {depth['per_list']} a list, {depth['judged']} judged (score {depth['score']}: {why})")
    for one in trace.get("searches", ()):
        _gate(console, one)
    for name, rows in trace.get("lists", {}).items():
        _list(console, name, rows, shown)
    for drop in trace.get("drops", ())[:LIST_ROWS]:
        console.print(Text(f"dropped {drop['chunk_id']} from {drop['list']}: {drop['reason']}", style="dim"))
    miss = trace.get("miss")
    if miss:
        console.print(Text.assemble(("why not: ", "bold yellow"), f"{miss['cause']}: {miss['why']}"))


def _gate(console: Console, one: dict[str, Any]) -> None:
    gate = one["gate"]
    which = "without the type filter" if one["type_filter_left_out"] else "as asked"
    values = (
        f"distance {_number(gate['best_distance'])} (limit {_number(gate['distance_limit'])}), "
        f"coverage {_number(gate['best_coverage'])} (confident from {_number(gate['confident_coverage'])}, "
        f"silent under {_number(gate['bm25_floor'])})"
    )
    console.print(f"gate, {which}: {'poor' if gate['poor'] else 'good'}; {values}")


def _list(console: Console, name: str, rows: list[dict[str, Any]], shown: dict[str, int]) -> None:
    table = Table(box=None, header_style="bold", pad_edge=False, title=Text(name), title_justify="left")
    for heading in ("rank", "shown as", "distance" if name.startswith("vector") else "score", "document", "chunk"):
        table.add_column(heading, overflow="fold")
    for row in rows[:LIST_ROWS]:
        value = row.get("distance", row.get("score"))
        place_shown = shown.get(row["chunk_id"])
        table.add_row(
            str(row["rank"]),
            "" if place_shown is None else str(place_shown),
            _number(value),
            Text(row["document_id"] or ""),
            Text(row["chunk_id"]),
        )
    console.print(table)


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.3f}"
