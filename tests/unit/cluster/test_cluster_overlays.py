"""What would be sent to a cluster: of the form that Kubernetes takes, and each overlay what it promises to be."""

import copy
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import kubernetes_validate
import pytest
import yaml

from tests.unit.cluster.manifests import (
    BASE,
    CATALOG,
    KUBECTL,
    KUBERNETES,
    ORIGINALS,
    OVERLAYS,
    ROOT,
    WORKLOADS,
    Thing,
    as_written,
    chosen,
    container,
    documents,
    kustomization,
    of_kind,
    pod,
    rendered,
)

VERSIONS = ("1.32", "1.37")
"""The oldest and the newest Kubernetes that the manifests are written for."""

SCALED = {"gateway", "retriever", "generator", "worker"}
GUIDE = (ROOT / "docs" / "kubernetes.md").read_text(encoding="utf-8")

needs_kubectl = pytest.mark.skipif(KUBECTL is None, reason="kubectl is not installed, which renders the overlays")
each_overlay = pytest.mark.parametrize("overlay", OVERLAYS)


def written() -> Iterator[Thing]:
    """Everything that is whole without rendering."""
    yield from as_written(BASE)
    for overlay in OVERLAYS:
        yield from as_written(KUBERNETES / "overlays" / overlay)


def called(thing: Thing) -> str:
    return f"{thing['kind']}-{thing['metadata']['name']}"


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("thing", written(), ids=called)
def test_kubernetes_knows_every_field(thing: Thing, version: str) -> None:
    kubernetes_validate.validate(thing, version, strict=True)


@needs_kubectl
@each_overlay
def test_kubernetes_knows_every_field_of_what_is_rendered(overlay: str) -> None:
    for thing in rendered(overlay):
        kubernetes_validate.validate(thing, VERSIONS[-1], strict=True)


@pytest.mark.parametrize("wrong", [{"replica": 2}, {"replicas": "two"}], ids=["unknown", "of another type"])
def test_a_field_that_is_wrong_is_found(wrong: Thing) -> None:
    thing = copy.deepcopy(of_kind(as_written(BASE), "Deployment")["gateway"])
    thing["spec"] |= wrong
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(thing, VERSIONS[-1], strict=True)


def test_every_file_is_used() -> None:
    for folder in (BASE, *(KUBERNETES / "overlays" / overlay for overlay in OVERLAYS)):
        said = kustomization(folder)
        used = [folder / name for name in said["resources"] if name.endswith(".yaml")]
        used += [folder / one["path"] for one in said.get("patches", [])]
        used += [folder / name for one in said.get("configMapGenerator", []) for name in one.get("files", [])]
        assert {*used, folder / "kustomization.yaml"} == set(folder.rglob("*.yaml"))


@needs_kubectl
@each_overlay
def test_all_is_in_one_namespace_and_named_as_ours(overlay: str) -> None:
    for thing in rendered(overlay):
        assert thing["metadata"]["labels"]["app.kubernetes.io/part-of"] == "ragstone", called(thing)
        if thing["kind"] != "Namespace":
            assert thing["metadata"]["namespace"] == "ragstone", called(thing)


@needs_kubectl
@each_overlay
def test_what_a_pod_reads_is_there(overlay: str) -> None:
    """ConfigMaps and claims; secrets are named in the guide, with each of their keys."""
    things = rendered(overlay)
    maps, claims = of_kind(things, "ConfigMap"), of_kind(things, "PersistentVolumeClaim")
    for one in of_kind(things, *WORKLOADS).values():
        for source in container(one).get("envFrom", []):
            if "configMapRef" in source:
                assert source["configMapRef"]["name"] in maps
            else:
                assert f"secret generic {source['secretRef']['name']} " in GUIDE
        for volume in pod(one)["spec"]["volumes"]:
            assert volume.get("configMap", {"name": None})["name"] in {None, *maps}
            assert volume.get("persistentVolumeClaim", {"claimName": None})["claimName"] in {None, *claims}
    for name in ("DATABASE_URL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        assert f"--from-literal={name}=" in GUIDE


@needs_kubectl
@each_overlay
def test_every_policy_budget_and_scaler_finds_its_workload(overlay: str) -> None:
    things = rendered(overlay)
    workloads = of_kind(things, *WORKLOADS)
    labels = [pod(one)["metadata"]["labels"] for one in workloads.values()]
    for one in of_kind(things, "NetworkPolicy").values():
        assert any(chosen(one["spec"]["podSelector"], own) for own in labels)
    for name, one in of_kind(things, "PodDisruptionBudget").items():
        assert chosen(one["spec"]["selector"], pod(workloads[name])["metadata"]["labels"])
    for name, one in of_kind(things, "HorizontalPodAutoscaler").items():
        assert one["spec"]["scaleTargetRef"]["name"] == name
        assert name in workloads


def blocks() -> dict[str, str]:
    """The files that the guide shows, by their names."""
    shown = re.findall(r"```yaml\n# ([\w.]+).*?\n(.*?)```", GUIDE, re.DOTALL)
    return dict(shown)


@needs_kubectl
@each_overlay
def test_the_overlay_of_the_guide_can_be_rendered(overlay: str, tmp_path: Path) -> None:
    assert KUBECTL is not None
    mine = yaml.safe_load(blocks()["kustomization.yaml"])
    (theirs,) = mine["resources"]
    there = KUBERNETES / "overlays" / overlay
    assert theirs == "ragstone/ops/kubernetes/overlays/small"
    mine["resources"] = [os.path.relpath(there, tmp_path.resolve()), "writer.yaml"]
    (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump(mine))
    (tmp_path / "writer.yaml").write_text(blocks()["writer.yaml"])
    (tmp_path / "profile.yaml").write_text("language: de\n")
    command = [KUBECTL, "kustomize", str(tmp_path)]
    text = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    things = [one for one in yaml.safe_load_all(text) if one is not None]
    for thing in things:
        kubernetes_validate.validate(thing, VERSIONS[-1], strict=True)
    said = {name: value for one in of_kind(things, "ConfigMap").values() for name, value in one["data"].items()}
    assert said["profile.yaml"] == "language: de\n"
    assert {"RAGSTONE_TRUSTED_PROXIES", "RAGSTONE_REDIS_URL"} <= set(said)
    images = {container(one)["image"] for one in of_kind(things, "Deployment").values()}
    assert all(image.startswith("registry.example.com/ragstone-") for image in images)


@needs_kubectl
def test_small_is_one_of_each_on_the_node_of_its_volume() -> None:
    things = rendered("small")
    assert not of_kind(things, "HorizontalPodAutoscaler", "PodDisruptionBudget")
    (claim,) = of_kind(things, "PersistentVolumeClaim")
    for name, one in of_kind(things, *WORKLOADS).items():
        assert one["spec"].get("replicas", 1) == 1
        spec = pod(one)["spec"]
        claimed = {
            volume["persistentVolumeClaim"]["claimName"]
            for volume in spec["volumes"]
            if "persistentVolumeClaim" in volume
        }
        if pod(one)["metadata"]["labels"].get(CATALOG) != "true":
            assert not claimed
            assert "affinity" not in spec
            continue
        assert claimed == {claim}, name
        (together,) = spec["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        assert together["topologyKey"] == "kubernetes.io/hostname"
        # Whoever is first chooses itself, or it would wait for another.
        assert chosen(together["labelSelector"], pod(one)["metadata"]["labels"])


@needs_kubectl
def test_scaled_has_several_of_what_can_be_several() -> None:
    things = rendered("scaled")
    workloads, scalers = of_kind(things, *WORKLOADS), of_kind(things, "HorizontalPodAutoscaler")
    # A number of their own would undo the scaler's at each apply.
    assert not [name for name in scalers if "replicas" in workloads[name]["spec"]]
    assert all("replicas" in one["spec"] for name, one in workloads.items() if name not in scalers)
    least = {name: one["spec"]["minReplicas"] for name, one in scalers.items()}
    numbers = {name: least.get(name, one["spec"].get("replicas", 1)) for name, one in workloads.items()}
    assert {name: number for name, number in numbers.items() if number > 1} == {
        "gateway": 2,
        "retriever": 2,
        "generator": 2,
        "worker": 3,
    }
    assert set(of_kind(things, "PodDisruptionBudget")) == SCALED
    for name in SCALED:
        spread = pod(workloads[name])["spec"]["topologySpreadConstraints"]
        assert [one["topologyKey"] for one in spread] == ["kubernetes.io/hostname", "topology.kubernetes.io/zone"]
        assert all(chosen(one["labelSelector"], pod(workloads[name])["metadata"]["labels"]) for one in spread)


@needs_kubectl
def test_scaled_shares_no_disk_and_reads_its_stores_from_secrets() -> None:
    things = rendered("scaled")
    assert not of_kind(things, "PersistentVolumeClaim", "Secret")
    for name, one in of_kind(things, "Deployment").items():
        volumes = pod(one)["spec"]["volumes"]
        assert not [volume for volume in volumes if "persistentVolumeClaim" in volume], name
        labels = pod(one)["metadata"]["labels"]
        secrets = {source["secretRef"]["name"] for source in container(one)["envFrom"] if "secretRef" in source}
        wanted = {"ragstone-catalog": labels.get(CATALOG), "ragstone-originals": labels.get(ORIGINALS)}
        assert secrets == {secret for secret, marked in wanted.items() if marked == "true"}, name


def test_patches_name_what_there_is() -> None:
    names = set(of_kind(as_written(BASE), *WORKLOADS))
    scaled = KUBERNETES / "overlays" / "scaled"
    assert {one["name"] for one in kustomization(scaled)["replicas"]} <= names
    assert {documents(file)[0]["metadata"]["name"] for file in scaled.joinpath("spread").iterdir()} == SCALED


def test_the_guide_names_files_that_there_are() -> None:
    named = set(re.findall(r"ops/kubernetes/[\w./-]*\w", GUIDE))
    assert {Path(name) for name in named} >= {Path("ops/kubernetes/overlays") / overlay for overlay in OVERLAYS}
    assert all((ROOT / name).exists() for name in named)
