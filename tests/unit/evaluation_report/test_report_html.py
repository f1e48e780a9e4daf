"""The HTML report: whole, alone, the same each time, and safe against what questions and answers say."""

import base64
import hashlib
import re

import pytest

from services.shared.contracts.evaluation import Evaluation, Outcome, Review
from services.shared.contracts.golden import Question
from services.shared.evaluation.report.html import QUESTIONS_MOST, html
from tests.unit.evaluation_report.fixture import evaluation
from tests.unit.evaluation_report.page import Page
from tests.unit.evaluation_report.partial import PARTIAL

LARGEST = 800_000
HOSTILE = (
    """</script></style></details><script>alert(1)</script><img src=http://evil.example onerror="x('1')">{{ 7*7 }}"""
)


def external(page: Page) -> list[str]:
    """Whatever a browser would fetch or run from elsewhere."""
    found = []
    for one in page.elements:
        for name, value in one.attributes.items():
            if name in ("src", "srcset", "href", "xlink:href", "action", "data", "poster") and not value.startswith(
                "#"
            ):
                found.append(f"{one.tag} {name}={value}")
            if name.startswith("on") or re.search(r"url\((?!#)|javascript:", value):
                found.append(f"{one.tag} {name}={value}")
        if one.tag == "style" and re.search(r"url\(|@import|https?:", one.text):
            found.append(one.tag)
    return found + [one.tag for one in page.elements if one.tag in ("img", "iframe", "link", "object", "embed", "base")]


def test_it_asks_nothing_of_the_network(page: Page, written: str) -> None:
    assert external(page) == []
    assert "http:" not in written
    assert "https:" not in written


def test_every_question_and_every_part_is_there(page: Page, run: Evaluation) -> None:
    ids = {one.attributes.get("id") for one in page.elements}
    assert ids >= {"figures", "comparison", "kinds", "ablation", "trust", "latency", "agreement", "questions", "system"}
    assert {f"q{place}" for place in range(1, len(run.questions) + 1)} <= ids
    text = page.all("body")[0].text
    assert "Vetoed" in text
    assert "is the generator running?" in text
    assert len(page.all("svg")) == 9


def test_the_same_evaluation_gives_the_same_bytes(written: str) -> None:
    assert html(evaluation()) == written


def test_eighty_questions_stay_small(written: str) -> None:
    assert len(written.encode()) < LARGEST


def test_ids_are_unique_and_every_link_leads_somewhere(page: Page) -> None:
    ids = [one.attributes["id"] for one in page.elements if "id" in one.attributes]
    assert sorted(ids) == sorted(set(ids))
    pointed = {one.attributes["href"] for one in page.elements if "href" in one.attributes}
    assert pointed <= {f"#{name}" for name in ids}


def test_drawings_and_tables_are_described(page: Page) -> None:
    ids = {one.attributes["id"]: one for one in page.elements if "id" in one.attributes}
    for drawing in page.all("svg"):
        assert all(ids[name].text for name in drawing.attributes["aria-labelledby"].split())
    assert len(page.all("table")) == len(page.all("caption")) > 5
    assert all("scope" in one.attributes for one in page.all("th"))


def test_the_policy_lets_only_the_reports_own_script_run(page: Page) -> None:
    (script,) = page.all("script")
    digest = base64.b64encode(hashlib.sha256(script.text.encode()).digest()).decode()
    (policy,) = [one.attributes["content"] for one in page.all("meta") if "http-equiv" in one.attributes]
    assert "default-src 'none'" in policy
    assert f"script-src 'sha256-{digest}'" in policy


def hostile() -> Evaluation:
    """Every text of it tries to break out."""
    base = evaluation()
    question = Question(
        id=HOSTILE, text=HOSTILE, kind=HOSTILE, expected=HOSTILE, facts=[[HOSTILE]], must_not=[HOSTILE], tags=[HOSTILE]
    )
    outcome = Outcome(
        question_id=HOSTILE,
        values={"score": -1.0, HOSTILE: 0.5},
        gate=HOSTILE,
        ranking=[HOSTILE],
        status=HOSTILE,
        reason=HOSTILE,
        text=HOSTILE,
        citations=[HOSTILE],
        writer=HOSTILE,
        degraded=[HOSTILE],
        reviews=[Review(reviewer=HOSTILE, by=HOSTILE, passed=False, score=0.0, notes=[HOSTILE])],
        timings_ms={HOSTILE: 1.0},
        error=HOSTILE,
    )
    assert base.comparison is not None
    changed = base.comparison.questions[0].model_copy(
        update={"question_id": HOSTILE, "text": HOSTILE, "before": HOSTILE, "after": HOSTILE}
    )
    return base.model_copy(
        update={
            "name": HOSTILE,
            "space": HOSTILE,
            "id": HOSTILE,
            "questions": [question],
            "outcomes": [outcome],
            "system": {HOSTILE: HOSTILE, "writer": HOSTILE},
            "by_kind": [base.by_kind[0].model_copy(update={"name": HOSTILE + "\x00$x$"})],
            "ablation": [row.model_copy(update={"name": HOSTILE}) for row in base.ablation],
            "latency": [one.model_copy(update={"stage": HOSTILE}) for one in base.latency],
            "agreement": [one.model_copy(update={"reviewer": HOSTILE, "differ": [HOSTILE]}) for one in base.agreement],
            "reliability": [one.model_copy(update={"of": HOSTILE + one.of}) for one in base.reliability],
            "comparison": base.comparison.model_copy(update={"questions": [changed], "before_id": HOSTILE}),
        }
    )


def test_hostile_texts_stay_text() -> None:
    page = Page(html(hostile()))
    assert external(page) == []
    assert len(page.all("script")) == 1
    assert len(page.all("style")) == 1
    text = page.all("body")[0].text
    assert text.count("<script>alert(1)</script>") > 20
    assert "{{ 7*7 }}" in text


@pytest.mark.parametrize("name", PARTIAL)
def test_partial_evaluations_render_without_the_missing_parts(name: str) -> None:
    part = PARTIAL[name]()
    page = Page(html(part))
    ids = {one.attributes.get("id") for one in page.elements}
    for section, held in (
        ("comparison", part.comparison),
        ("ablation", part.ablation),
        ("latency", part.latency),
        ("agreement", part.agreement),
        ("kinds", part.by_kind),
    ):
        assert (section in ids) is bool(held), section
    assert "None" not in page.all("body")[0].text
    assert "nan" not in page.all("body")[0].text


def test_a_set_too_large_for_a_browser_shows_the_worst_and_says_so() -> None:
    base = PARTIAL["only_errors"]()
    asked = [base.questions[0].model_copy(update={"id": f"n{place}"}) for place in range(QUESTIONS_MOST + 7)]
    outcomes = [Outcome(question_id=one.id, values={"score": 1.0}) for one in asked[:-1]]
    outcomes.append(Outcome(question_id=asked[-1].id, values={"score": -1.0}))
    page = Page(html(base.model_copy(update={"questions": asked, "outcomes": outcomes})))
    shown = [one for one in page.all("details") if "data-kind" in one.attributes]
    assert len(shown) == QUESTIONS_MOST
    assert "data-good" not in shown[0].attributes
    assert "7 more are in the JSON" in page.all("body")[0].text


def test_control_characters_are_not_shown_and_a_blank_kind_is_no_filter(run: Evaluation) -> None:
    unseen = "a\x00\x1b[31m\x9f\u202e\u2066b\n\tc"
    asked = [question.model_copy(update={"text": unseen, "kind": ""}) for question in run.questions]
    written = html(run.model_copy(update={"questions": asked, "name": unseen}))
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", written)
    assert "a[31mb\n\tc" in written
    page = Page(written)
    assert [one.attributes["value"] for one in page.all("option")] == [""]


def test_what_a_reader_must_know_of_the_run_is_told(run: Evaluation) -> None:
    missing = [one.model_copy(update={"missing_gold": ["lost.md"], "seq": n}) for n, one in enumerate(run.outcomes)]
    text = Page(html(run.model_copy(update={"outcomes": missing}))).all("body")[0].text
    assert "do not stand in the documents" in text
    assert "Documents changed during the run" in text
    assert "Stands nowhere" in text
