"""A second index in a real catalog and a real Chroma: no vector of another model, whatever happens meanwhile."""

import threading
import time

import pytest

from services.ingestor.flow.work import Worker
from services.shared.catalog import documents, indexes, jobs
from services.shared.catalog.engine import Catalog
from services.shared.contracts.ids import DocumentId, IndexId, JobId
from services.shared.contracts.indexes import IndexPhase
from services.shared.contracts.jobs import JobState
from services.shared.index.collections import listed
from tests.contract.ingestor.other_models import HashModels, OtherModels
from tests.contract.ingestor.site import Site

PARAGRAPH = " ".join(f"The {word} of the harbour keeps a record of every boat." for word in ("pilot", "clerk", "cook"))


def text_of(name: str, paragraphs: int = 20) -> str:
    return "\n\n".join(f"# {name} {n}\n\n{name} has berth {n}. {PARAGRAPH}" for n in range(paragraphs))


@pytest.fixture
def other(site: Site) -> OtherModels:
    made = OtherModels(site)
    for n in range(6):
        made.ingest(f"d{n}", text_of(f"Boat{n}"))
    return made


@pytest.mark.parametrize("name", ["same width", "wider"])
def test_every_vector_is_the_new_models_and_the_old_index_keeps_its_own(other: OtherModels, name: str) -> None:
    first = other.serving().id
    index_id, job_id = other.order(name)
    other.run(job_id)
    assert other.site.job(job_id).state is JobState.SUCCEEDED, other.site.job(job_id).reason
    assert len(other.models.embedded[name]) == len(other.texts()), "each chunk once, whatever did not change"
    stored = other.stored(index_id)
    assert stored is not None
    assert (stored.state, stored.vectors) == (IndexPhase.READY, len(other.texts()))
    assert stored.truncated == (len(other.texts()) if name == "wider" else 0)
    other.check_whole(index_id)
    other.check_whole(first)
    assert other.serving().id == first

    other.promote(index_id)
    assert other.serving().id == index_id
    other.ingest("after", text_of("After", 3))
    other.check_whole(index_id)
    lagging = other.stored(first)
    assert lagging is not None
    assert lagging.state is IndexPhase.STANDBY

    other.promote(first)
    assert other.serving().id == first
    other.check_whole(first)
    other.check_whole(index_id)


def test_what_changes_while_it_is_built_is_in_it_when_it_is_ready(other: OtherModels) -> None:
    index_id, job_id = other.order("wider")
    done = 0

    def change() -> None:
        nonlocal done
        done += 1
        if done == 1:
            other.models.before = lambda: None
            other.ingest("new", text_of("New", 3))
            other.ingest("d0", text_of("Changed", 5))
            with other.catalog.write() as tx:
                assert documents.remove(tx, other.site.space, DocumentId("d1"), other.worker_now()) is not None

    other.models.before = change
    other.run(job_id)
    assert other.site.job(job_id).state is JobState.SUCCEEDED
    other.check_whole(index_id)


class PowerCutError(BaseException):
    """The worker is gone."""


def test_a_worker_that_dies_again_and_again_loses_a_group_each_time(other: OtherModels) -> None:
    index_id, job_id = other.order("same width")
    calls, deaths = 0, 0

    def die() -> None:
        nonlocal calls
        calls += 1
        if calls % 2 == 0:
            raise PowerCutError

    other.models.before = die
    for _ in range(60):
        try:
            other.worker.answer(job_id)
        except PowerCutError:
            deaths += 1
            assert other.stored(index_id).state is IndexPhase.BUILDING  # type: ignore[union-attr]
            with other.catalog.write() as tx:
                jobs.reap(tx, max_attempts=3, now=other.worker_now(seconds=3600))
        if other.site.job(job_id).state.final:
            break
    assert deaths >= 2
    assert other.site.job(job_id).state is JobState.SUCCEEDED, "what gets on is no poison"
    assert len(other.models.embedded["same width"]) == len(other.texts())
    other.check_whole(index_id)


def test_an_embedder_that_is_not_here_fails_by_its_name_and_leaves_no_collection(other: OtherModels) -> None:
    before = set(listed(other.site.chroma_url))
    index_id, job_id = other.order("no-such")
    other.run(job_id)
    job = other.site.job(job_id)
    assert (job.state, job.attempts) == (JobState.FAILED, 1)
    assert "'no-such' is not here" in str(job.reason)
    assert set(listed(other.site.chroma_url)) == before
    other.remove(index_id)
    assert other.stored(index_id) is None


def test_the_embedder_that_serves_already_is_no_new_index(other: OtherModels) -> None:
    _, job_id = other.order("A")
    other.run(job_id)
    assert other.site.job(job_id).state is JobState.FAILED
    assert "fills the serving index" in str(other.site.job(job_id).reason)


def test_removing_deletes_the_collection_also_of_one_that_is_being_built(other: OtherModels) -> None:
    url = other.site.chroma_url
    index_id, job_id = other.order("wider")
    collection = f"ragstone-{index_id}"

    def retire() -> None:
        if len(other.models.embedded["wider"]) >= 16:
            other.models.before = lambda: None
            other.remove(index_id)

    other.models.before = retire
    other.worker.answer(job_id)
    assert other.site.job(job_id).state is JobState.SUCCEEDED
    assert other.stored(index_id) is None
    assert collection not in listed(url)

    index_id, job_id = other.order("wider")
    other.run(job_id)
    assert f"ragstone-{index_id}" in listed(url)
    other.remove(index_id)
    assert f"ragstone-{index_id}" not in listed(url)
    assert other.stored(index_id) is None


def test_lagging_ones_are_brought_level_by_the_job_that_the_reconciler_makes(other: OtherModels) -> None:
    index_id, job_id = other.order("same width")
    other.run(job_id)
    other.ingest("new", text_of("New", 3))
    with other.catalog.write() as tx:
        (row,) = (one for one in indexes.lagging(tx, other.worker_now(seconds=60)) if one.space_id == other.site.space)
        job = indexes.begin_following(tx, row, id=JobId("follow"), request_id="", now=other.worker_now())
    assert job is not None
    other.run(job.id)
    other.check_whole(index_id)


def test_documents_published_while_indexes_switch_to_and_fro_always_have_their_vectors(other: OtherModels) -> None:
    """One worker publishes and deletes, another one brings the indexes level and switches, as quickly as they can."""
    index_id, job_id = other.order("wider")
    other.run(job_id)
    first = other.serving().id
    over, errors = threading.Event(), list[BaseException]()
    published = 0

    def publish() -> None:
        nonlocal published
        catalog = Catalog(other.site.settings.state.catalog_url)
        worker = Worker(other.tools(HashModels(), catalog))
        try:
            for n in range(10_000):
                if over.is_set():
                    break
                job = other.site.send(f"d{n % 8}", text_of(f"Round{n}", 2 + n % 3))
                worker.answer(job)
                assert other.site.job(job).state is JobState.SUCCEEDED, other.site.job(job).reason
                published += 1
                if n % 5 == 4:
                    with other.catalog.write() as tx:
                        documents.remove(tx, other.site.space, DocumentId(f"d{n % 8}"), other.worker_now())
        except BaseException as error:
            errors.append(error)
        finally:
            catalog.close()

    thread = threading.Thread(target=publish)
    thread.start()
    switches = 0
    give_up = time.monotonic() + 60
    try:
        while (switches < 8 or published < 15) and not errors:
            assert time.monotonic() < give_up, f"{switches} switches and {published} documents in a minute"
            to = index_id if other.serving().id == first else first
            other.promote(to)
            switches += 1
    finally:
        over.set()
        thread.join()
    assert not errors, errors
    serving = other.serving().id
    with_vectors = other.present(serving)
    assert set(other.texts()) <= with_vectors, "no published document lacks its vectors"
    back: IndexId = first if serving == index_id else index_id
    other.promote(back)
    assert set(other.texts()) <= other.present(back)
    other.check_models(first)
    other.check_models(index_id)


def test_a_job_of_which_the_lease_was_lost_changes_nothing(other: OtherModels) -> None:
    index_id, job_id = other.order("same width")
    stolen = False

    def steal() -> None:
        nonlocal stolen
        if not stolen and other.models.embedded["same width"]:
            stolen = True
            with other.catalog.write() as tx:
                jobs.reap(tx, max_attempts=3, now=other.worker_now(seconds=3600))

    other.models.before = steal
    other.worker.answer(job_id)
    assert other.site.job(job_id).state is JobState.QUEUED
    built = other.stored(index_id)
    assert built is not None
    assert built.vectors == 16, "as noted before the lease was lost"
    other.run(job_id)
    other.check_whole(index_id)
