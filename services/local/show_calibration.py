"""What `ragstone calibrate` prints for a person."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from services.shared.contracts.calibration import Calibration, CalibrationState, Thresholds

NONE = "Not calibrated: the product's own values hold. `ragstone calibrate` fits this space's own."
_KINDS = {
    "answerable": "made of passages, as they are",
    "left_out": "the same, without the passages that answer them",
    "near_miss": "about a name or code that occurs nowhere",
    "off_topic": "general knowledge",
}
_LIMITS = {
    "answerable": "answered from a probability of",
    "gate_distance": "passages are poor beyond a distance of",
    "bm25_floor": "exact words are silent under a coverage of",
    "critic_cut": "passages are dropped under a relevance of",
    "fusion": "lists are made one order by",
}


def calibration(console: Console, state: CalibrationState) -> None:
    """What was asked, what was fitted, what it promises, and what to do."""
    one = state.calibration
    if one is None:
        console.print(NONE, highlight=False, soft_wrap=True)
        return
    made = f"{one.created_at:%Y-%m-%d %H:%M} UTC, of {one.chunks} passages"
    console.print(Text(f"Calibrated {made} (index {one.index_id})", style="bold"))
    _asked(console, one)
    _limits(console, one.thresholds, enforced=one.enforced)
    console.print(Text(promise(one), style="bold"), soft_wrap=True)
    for note in one.notes:
        console.print(Text(note, style="yellow"), soft_wrap=True)
    if state.stale is not None:
        again = "It is made anew in the background; `ragstone calibrate` does so now."
        console.print(Text(f"{state.stale} {again}", style="yellow"), soft_wrap=True)


def promise(one: Calibration) -> str:
    """What an owner may expect of questions like these."""
    if one.thresholds.answerable is None:
        return f"The chosen risk of {one.risk:.0%} cannot be kept; answers are not withheld by probability."
    would = "are" if one.enforced else "would be"
    return (
        f"Chosen risk {one.risk:.0%}. Expected of questions like these, if half of them cannot be answered: "
        f"{one.expected_risk:.1%} of the answered should have been turned away, and {one.expected_coverage:.0%} of the "
        f"answerable {would} answered."
    )


def _asked(console: Console, one: Calibration) -> None:
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("questions")
    table.add_column("asked", justify="right")
    table.add_column("told from answerable (AUROC)", justify="right")
    for kind, number in one.asked.items():
        told = one.auroc.get(kind)
        table.add_row(Text(_KINDS.get(kind, kind)), str(number), "" if told is None else f"{told:.3f}")
    console.print(table)


def _limits(console: Console, limits: Thresholds, *, enforced: bool) -> None:
    for name, said in _LIMITS.items():
        value = getattr(limits, name)
        if name == "answerable" and value is not None and not enforced:
            said = "not enforced: answered from a probability of"
        shown = "(the product's own value)" if value is None else value if isinstance(value, str) else f"{value:.3f}"
        console.print(Text(f"  {said} {shown}"), soft_wrap=True)
