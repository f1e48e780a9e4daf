"""An evaluation as GitHub-flavoured Markdown: the same tables, no pictures, every text of strangers escaped."""

import re

from services.shared.contracts.evaluation import Evaluation, QuestionChange
from services.shared.evaluation.report import sentences, tables, words
from services.shared.evaluation.report.cases import Case, cases, counts
from services.shared.evaluation.report.tables import Cell, Table

QUESTIONS_MOST = 1000
CHANGES_MOST = 50
_TEXT_MOST = 240
_SPECIAL = re.compile(r"[\\`*\[\]<>|~&]|(?<![^\W_])_|_(?![^\W_])")
_APART = "&#8203;"
"""A blank without width: GitHub looks for mentions and issues after it has read escapes and entities."""
_ACTING = re.compile(r"@(?=\w)|#(?=\d)|(?<=\bgh)-(?=\d)|\$|:(?=//)|(?<=\bwww)\.", re.IGNORECASE)
"""Mentions and addresses, issues by either form; formulas, and links that need no brackets."""


def markdown(evaluation: Evaluation) -> str:
    """The whole report; a part that the evaluation does not have is left out."""
    parts = [
        f"# Evaluation: {escaped(evaluation.name)}",
        "\n".join(f"- {name}: {escaped(held)}" for name, held in sentences.facts(evaluation)),
        *(escaped(note) for note in sentences.notes(evaluation)),
        *_compared(evaluation),
        "## Key figures",
        _grid(tables.key_figures(evaluation)) if evaluation.summary.values else "No question was measured.",
        *_section("By kind", tables.by_kind(evaluation)),
        *_section("What each stage adds", tables.ablation(evaluation)),
        *_trust(evaluation),
        *_section("Latency", tables.latency(evaluation)),
        *_section("Agreement of reviewers", tables.agreement(evaluation)),
        *_questions(evaluation),
        *_section("System", tables.system(evaluation)),
    ]
    return "\n\n".join(parts) + "\n"


def escaped(text: str) -> str:
    """On one line, with nothing left that Markdown, HTML or GitHub would act on."""
    quiet = _SPECIAL.sub(lambda found: "\\" + found.group(), words.one_line(text))
    return _ACTING.sub(lambda found: _inert(found.group()), quiet)


def _inert(sign: str) -> str:
    return f"{sign}{_APART}" if sign in "@#-" else f"&#{ord(sign)};"


def _section(title: str, table: Table | None) -> list[str]:
    return [] if table is None else [f"## {title}", _grid(table)]


def _grid(table: Table) -> str:
    def line(cells: list[str]) -> str:
        return f"| {' | '.join(cells)} |"

    rows = [
        line([escaped(name) for name in table.columns]),
        line(["---", *("---:" if _numeric(table, place) else "---" for place in range(1, len(table.columns)))]),
        *(line([_cell(cell) for cell in row]) for row in table.rows),
    ]
    return f"{escaped(table.caption)}.\n\n" + "\n".join(rows)


def _numeric(table: Table, place: int) -> bool:
    return all(row[place].text[:1] in "0123456789+−–" for row in table.rows if row[place].text)


def _cell(cell: Cell) -> str:
    text = ", ".join(filter(None, [cell.text, *cell.questions]))
    return escaped(f"{text} ({cell.note})" if cell.note and "(" not in cell.note else f"{text} {cell.note}".strip())


def _compared(evaluation: Evaluation) -> list[str]:
    comparison = evaluation.comparison
    table = tables.changes(evaluation)
    if comparison is None:
        return []
    title, told = sentences.verdict(comparison)
    parts = ["## Against the run before", f"**{title}.** {escaped(told)}", escaped(sentences.pairing(comparison))]
    if table is not None:
        parts.append(_grid(table))
    for name, better in (("Got worse", False), ("Got better", True)):
        changed = [one for one in comparison.questions if one.better is better]
        if changed:
            parts += [f"### {name}: {words.counted(len(changed), 'question')}", _moves(changed[:CHANGES_MOST])]
            if len(changed) > CHANGES_MOST:
                parts.append(f"{len(changed) - CHANGES_MOST} more are in the JSON.")
    return parts


def _moves(changed: list[QuestionChange]) -> str:
    rows = tuple(
        (
            Cell(f"{one.question_id}: {_clipped(one.text)}"),
            Cell("; ".join(sentences.moved(one))),
            Cell(_clipped(one.before)),
            Cell(_clipped(one.after)),
        )
        for one in changed
    )
    return _grid(Table("Answers of both runs", ("Question", "Metrics", "Before", "After"), rows))


def _trust(evaluation: Evaluation) -> list[str]:
    parts: list[str] = []
    curve = evaluation.risk_coverage
    if curve is not None:
        parts += ["## Risk and coverage", sentences.threshold(curve)]
        table = tables.risk_coverage(evaluation)
        parts += [f"Area under the curve: {words.plain(curve.area)} (lower is better)."]
        parts += [] if table is None else [_grid(table)]
    for one in evaluation.reliability:
        table = tables.reliability(evaluation, one.of)
        parts += [
            f"## Reliability: {escaped(words.kind(one.of))}",
            f"Expected calibration error {words.plain(one.ece)}, Brier score {words.plain(one.brier)}.",
        ]
        parts += [] if table is None else [_grid(table)]
    return parts


def _questions(evaluation: Evaluation) -> list[str]:
    listed = cases(evaluation)
    if not listed:
        return []
    told = ", ".join(f"{number} {state.value}" for state, number in counts(listed))
    rows = tuple(_row(case) for case in listed[:QUESTIONS_MOST])
    table = Table(f"Worst first: {told}", ("Question", "Kind", "Came out", "Expected", "Answer"), rows)
    parts = ["## Questions", _grid(table)]
    if len(listed) > QUESTIONS_MOST:
        parts.append(f"{len(listed) - QUESTIONS_MOST} more are in the JSON.")
    return parts


def _row(case: Case) -> tuple[Cell, ...]:
    outcome, question = case.outcome, case.question
    answer = (outcome.error or outcome.text or outcome.status) if outcome else None
    return (
        Cell(f"{question.id}: {_clipped(question.text)}"),
        Cell(words.kind(question.kind)),
        Cell(case.state.value),
        Cell(_clipped(question.expected) if question.expected else question.behaviour.value),
        Cell(_clipped(answer)),
    )


def _clipped(text: str | None) -> str:
    line = words.one_line(text or "–")
    return line if len(line) <= _TEXT_MOST else line[: _TEXT_MOST - 1].rstrip() + "…"
