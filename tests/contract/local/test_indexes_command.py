"""`ragstone reembed` and `indexes` as they are typed, against a gateway in memory."""

import json

import pytest

from tests.contract.local.typed import Ragstone
from tests.unit.local.fake_indexes import FakeIndexed, a_comparison, an_index


@pytest.fixture
def gateway() -> FakeIndexed:
    return FakeIndexed()


def test_it_waits_tells_the_figures_and_how_to_go_on(apart: Ragstone, gateway: FakeIndexed) -> None:
    done = apart("reembed", "big", "--query-prompt", "query: ")
    assert done.returncode == 0, done.stderr
    sent = {"embedder": "big", "query_prompt": "query: ", "document_prompt": None, "promote": False}
    assert gateway.asked[0][3] == sent
    for said in ("is not shown to find less", "0.850 against 0.800", "40 questions", "`ragstone indexes promote i2`"):
        assert said in done.stdout


def test_promoting_goes_with_it_and_failing_to_is_a_failure(ragstone: Ragstone, gateway: FakeIndexed) -> None:
    gateway.built = an_index("i2", "serving")
    done = ragstone("reembed", "big", "--promote")
    assert (done.returncode, gateway.asked[0][3]["promote"]) == (0, True)
    assert "serves. `ragstone indexes rollback` goes back" in done.stdout

    reason = "It was not promoted: it finds less."
    gateway.built = an_index("i2", "ready", comparison=a_comparison(worse=True), reason=reason)
    done = ragstone("reembed", "big", "--promote")
    assert done.returncode == 1
    assert "finds less than" in done.stdout
    assert "promote i2 --force" in done.stdout


def test_force_promotes_when_it_is_built(ragstone: Ragstone, gateway: FakeIndexed) -> None:
    done = ragstone("reembed", "big", "--force", "--json")
    assert (done.returncode, json.loads(done.stdout)["state"]) == (0, "serving")
    assert [(method, path) for method, path, *_ in gateway.asked] == [
        ("POST", "/v1/indexes"),
        ("GET", "/v1/indexes/i2"),
        ("POST", "/v1/indexes/i2/promote"),
    ]
    assert gateway.asked[-1][3] == {"force": True}
    assert ragstone("reembed", "big", "--force", "--background").returncode == 2


def test_a_build_that_fails_says_why_and_how_to_go_on(ragstone: Ragstone, gateway: FakeIndexed) -> None:
    gateway.failing = "index i2 is not built: the embedder 'big' is not here. Install it."
    done = ragstone("reembed", "big")
    assert done.returncode == 1
    assert "'big' is not here" in done.stderr
    assert "ragstone jobs j0 --retry" in done.stderr


def test_it_is_begun_in_the_background_and_listed_with_the_time_left(ragstone: Ragstone, gateway: FakeIndexed) -> None:
    assert "job j0" in ragstone("reembed", "big", "--background").stdout
    building = an_index("i2", "building", vectors=4, lag=2, seconds_left=75.0, truncated=1)
    failed = an_index("i3", "failed", reason="It broke. POST /v1/jobs/j9/retry goes on where it ended.")
    gateway.indexes = [an_index("i1", "serving"), building, failed]
    for words in ([], ["list"]):
        shown = ragstone("indexes", *words)
        assert shown.returncode == 0
        for said in ("serving", "4/10", "1 min 15 s", "1 passages are longer", "`ragstone jobs j9 --retry` goes on"):
            assert said in shown.stdout
    assert json.loads(ragstone("indexes", "--json").stdout)["configured"] == "mini"
    gateway.indexes = []
    assert "The first one is made with mini" in ragstone("indexes").stdout


def test_switching_back_and_removing(ragstone: Ragstone, gateway: FakeIndexed) -> None:
    assert "serves" in ragstone("indexes", "promote", "i2").stdout
    assert "serves" in ragstone("indexes", "rollback", "--space", "handbook").stdout
    assert "retired" in ragstone("indexes", "remove", "i1").stdout
    assert [(method, path, space) for method, path, space, _ in gateway.asked] == [
        ("POST", "/v1/indexes/i2/promote", None),
        ("POST", "/v1/indexes/rollback", "handbook"),
        ("DELETE", "/v1/indexes/i1", None),
    ]


def test_a_refusal_names_the_option(apart: Ragstone, gateway: FakeIndexed) -> None:
    gateway.promoted = None
    done = apart("indexes", "promote", "i2")
    assert done.returncode == 1
    assert "--force promotes it all the same" in done.stderr


def test_one_that_does_not_serve_yet_is_a_failure_that_says_so(ragstone: Ragstone, gateway: FakeIndexed) -> None:
    gateway.promoted = an_index("i2", "ready", reason="It is promoted as soon as it is level; 3 changes are left.")
    done = ragstone("indexes", "promote", "i2")
    assert (done.returncode, "3 changes are left" in done.stdout) == (1, True)
    problem = json.loads(ragstone("indexes", "promote", "i2", "--json").stdout)["error"]
    assert (problem["code"], "3 changes" in problem["detail"]) == ("not_promoted", True)
