"""The table of processes, and what a run makes of it."""

import json
from pathlib import Path

from services.local.guardian import guard
from services.local.health import not_ready_parts
from services.local.processes import PARTS, STOP_ORDER
from services.local.stack import Site, child_environment, own_parts

SITE = Site(
    state_dir=Path("/state"),
    host="127.0.0.1",
    ports={part.name: 9000 + n for n, part in enumerate(PARTS) if part.port},
    redis_url="redis://127.0.0.1:9000/0",
    chroma_url="http://127.0.0.1:9001",
)


def test_every_part_waits_only_for_parts_above_it() -> None:
    seen = set[str]()
    for part in PARTS:
        assert set(part.waits_for) <= seen
        seen.add(part.name)


def test_whoever_is_waited_for_is_stopped_later() -> None:
    place = {name: n for n, wave in enumerate(STOP_ORDER) for name in wave}
    for part in PARTS:
        for needed in part.waits_for:
            assert place.get(needed, len(STOP_ORDER)) > place[part.name]


def test_a_part_whose_address_is_set_by_hand_is_not_started() -> None:
    names = {part.name for part in own_parts({"RAGSTONE_REDIS_URL": "redis://elsewhere"})}
    assert names == {part.name for part in PARTS} - {"redis"}
    assert own_parts({"RAGSTONE_REDIS_URL": ""}) == list(PARTS)


def test_all_parts_get_the_same_addresses_and_the_users_wishes() -> None:
    child = child_environment(SITE, PARTS, {"OMP_NUM_THREADS": "4", "RAGSTONE_PROFILE": "mine.yaml"})
    assert child["RAGSTONE_GATEWAY_URL"] == f"http://127.0.0.1:{SITE.ports['gateway']}"
    assert child["RAGSTONE_RETRIEVER_URL"] == f"http://127.0.0.1:{SITE.ports['retriever']}"
    assert child["RAGSTONE_RETRIEVER_PORT"] == str(SITE.ports["retriever"])
    assert child["RAGSTONE_PORT"] == str(SITE.ports["gateway"])
    assert (child["OMP_NUM_THREADS"], child["HF_HUB_OFFLINE"]) == ("4", "1")
    assert child["RAGSTONE_PROFILE"] == "mine.yaml"


def test_a_gateway_on_all_addresses_is_reached_by_loopback() -> None:
    assert Site(Path("/s"), "0.0.0.0", {"gateway": 1}, "", "").url == "http://127.0.0.1:1"


def test_the_guardian_ends_only_who_is_left() -> None:
    assert guard(["+12\n", "+13\n", "-12\n", "+14\n"]) == {13, 14}


def test_an_unready_part_is_named_with_its_reason() -> None:
    parts = {"model": {"ready": False, "detail": "loading"}, "x": {"ready": True, "detail": ""}}
    assert not_ready_parts(json.dumps({"ready": False, "parts": parts}).encode()) == "model: loading"
    assert not_ready_parts(b"<html>") == ""


def test_an_empty_setting_does_not_reach_the_parts() -> None:
    child = child_environment(SITE, PARTS, {"RAGSTONE_LEASE_S": "", "RAGSTONE_MAX_ATTEMPTS": "2", "OTHER": ""})
    assert "RAGSTONE_LEASE_S" not in child
    assert (child["RAGSTONE_MAX_ATTEMPTS"], child["OTHER"]) == ("2", "")
