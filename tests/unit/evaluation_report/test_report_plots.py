"""Drawings: themed, described, apart from one another, and without a trace in matplotlib's settings."""

import re

import matplotlib

from services.shared.contracts.evaluation import Evaluation
from services.shared.evaluation.report import plots


def test_colours_are_the_pages_own(run: Evaluation) -> None:
    drawn = plots.kinds(run) + plots.comparison(run) + plots.risk_coverage(run) + plots.latency(run)
    bare = re.sub(r"var\(--[a-z]+, #[0-9a-f]{6}\)", "", drawn)
    assert re.findall(r"#[0-9a-f]{6}\b(?!\w)", bare) == []
    assert "DejaVu" not in drawn


def test_matplotlib_is_left_as_it_was(run: Evaluation) -> None:
    before = dict(matplotlib.rcParams)
    plots.ablation(run)
    assert dict(matplotlib.rcParams) == before


def test_the_users_own_settings_change_nothing(run: Evaluation) -> None:
    drawn = plots.reliability(run, "confidence")
    with matplotlib.rc_context({"font.size": 40, "svg.fonttype": "path", "lines.linewidth": 9}):
        assert plots.reliability(run, "confidence") == drawn


def test_text_that_looks_like_markup_stays_as_it_is(run: Evaluation) -> None:
    row = run.by_kind[0].model_copy(update={"name": 'id="a" $b$'})
    drawn = plots.kinds(run.model_copy(update={"by_kind": [row]}))
    assert '>id="a" $b$</text>' in drawn


def test_the_allowed_risk_and_the_threshold_are_marked(run: Evaluation) -> None:
    drawn = plots.risk_coverage(run)
    assert run.risk_coverage is not None
    assert "allowed 5\u00a0%" in drawn
    assert f"confidence ≥ {run.risk_coverage.threshold:.2f}" in drawn


def test_what_is_not_there_is_not_drawn(run: Evaluation) -> None:
    nothing = run.model_copy(
        update={
            "by_kind": [],
            "ablation": [],
            "risk_coverage": None,
            "latency": [],
            "comparison": None,
            "reliability": [],
        }
    )
    assert plots.kinds(nothing) == plots.ablation(nothing) == plots.risk_coverage(nothing) == ""
    assert plots.latency(nothing) == plots.comparison(nothing) == plots.reliability(nothing, "confidence") == ""
