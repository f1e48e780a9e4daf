"""The Markdown report: valid tables, and nothing in them acts."""

import re

import pytest
from markdown_it import MarkdownIt

from services.shared.contracts.evaluation import Evaluation
from services.shared.evaluation.report.markdown import escaped, markdown
from tests.unit.evaluation_report.partial import PARTIAL

HOSTILE = "a | b\n\n# c <b onclick=x>\\| `d` ![e](http://evil.example/x.png) **f** ~~g~~ &lt; __h__ snake_case"


def tables(text: str) -> list[list[str]]:
    """Runs of lines that begin with a pipe."""
    runs = re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE)
    return [run.splitlines() for run in runs]


def assert_tables_are_even(text: str) -> None:
    for lines in tables(text):
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in lines}
        assert len(widths) == 1, lines[0]
        assert re.fullmatch(r"\|( -{3}:? \|)+", lines[1])


def test_it_has_the_tables_of_the_page(run: Evaluation) -> None:
    text = markdown(run)
    headings = re.findall(r"^## (.*)$", text, flags=re.MULTILINE)
    assert headings == [
        "Against the run before", "Key figures", "By kind", "What each stage adds", "Risk and coverage",
        "Reliability: confidence", "Reliability: answerable", "Latency", "Agreement of reviewers", "Questions",
        "System",
    ]  # fmt: skip
    assert "**Vetoed.** Score (+0.74\u00a0→\u00a0+0.58) got worse" in text
    assert all(question.id in text for question in run.questions)
    assert_tables_are_even(text)


def test_a_hostile_text_is_read_as_itself() -> None:
    rendered = MarkdownIt("gfm-like", {"linkify": False}).render(f"| x |\n| --- |\n| {escaped(HOSTILE)} |\n")
    assert re.findall(r"<(?!/?(?:table|thead|tbody|tr|th|td)>)[^>]*>", rendered) == []
    assert "a | b # c &lt;b onclick=x&gt;\\| `d` ![e](http://evil.example/x.png) **f**" in rendered
    assert "&amp;lt; __h__ snake_case" in rendered


def test_texts_of_strangers_keep_the_tables_whole(run: Evaluation) -> None:
    asked = [question.model_copy(update={"text": HOSTILE, "kind": HOSTILE}) for question in run.questions]
    text = markdown(run.model_copy(update={"questions": asked, "name": HOSTILE, "system": {HOSTILE: [HOSTILE]}}))
    assert_tables_are_even(text)
    assert "http://" not in text
    assert "<b" not in text.replace("\\<b", "")


@pytest.mark.parametrize("name", PARTIAL)
def test_partial_evaluations_leave_parts_out(name: str) -> None:
    part = PARTIAL[name]()
    text = markdown(part)
    assert_tables_are_even(text)
    assert ("## What each stage adds" in text) is bool(part.ablation)
    assert ("## Against the run before" in text) is (part.comparison is not None)
    assert "nan" not in text
    assert "None" not in text
