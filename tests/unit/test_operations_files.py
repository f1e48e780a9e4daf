"""The files of ops/ and the page about them name what there is, and are what Grafana and Prometheus read."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.unit import metrics_page

OPS = Path(__file__).parents[2] / "ops"
DASHBOARD = json.loads((OPS / "grafana" / "ragstone.json").read_text(encoding="utf-8"))
NAMED = re.compile(r"\b(?:ragstone|process|python)_[a-z_]+")


def told() -> set[str]:
    """Every series name that the services' pages can hold."""
    names = set()
    for metrics in metrics_page.services().values():
        for line in metrics.page().decode().splitlines():
            if line.startswith("# TYPE "):
                _, _, name, kind = line.split()
                names |= {f"{name}_{part}" for part in ("bucket", "sum", "count")} if kind == "histogram" else {name}
    return names


def panels() -> list[dict[str, Any]]:
    return [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]


def test_the_table_in_the_docs_is_made_from_the_code() -> None:
    assert metrics_page.written() == metrics_page.table(), "run: python -m tests.unit.metrics_page"


@pytest.mark.parametrize("panel", panels(), ids=lambda panel: panel["title"])
def test_every_metric_of_the_dashboard_exists(panel: dict[str, Any]) -> None:
    for target in panel["targets"]:
        found = set(NAMED.findall(target["expr"]))
        assert found
        assert found <= told(), f"{sorted(found - told())}"


def test_every_metric_of_ours_is_on_the_dashboard() -> None:
    shown = {name for panel in panels() for target in panel["targets"] for name in NAMED.findall(target["expr"])}
    ours = {one.name for metrics in metrics_page.services().values() for one in metrics.described}
    assert {name for name in ours if not {name, f"{name}_bucket"} & shown} == set()


def test_the_dashboard_is_what_grafana_reads() -> None:
    assert DASHBOARD["schemaVersion"] >= 36
    assert (DASHBOARD["uid"], DASHBOARD["title"]) == ("ragstone", "Ragstone")
    assert [one["name"] for one in DASHBOARD["templating"]["list"]] == ["datasource"]
    ids = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(ids) == len(set(ids))
    for panel in panels():
        assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
        assert [target["refId"] for target in panel["targets"]] == [chr(65 + n) for n in range(len(panel["targets"]))]
        assert set(panel["fieldConfig"]) == {"defaults", "overrides"}


def test_no_two_panels_of_the_dashboard_lie_over_each_other() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        at = panel["gridPos"]
        cells = {(at["x"] + dx, at["y"] + dy) for dx in range(at["w"]) for dy in range(at["h"])}
        assert all(x < 24 for x, _ in cells)
        assert not cells & taken, panel["title"]
        taken |= cells


def test_prometheus_asks_every_service_that_tells() -> None:
    scraped = yaml.safe_load((OPS / "prometheus" / "prometheus.yml").read_text(encoding="utf-8"))
    assert {one["job_name"] for one in scraped["scrape_configs"]} == set(metrics_page.services())
    assert all((OPS / "prometheus" / name).is_file() for name in scraped["rule_files"])


def test_alerts_name_metrics_that_exist() -> None:
    groups = yaml.safe_load((OPS / "prometheus" / "alerts.yml").read_text(encoding="utf-8"))["groups"]
    rules = [rule for group in groups for rule in group["rules"]]
    assert rules
    for rule in rules:
        assert set(NAMED.findall(rule["expr"])) <= told(), rule["alert"]
        assert rule["annotations"]["summary"]


def test_grafana_is_given_its_data_source_and_its_folder() -> None:
    folder = OPS / "grafana" / "provisioning"
    source = yaml.safe_load((folder / "datasources" / "prometheus.yml").read_text(encoding="utf-8"))["datasources"][0]
    provider = yaml.safe_load((folder / "dashboards" / "ragstone.yml").read_text(encoding="utf-8"))["providers"][0]
    assert source["type"] == "prometheus"
    assert provider["options"]["path"]
