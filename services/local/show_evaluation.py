"""What the commands that measure print for a person; words and numbers are those of the report."""

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from services.shared.contracts.evaluation import Estimate, Evaluation, EvaluationBrief
from services.shared.contracts.golden import Feedback, GoldenQuestion
from services.shared.evaluation.report import sentences, tables, words
from services.shared.evaluation.variants import FULL

MAIN = ("right", "accuracy", "supported", "ndcg@10", "recall@5", "gate_right")
"""Columns that a terminal has room for; the report has them all."""
IN_LIST = ("right", "ndcg@10")
LISTED = 5
_COLOURS = {tables.BETTER: "green", tables.WORSE: "red"}


def evaluation(console: Console, one: Evaluation) -> None:
    """What it came to: all questions, kinds, ways to retrieve, threshold, and the verdict of the comparison."""
    head = f"{one.name}: {words.counted(len(one.questions), 'question')}, space {one.space}, evaluation {one.id}"
    console.print(Text(head, style="bold"))
    brief = _narrowed(one)
    for table in (tables.key_figures(one), tables.by_kind(brief), tables.ablation(brief)):
        if table is not None:
            _table(console, table)
    if one.risk_coverage is not None:
        console.print(Text(sentences.threshold(one.risk_coverage)), soft_wrap=True)
    for note in sentences.notes(one):
        console.print(Text(note, style="yellow"), soft_wrap=True)
    _failures(console, one)
    comparison(console, one)


def _failures(console: Console, one: Evaluation) -> None:
    """Questions that failed as the system stands; and those that failed only with stages switched off."""
    errors: dict[str, str] = {}
    full = {
        outcome.question_id for outcome in one.outcomes if outcome.error is not None and outcome.variant == FULL.name
    }
    for outcome in one.outcomes:
        if outcome.error is not None:
            errors.setdefault(outcome.question_id, outcome.error)
    switched_off = errors.keys() - full
    for ids, when in ((full, ""), (switched_off, " with stages switched off")):
        if ids:
            first = next(id for id in errors if id in ids)
            said = f"{words.counted(len(ids), 'question')} came to nothing{when}; the first, {first}: {errors[first]}"
            console.print(Text(said, style="red"), soft_wrap=True)


def comparison(console: Console, evaluation: Evaluation) -> None:
    """Metric by metric, the questions that came out worst, and the verdict; nothing where nothing was compared."""
    one = evaluation.comparison
    if one is None:
        return
    table = tables.changes(evaluation)
    if table is not None:
        _table(console, table)
    for change in one.questions[:LISTED]:
        style = "green" if change.better else "red"
        said = f"{'better' if change.better else 'worse'}  {change.question_id}: {words.one_line(change.text)}"
        console.print(Text(said, style=style), soft_wrap=True)
        console.print(Text(f"        {'; '.join(sentences.moved(change))}", style="dim"), soft_wrap=True)
    if len(one.questions) > LISTED:
        console.print(Text(f"and {len(one.questions) - LISTED} more questions that came out differently", style="dim"))
    verdict, why = sentences.verdict(one)
    console.print(Text(sentences.pairing(one), style="dim"), soft_wrap=True)
    console.print(Text(f"{verdict}. {why}", style="bold red" if one.vetoed else "bold"), soft_wrap=True)


def files(console: Console, paths: Mapping[str, str]) -> None:
    """Where the evaluation was kept."""
    for path in paths.values():
        console.print(Text(path, style="blue"), soft_wrap=True)


def evaluations(console: Console, items: Sequence[EvaluationBrief]) -> None:
    """The newest, a line each."""
    table = _columns("id", "made", "questions", "subject", "outcome", *IN_LIST)
    for item in items:
        outcome = "compared" if item.vetoed is False else "vetoed" if item.vetoed else "done"
        means = [words.value(name, item.metrics[name]) if name in item.metrics else "" for name in IN_LIST]
        cells = (f"{item.created_at:%Y-%m-%d %H:%M}", f"{item.name} ({item.questions})", str(item.subject))
        _row(table, item.id, *cells, outcome if item.finished else "not done", *means)
    console.print(table if items else "No evaluation yet; `ragstone eval` makes one.")


def golden(console: Console, items: Sequence[GoldenQuestion]) -> None:
    """Golden questions, a line each, and how many are in each state."""
    table = _columns("id", "state", "from", "kind", "question", "look again")
    counts: dict[str, int] = {}
    for item in items:
        asked = item.question
        for name in (item.state.value, *(["flagged"] if item.flagged else [])):
            counts[name] = counts.get(name, 0) + 1
        _row(table, asked.id, item.state.value, item.origin.value, asked.kind, asked.text, item.flagged or "")
    console.print(table if items else "No golden question; `ragstone golden make` proposes some.")
    if items:
        console.print(", ".join(f"{count} {name}" for name, count in counts.items()))


def feedback(console: Console, items: Sequence[Feedback]) -> None:
    """What people said, a line each."""
    table = _columns("id", "state", "verdict", "question", "answer", "rests on", "comment", "golden question")
    for item in items:
        answer = item.answer_text if item.answer_status == "answered" else f"({item.answer_status})"
        said = (item.question, answer, _evidence(item), item.comment or "", item.golden_id or "")
        _row(table, item.id, item.state.value, item.verdict.value, *said)
    console.print(table if items else "Nobody has said anything of an answer.")


def _evidence(item: Feedback) -> str:
    """How sure the answer was, of what, and by whom it was written."""
    if item.evidence is None:
        return ""
    cited = [f"{one.title}{f', {one.place}' if one.place else ''}: “{one.quote}”" for one in item.evidence.citations]
    model = item.evidence.model.name or item.evidence.model.writer
    return "; ".join([f"{item.evidence.confidence:.2f} ({model})", *cited])


def _narrowed(one: Evaluation) -> Evaluation:
    """With the metrics that fit into a terminal."""

    def main(values: Mapping[str, Estimate]) -> dict[str, Estimate]:
        return {name: values[name] for name in MAIN if name in values}

    return one.model_copy(
        update={
            "summary": one.summary.model_copy(update={"values": main(one.summary.values)}),
            "by_kind": [row.model_copy(update={"values": main(row.values)}) for row in one.by_kind],
            "ablation": [row.model_copy(update={"values": main(row.values)}) for row in one.ablation],
        }
    )


def _table(console: Console, one: tables.Table) -> None:
    console.print()
    table = _columns(*one.columns)
    for cells in one.rows:
        shown = [Text(cell.text, style=_COLOURS.get(cell.tone, "")) for cell in cells]
        for text, cell in zip(shown, cells, strict=True):
            if cell.note:
                text.append(f"\n{cell.note}", style="dim")
        table.add_row(*shown)
    console.print(table)
    console.print(Text(one.caption, style="dim"), soft_wrap=True)


def _columns(*headings: str) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for n, heading in enumerate(headings):
        table.add_column(heading, overflow="fold", no_wrap=n == 0 and heading == "id")
    return table


def _row(table: Table, *cells: str) -> None:
    table.add_row(*(Text(words.one_line(cell)) for cell in cells))
