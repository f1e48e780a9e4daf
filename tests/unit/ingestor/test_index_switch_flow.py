"""An index that is filled: compared, switched to, and gone when it is taken out."""

from dataclasses import replace

from services.ingestor.flow.index_comparing import LEAST_ASKED, LONGEST_S
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.indexes import IndexPhase
from services.shared.contracts.jobs import JobState, Queue
from tests.unit.ingestor.fake_indexes import SECOND
from tests.unit.ingestor.index_world import in_turn, to_be_promoted, world_of


def test_a_power_cut_while_it_is_removed_ends_in_its_removal() -> None:
    for moment in range(1, 7):
        world = world_of()
        world.build()
        world.records.index = replace(world.records.now, phase=IndexPhase.RETIRED)
        job_id = world.order()
        world.fuse.at = world.fuse.calls + moment
        assert world.dies(job_id), moment
        if not world.state(job_id).final:
            world.catalog.jobs[job_id] = replace(world.catalog.jobs[job_id], attempts=0)
            world.build(job_id)
        assert world.records.find(SECOND) is None
        assert "two" not in world.vectors.indexes


def test_it_is_promoted_by_itself_when_that_was_asked_for() -> None:
    world = to_be_promoted()
    job_id = world.build()
    assert world.records.serves == "two"
    assert world.catalog.results[job_id]["state"] == "serving"


def test_one_that_finds_less_is_not_promoted_and_says_so() -> None:
    world = to_be_promoted()
    world.rankings.ranks["two"] = 6
    job_id = world.build()
    assert world.records.serves == "one"
    comparison = world.records.now.comparison
    assert comparison is not None
    assert comparison.worse
    assert comparison.high < 0
    assert (world.records.now.phase, world.records.now.promotion) == (IndexPhase.READY, None)
    assert world.catalog.warnings[job_id] == "worse"


def test_one_that_finds_less_is_promoted_when_forced() -> None:
    world = to_be_promoted()
    world.records.index = replace(world.records.now, promotion="forced")
    world.rankings.ranks["two"] = 6
    world.build()
    assert world.records.serves == "two"


def test_what_is_published_just_before_the_switch_is_followed_first() -> None:
    world = to_be_promoted()
    world.records.on_promote = in_turn(
        lambda: world.content.publish("late", 3), lambda: world.content.publish("later", 3)
    )
    world.build()
    assert world.records.serves == "two"
    assert world.vectors.ids_of("two") == world.content.ids()


def test_a_rollback_needs_no_comparison() -> None:
    world = world_of()
    world.build()
    world.records.index = replace(world.records.now, phase=IndexPhase.STANDBY, comparison=None, promotion="asked")
    world.content.publish("d0", 4)
    world.rankings.asked.clear()
    world.build()
    assert world.records.serves == "two"
    assert world.rankings.asked == []


def test_too_small_a_golden_set_is_made_up_from_the_content() -> None:
    world = world_of()
    world.golden.questions = 9
    world.build()
    comparison = world.records.now.comparison
    assert comparison is not None
    assert comparison.golden == "made"


def test_where_nothing_can_be_asked_it_takes_force() -> None:
    world = to_be_promoted()
    world.golden.questions = 0
    world.questions.sources = []
    world.build()
    assert world.records.now.comparison is None
    assert "force" in str(world.records.now.reason) or world.records.now.reason == "worse"
    assert world.records.serves == "one"


def test_a_retriever_that_is_away_puts_the_comparison_off_and_nothing_is_embedded_again() -> None:
    world = world_of()
    world.rankings.error = RagstoneError(ErrorCode.RETRIEVER_UNAVAILABLE, "it is away")
    job_id = world.order()
    world.worker.answer(job_id)
    assert world.state(job_id) is JobState.QUEUED
    world.rankings.error = None
    world.build(job_id)
    assert len(world.model.texts) == 60
    assert world.records.now.phase is IndexPhase.READY


def test_a_new_index_that_the_retriever_cannot_search_is_not_ready() -> None:
    world = world_of()
    world.rankings.degraded["two"] = {"model_unavailable"}
    job_id = world.order()
    world.worker.answer(job_id)
    assert world.state(job_id) is JobState.QUEUED
    assert "model_unavailable" in str(world.catalog.reasons[job_id])
    assert world.records.now.phase is IndexPhase.BUILDING


def test_a_serving_index_whose_model_is_gone_is_compared_as_it_serves() -> None:
    world = to_be_promoted()
    world.rankings.degraded["one"] = {"model_unavailable"}
    world.build()
    assert world.records.serves == "two"


def test_a_comparison_that_takes_too_long_leaves_questions_out() -> None:
    world = world_of()

    def slow() -> None:
        world.clock.now += LONGEST_S / 10

    world.rankings.after = slow
    world.build()
    comparison = world.records.now.comparison
    assert comparison is not None
    assert comparison.questions == LEAST_ASKED


def test_one_that_is_taken_out_while_it_is_built_is_removed_by_its_job() -> None:
    world = world_of()
    calls = 0

    def retire() -> None:
        nonlocal calls
        calls += 1
        if calls == 12:
            world.records.index = replace(world.records.now, phase=IndexPhase.RETIRED)
            world.vectors.retired.add(SECOND)

    world.model.after_batch = retire
    job_id = world.build()
    assert world.state(job_id) is JobState.SUCCEEDED
    assert world.catalog.results[job_id]["state"] == "retired"
    assert world.second_vectors.dropped == [SECOND]
    assert world.records.index is None


def test_the_job_of_an_index_that_is_gone_ends_well() -> None:
    world = world_of()
    job_id = world.build(world.order("gone"))
    assert world.catalog.results[job_id] == {"index_id": "gone", "state": "retired"}
    assert world.second_vectors.dropped == []


def test_one_that_serves_meanwhile_is_left_alone() -> None:
    world = world_of()
    world.build()
    world.content.publish("d0", 3)

    def promote() -> None:
        world.records.index = replace(world.records.now, phase=IndexPhase.SERVING)

    world.model.after_batch = promote
    job_id = world.build()
    assert world.catalog.results[job_id]["state"] == "serving"
    assert "two" in world.vectors.indexes


def test_another_workers_job_is_dropped() -> None:
    world = world_of()
    job_id = world.order()
    world.catalog.stolen.add(job_id)
    world.worker.answer(job_id)
    assert world.state(job_id) is JobState.RUNNING, "whoever holds it decides"
    assert world.records.now.target is None


def test_it_waits_in_the_queue_of_long_work() -> None:
    world = world_of()
    assert world.catalog.jobs[world.order()].queue is Queue.INDEX
