"""What the base in ops/kubernetes lets nobody do: more rights than needed, and talk with whom one has no business."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.local.processes import PARTS
from tests.unit.cluster.manifests import (
    BASE,
    KUBERNETES,
    NAME,
    WORKLOADS,
    Thing,
    as_written,
    chosen,
    container,
    documents,
    of_kind,
    pod,
)

THINGS = as_written(BASE)
ALL = of_kind(THINGS, *WORKLOADS)
POLICIES = of_kind(THINGS, "NetworkPolicy")
FILES = sorted(KUBERNETES.rglob("*.yaml"))
SECRET_WORDS = re.compile(r"(?i)password|secret_access_key|access_key_id|database_url|api_key|://[^/\s]*@")

ADDRESSES = {
    "redis": r"RedisSettings|\.redis\b",
    "chroma": r"\.chroma_url\b",
    "retriever": r"\.retriever_url\b",
    "generator": r"\.generator_url\b",
    "gateway": r"\.gateway_url\b",
}
"""By what a room's code betrays whom it calls."""

Call = tuple[str, str, int]


def by_name(workload: Thing) -> str:
    name: str = workload["metadata"]["name"]
    return name


every = pytest.mark.parametrize("workload", ALL.values(), ids=by_name)


@every
def test_nobody_is_root_or_can_become_more(workload: Thing) -> None:
    spec = pod(workload)["spec"]
    own = spec["securityContext"]
    assert own["runAsNonRoot"] is True
    assert min(own["runAsUser"], own["runAsGroup"], own["fsGroup"]) > 0
    assert own["seccompProfile"] == {"type": "RuntimeDefault"}
    assert spec["automountServiceAccountToken"] is False
    assert not {"hostNetwork", "hostPID", "hostIPC", "initContainers"} & set(spec)
    assert container(workload)["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


@every
def test_only_data_and_temporary_files_can_be_written(workload: Thing) -> None:
    mounts = {one["name"]: one for one in container(workload)["volumeMounts"]}
    assert {one["mountPath"] for one in mounts.values() if not one.get("readOnly")} <= {"/data", "/tmp"}
    volumes = {one["name"]: one for one in pod(workload)["spec"]["volumes"]}
    claims = {one["metadata"]["name"] for one in workload["spec"].get("volumeClaimTemplates", [])}
    assert set(mounts) == set(volumes) | claims
    for one in volumes.values():
        assert set(one) - {"name"} <= {"emptyDir", "configMap", "persistentVolumeClaim"}
        assert "sizeLimit" in one.get("emptyDir", {"sizeLimit": None})


def test_the_namespace_takes_nothing_that_may_more() -> None:
    (namespace,) = of_kind(THINGS, "Namespace").values()
    assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(KUBERNETES).as_posix())
def test_no_file_holds_a_secret(file: Path) -> None:
    for one in documents(file):
        assert not isinstance(one, dict) or (one.get("kind") != "Secret" and "secretGenerator" not in one)
    text = "\n".join(line for line in file.read_text().splitlines() if not line.lstrip().startswith("#"))
    assert not SECRET_WORDS.search(text)


def test_what_no_policy_names_is_refused() -> None:
    assert POLICIES["nobody"]["spec"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}


def named(selector: Thing) -> set[str]:
    """The workloads of ours that a selector chooses."""
    return {name for name, one in ALL.items() if chosen(selector, pod(one)["metadata"]["labels"])}


def rules(direction: str) -> Iterator[tuple[str, Thing]]:
    """Each rule of a direction, for each workload that it holds for."""
    for policy in POLICIES.values():
        spec = policy["spec"]
        assert direction.capitalize() in spec["policyTypes"] or direction not in spec
        for rule in spec.get(direction, []):
            for name in named(spec["podSelector"]):
                yield name, rule


def calls_out() -> set[Call]:
    return {
        (caller, called, port["port"])
        for caller, rule in rules("egress")
        for peer in rule["to"]
        if "podSelector" in peer
        for called in named(peer["podSelector"])
        for port in rule["ports"]
    }


def calls_in() -> set[Call]:
    return {
        (caller, called, port["port"])
        for called, rule in rules("ingress")
        for caller in (
            [one for peer in rule["from"] if "podSelector" in peer for one in named(peer["podSelector"])]
            if "from" in rule
            else ALL
        )
        for port in rule["ports"]
    }


def test_only_the_gateway_can_be_reached_from_outside() -> None:
    assert {name for name, rule in rules("ingress") if "from" not in rule} == {"gateway"}
    peers = [(name, peer) for name, rule in rules("ingress") for peer in rule.get("from", [])]
    assert not [peer for _, peer in peers if "ipBlock" in peer]
    others = {name: peer for name, peer in peers if "namespaceSelector" in peer}
    # Metrics, and those of the gateway come through the door.
    assert set(others) == {"retriever", "generator"}
    for peer in others.values():
        assert peer["namespaceSelector"] == {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}


def test_whoever_may_call_is_let_in_and_nobody_else_is() -> None:
    """The gateway lets everybody in; so of its callers only those that may call count."""
    assert calls_out() <= calls_in()
    assert {call for call in calls_in() if call[1] != "gateway"} <= calls_out()


def test_nobody_speaks_to_the_world() -> None:
    for _, rule in rules("egress"):
        for peer in rule["to"]:
            assert "podSelector" in peer or {port["port"] for port in rule["ports"]} == {53}


def test_ports_are_those_that_are_listened_on() -> None:
    for _, called, port in calls_in():
        assert port in {one["containerPort"] for one in container(ALL[called])["ports"]}


def test_each_room_may_call_whom_its_code_calls() -> None:
    services = Path(__file__).parents[3] / "services"
    for room in ("gateway", "retriever", "generator", "ingestor"):
        code = "\n".join(file.read_text() for file in (services / room).rglob("*.py"))
        wanted = {called for called, pattern in ADDRESSES.items() if re.search(pattern, code)} - {room}
        mine = {
            name
            for name, one in ALL.items()
            if container(one).get("command", ["", "", ""])[2:3] == [f"services.{room}"]
        }
        assert mine
        assert {called for caller, called, _ in calls_out() if caller in mine} == wanted, room


def test_every_selector_finds_something() -> None:
    for thing in of_kind(THINGS, "Service").values():
        assert named({"matchLabels": thing["spec"]["selector"]}) == {by_name(thing)}
    for policy in POLICIES.values():
        assert named(policy["spec"]["podSelector"])
    values = {
        value
        for policy in POLICIES.values()
        for value in re.findall(rf"'{re.escape(NAME)}': '([^']+)'|'values': \[([^\]]+)\]", str(policy))
        for value in re.findall(r"[a-z-]+", " ".join(value))
    }
    assert values == set(ALL)
    assert {part.name for part in PARTS} <= values
