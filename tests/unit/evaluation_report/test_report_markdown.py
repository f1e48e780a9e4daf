"""The Markdown report: valid tables, and nothing in them acts."""

import html
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


def test_a_pasted_report_mentions_nobody_links_nothing_and_is_no_formula() -> None:
    acting = "#12 @someone GH-7 www.evil.example http://evil.example a@evil.example o/r#3 $x^2$ \u202etxt\x07"
    written = escaped(acting)
    assert not re.search(r"#\d|@\w|GH-\d|www\.|://|\$|[\u202e\x07]", re.sub("&#[0-9]+;", "\u200b", written))
    rendered = MarkdownIt("gfm-like", {"linkify": False}).render(written)
    # GitHub looks for mentions and issues in what is rendered.
    assert not re.search(r"#\d|@\w|GH-\d", rendered)
    read = html.unescape(rendered.removeprefix("<p>").removesuffix("</p>\n")).replace("\u200b", "")
    assert read == acting.removesuffix("\x07").replace("\u202e", "")


def test_long_questions_are_shortened_like_answers(run: Evaluation) -> None:
    asked = [question.model_copy(update={"text": "why " * 5000}) for question in run.questions]
    assert run.comparison is not None
    changed = [one.model_copy(update={"text": "why " * 5000}) for one in run.comparison.questions]
    compared = run.comparison.model_copy(update={"questions": changed})
    text = markdown(run.model_copy(update={"questions": asked, "comparison": compared}))
    assert max(map(len, text.splitlines())) < 2000


def test_what_a_reader_must_know_of_the_run_is_told_once(run: Evaluation) -> None:
    missing = [one.model_copy(update={"missing_gold": ["a.md"], "seq": n}) for n, one in enumerate(run.outcomes)]
    text = markdown(run.model_copy(update={"outcomes": missing}))
    assert text.count("do not stand in the documents") == 1
    assert text.count("Documents changed during the run") == 1
    assert "and 60 more" in text
