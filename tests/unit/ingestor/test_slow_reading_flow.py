"""Documents that take long to read make way for the others, and are read to their end all the same."""

import pytest

from services.shared.contracts.ids import JobId
from services.shared.contracts.jobs import JobState
from tests.unit.ingestor.fakes import TimeUp, World

SHORT = "# Beds\n\n" + "\n\n".join(f"Section {n}. The garden team waters bed number {n} at dawn." for n in range(20))


def test_one_that_takes_long_to_read_is_put_behind_the_others_and_succeeds() -> None:
    world = World()
    slow, good = world.send("slow", "SLOW but good."), world.send("good", "Good text.")
    world.worker.answer(slow)
    assert [world.state(job) for job in (slow, good)] == [JobState.QUEUED, JobState.SUCCEEDED]
    assert world.catalog.jobs[slow].attempts == 0, "a first, short reading is no attempt"
    assert world.bell.rung == [slow]
    world.worker.answer(slow)
    assert world.state(slow) == JobState.SUCCEEDED
    assert world.catalog.jobs[slow].attempts == 1


def test_documents_go_in_while_one_is_read_that_takes_long() -> None:
    world = World()
    slow = world.send("slow", "SLOW but good.")
    world.worker.answer(slow)
    sent: list[JobId] = []
    in_between: list[tuple[JobState, JobState]] = []

    def is_read() -> bool:
        if sent:
            in_between.append((world.state(slow), world.state(sent[-1])))
        if len(sent) == 3:
            return True
        sent.append(world.send(f"d{len(sent)}", f"Text {len(sent)}."))
        return False

    world.is_read = is_read
    world.worker.answer(slow)
    assert in_between == [(JobState.RUNNING, JobState.SUCCEEDED)] * 3
    assert world.state(slow) == JobState.SUCCEEDED


def test_when_the_time_is_over_beside_one_that_takes_long_nobody_is_blamed() -> None:
    world = World()
    slow = world.send("slow", "SLOW but good.")
    world.worker.answer(slow)
    killer: list[JobId] = []

    def is_read() -> bool:
        killer.append(world.send("killer", "HANGS"))
        return False

    world.is_read = is_read
    with pytest.raises(TimeUp):
        world.worker.answer(slow)
    world.worker.give_up("it took too long")
    assert [world.state(job) for job in (slow, *killer)] == [JobState.RUNNING] * 2
