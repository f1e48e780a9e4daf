"""A gateway that is away for a moment is waited for; one that stays away or refuses is not."""

import threading

import pytest

from services.local import mirror, patience
from services.local.api import Api, Unreachable
from services.local.mirror import Progress
from services.local.outcome import Report
from services.local.patience import AWAY, follow, patiently
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.jobs import Job
from tests.unit.local.fakes import FakeMeasuring


@pytest.fixture
def gateway(monkeypatch: pytest.MonkeyPatch) -> FakeMeasuring:
    monkeypatch.setattr(patience, "AGAIN_EVERY_S", 0.01)
    gateway = FakeMeasuring()
    gateway.jobs["j0"] = {"looks": 0, "id": "d0", "data": b"", "kind": "evaluation"}
    return gateway


@pytest.fixture
def api(gateway: FakeMeasuring) -> Api:
    return Api("http://gateway", transport=gateway.transport())


def test_a_job_is_followed_over_a_restart_and_the_bar_says_so(api: Api, gateway: FakeMeasuring) -> None:
    gateway.away = 3
    seen = list[Job]()
    assert follow(api, "j0", seen.append, threading.Event()).state == "succeeded"
    assert [job.stage for job in seen] == ["ask", AWAY, AWAY, AWAY, "ask"]


def test_documents_are_waited_for_over_a_restart(api: Api, gateway: FakeMeasuring) -> None:
    gateway.away = 3
    report = Report(path="x", origin=None)
    mirror.wait_for(api, {"j0": "d0"}, report, Progress(), threading.Event())
    assert (report.failed, report.interrupted, gateway.away) == ([], False, 0)


def test_one_that_stays_away_is_given_up(api: Api, gateway: FakeMeasuring, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "AWAY_S", 0.05)
    gateway.away = 1_000_000
    with pytest.raises(Unreachable):
        follow(api, "j0", lambda _: None, threading.Event())
    assert gateway.away < 1_000_000 - 1, "it was asked again"


def test_ctrl_c_ends_the_waiting_with_what_was_known(api: Api, gateway: FakeMeasuring) -> None:
    gateway.away = 1_000_000
    stop = threading.Event()

    def seen(job: Job) -> None:
        if job.stage == AWAY:
            stop.set()

    assert follow(api, "j0", seen, stop).state == "running"
    report = Report(path="x", origin=None)
    mirror.wait_for(api, {"j0": "d0"}, report, Progress(), stop)
    assert report.interrupted


@pytest.mark.parametrize(("wait", "asked"), [(None, 1), (1, 2)])
def test_only_a_refusal_that_may_pass_is_asked_again(gateway: FakeMeasuring, wait: int | None, asked: int) -> None:
    tries = list[int]()

    def refuse() -> str:
        tries.append(1)
        if len(tries) > 1:
            return "there"
        raise RagstoneError(ErrorCode.INTERNAL, "No.", retry_after_s=wait)

    if wait is None:
        with pytest.raises(RagstoneError):
            patiently(refuse, threading.Event())
    else:
        assert patiently(refuse, threading.Event()) == "there"
    assert len(tries) == asked
