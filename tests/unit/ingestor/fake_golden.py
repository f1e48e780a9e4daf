"""A fake of what golden questions are made from and kept in: two documents, and a golden set in memory."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from services.ingestor.ports.jobs import ClaimedJob, ProgressNote
from services.shared.contracts.golden import GoldenOrigin, Question
from services.shared.contracts.ids import DocumentId, JobId, SpaceId
from services.shared.evaluation.golden.material import Passage, SourceDocument


def long_document(name: str, passages: int = 1) -> SourceDocument:
    """Each passage has a sentence that the rules ask for, and enough words for a model."""
    bodies = [
        f"{name} employs {30 + n} people in hall {n}. Then "
        + " ".join(f"{name.lower()}word{n}{k}" for k in range(40))
        + "."
        for n in range(passages)
    ]
    parts = tuple(Passage(body, name, 1000 * n, 1000 * n + len(body), "fact", 0) for n, body in enumerate(bodies))
    return SourceDocument(DocumentId(f"{name}.md"), name, None, (f"What is {name}?",), parts)


class FakeGoldenContent:
    """``notes`` are the progress notes of the worker's ledger, which the catalog would hold."""

    def __init__(self, notes: Sequence[ProgressNote]) -> None:
        self.sources = [long_document("Gravel", 3), long_document("Quayside", 3)]
        self.notes = notes
        self.kept: dict[str, tuple[Question, GoldenOrigin]] = {}
        self.before: dict[JobId, list[Question]] = {}
        self.spaces: list[SpaceId] = []
        self.proposals = 0
        self.error: Exception | None = None
        self.after_document: Callable[[], None] = lambda: None

    def documents(self, space: SpaceId, seed: int) -> Iterator[SourceDocument]:
        if self.error is not None:
            raise self.error
        self.spaces.append(space)
        for source in self.sources:
            yield source
            self.after_document()

    def known(self, job: ClaimedJob) -> list[Question]:
        return self.before.setdefault(job.id, [question for question, _ in self.kept.values()])

    def propose(self, space: SpaceId, questions: Sequence[Question], origin: GoldenOrigin) -> int:
        self.proposals += 1
        fresh = {one.id: (one, origin) for one in questions if one.id not in self.kept}
        self.kept |= fresh
        return len(fresh)

    def step(self, job: ClaimedJob) -> tuple[str | None, int]:
        last = [note for note in self.notes if note.job_id == job.id][-1:]
        return (last[0].stage, last[0].done) if last else (None, 0)

    def made(self, job: ClaimedJob) -> dict[str, int]:
        return dict(Counter(question.kind for question, _ in self.kept.values()))

    def by(self, origin: GoldenOrigin) -> list[Question]:
        return [question for question, whose in self.kept.values() if whose is origin]
