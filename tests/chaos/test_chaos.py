"""Processes are killed at random moments; after each round nothing is lost, double, half visible or undead.

`make chaos` runs 200 rounds; the number is RAGSTONE_CHAOS_ROUNDS, and RAGSTONE_CHAOS_SEED repeats a run's dice.
"""

import os
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chaos.cluster import Cluster
from tests.chaos.rounds import Chaos

ROUNDS = int(os.environ.get("RAGSTONE_CHAOS_ROUNDS", "3"))
SEED = int(os.environ.get("RAGSTONE_CHAOS_SEED", str(random.SystemRandom().randrange(10**6))))


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    running = Cluster(tmp_path / "state")
    try:
        running.start()
        yield running
    finally:
        running.stop()


def test_nothing_is_lost_or_undead_whoever_is_killed(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    chaos, rounds = Chaos(cluster, random.Random(SEED)), 0
    try:
        while rounds < ROUNDS and not chaos.faults:
            chaos.round()
            rounds += 1
    finally:
        chaos.close()
        head = f"seed {SEED}, {rounds} rounds, {len(chaos.belief.live)} documents live, {len(chaos.belief.dead)} dead"
        with capsys.disabled():
            sys.stdout.write("\n".join(["", head, *chaos.tally.lines(), f"  faults {len(chaos.faults)}", ""]))
    assert not chaos.faults, f"round {rounds} of seed {SEED}: {chaos.faults[:10]}; logs in {cluster.site.state_dir}"
    assert sum(chaos.tally.kills.values()) >= ROUNDS
