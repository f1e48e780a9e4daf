"""What ops/kubernetes says: the base as it is written, and the overlays as kubectl renders them."""

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[3]
KUBERNETES = ROOT / "ops" / "kubernetes"
BASE = KUBERNETES / "base"
OVERLAYS = ("small", "scaled")
KUBECTL = shutil.which("kubectl")

NAME = "app.kubernetes.io/name"
CATALOG, ORIGINALS = "ragstone/catalog", "ragstone/originals"
WORKLOADS = ("Deployment", "StatefulSet")

Thing = dict[str, Any]

_UNITS = {"": 1.0, "m": 1e-3, "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30}
_AMOUNT = re.compile(r"([0-9.]+)(m|Ki|Mi|Gi)?")


def documents(file: Path) -> list[Thing]:
    """What one file holds."""
    return [one for one in yaml.safe_load_all(file.read_text(encoding="utf-8")) if one is not None]


def kustomization(folder: Path) -> Thing:
    """The kustomization of a folder."""
    return documents(folder / "kustomization.yaml")[0]


def as_written(folder: Path) -> list[Thing]:
    """The things in the files that the kustomization of this very folder names."""
    files = [folder / name for name in kustomization(folder)["resources"] if name.endswith(".yaml")]
    return [one for file in files for one in documents(file)]


@cache
def rendered(overlay: str) -> Sequence[Thing]:
    """What would be sent to a cluster; no cluster is asked."""
    assert KUBECTL is not None
    command = [KUBECTL, "kustomize", str(KUBERNETES / "overlays" / overlay)]
    text = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    return [one for one in yaml.safe_load_all(text) if one is not None]


def literals(folder: Path) -> dict[str, str]:
    """The settings that the kustomization of a folder makes a ConfigMap of."""
    maps = kustomization(folder).get("configMapGenerator", [])
    pairs = (line.partition("=") for one in maps for line in one.get("literals", []))
    return {name: value for name, _, value in pairs}


def of_kind(things: Sequence[Thing], *kinds: str) -> dict[str, Thing]:
    """Those of these kinds, by name."""
    return {one["metadata"]["name"]: one for one in things if one["kind"] in kinds}


def pod(workload: Thing) -> Thing:
    """The pod that a workload makes: its metadata and spec."""
    template: Thing = workload["spec"]["template"]
    return template


def container(workload: Thing) -> Thing:
    """The one container of its pods."""
    (one,) = pod(workload)["spec"]["containers"]
    found: Thing = one
    return found


def environment(workload: Thing) -> dict[str, str]:
    """The variables that its container has of its own."""
    return {one["name"]: one["value"] for one in container(workload).get("env", [])}


def amount(written: str) -> float:
    """A quantity as Kubernetes writes it: bytes, or processors."""
    found = _AMOUNT.fullmatch(written)
    assert found is not None, written
    return float(found[1]) * _UNITS[found[2] or ""]


def chosen(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Does a label selector choose what has these labels?"""
    assert set(selector) <= {"matchLabels", "matchExpressions"}
    if any(labels.get(name) != value for name, value in selector.get("matchLabels", {}).items()):
        return False
    for rule in selector.get("matchExpressions", []):
        assert rule["operator"] == "In"
        if labels.get(rule["key"]) not in rule["values"]:
            return False
    return True
