"""Making golden questions, top to bottom: read the live documents, ask by rule, then by model, and propose.

The rules run in one go. The model is asked passage by passage, and makes way for other jobs after each time slice;
what it wrote is proposed at once, so that a break costs at most one question.
"""

from collections.abc import Sequence

from pydantic import ValidationError

from services.ingestor.flow.outages import fail_or_put_off
from services.ingestor.flow.progress import Progress
from services.ingestor.ports.evaluation import Judge
from services.ingestor.ports.golden import GoldenContent
from services.ingestor.ports.jobs import ClaimedJob, Lease, LeaseLost, ProgressNote
from services.ingestor.ports.tools import Tools
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.golden import GoldenMakeRequest, GoldenOrigin
from services.shared.evaluation.golden.by_model import model_prompt, passages_to_ask, read_model_question
from services.shared.evaluation.golden.drafts import Draft
from services.shared.evaluation.golden.material import SourceDocument
from services.shared.evaluation.golden.rules import drafts_of, questions_of
from services.shared.evaluation.golden.words import Corpus

DOCUMENTS_MAX = 2_000
PASSAGES_MAX = 20_000
"""Documents and chunks that questions are made from; of a larger space, those that the seed puts first."""

MODEL_SHARE = 2
"""One in so many of the questions is the model's, where it is asked at all."""
FAILURES_MAX = 3
"""Passages in a row at which the model may fail before the job does."""

NO_JUDGE = (
    "questions by a model were asked for and no model is set: set RAGSTONE_JUDGE_URL to an OpenAI-compatible server and"
    " restart the worker, or make questions by rule only"
)
NO_CONTENT = "the space holds no documents to make questions from"
ASK = "ask"
"""Stage in which the model is asked; what comes before it is done."""


class MakeGolden:
    """Runs GOLDEN jobs. Ids follow from the questions, so that a second run proposes the next, none twice."""

    def __init__(self, tools: Tools, content: GoldenContent) -> None:
        self._tools = tools
        self._content = content

    def run(self, job: ClaimedJob) -> None:
        """Propose questions until the limit, the end of the documents or the end of the time slice."""
        tools = self._tools
        with tools.leases.hold([job.id]) as lease:
            try:
                request = _request_of(job)
                judge, began = self._judge(request), tools.clock()
                documents = self._read(job, lease, request.seed)
                if self._slice(job, lease, request, documents, judge, began):
                    made = self._content.made(job)
                    warning = None if documents else NO_CONTENT
                    tools.ledger.succeed(job, {"proposed": sum(made.values()), "by": made}, warning)
                else:
                    tools.ledger.release([job])
                    tools.bell.ring(job.queue, job.id, job.request_id)
            except LeaseLost:
                # Cancelled, or another worker's by now. What is proposed stays: the owner decides on it.
                tools.ledger.drop(job)
            except tools.time_up:
                raise
            except Exception as error:
                fail_or_put_off(tools.ledger, job, error, f"golden questions {job.id}")

    def _slice(
        self,
        job: ClaimedJob,
        lease: Lease,
        request: GoldenMakeRequest,
        documents: Sequence[SourceDocument],
        judge: Judge | None,
        began: float,
    ) -> bool:
        """True when all is done, False when the time slice is over before."""
        stage, asked = self._content.step(job)
        if stage != ASK:
            self._by_rule(job, lease, request, documents)
            asked = 0
        return judge is None or self._by_model(job, lease, request, documents, judge, asked, began)

    def _judge(self, request: GoldenMakeRequest) -> Judge | None:
        """The model to ask, if it was asked for. Raises RagstoneError when there is none."""
        if not request.by_model:
            return None
        judge = self._tools.evaluation.judge
        if judge is None:
            raise RagstoneError(ErrorCode.JUDGE_UNAVAILABLE, NO_JUDGE)
        judge.probe()
        return judge

    def _read(self, job: ClaimedJob, lease: Lease, seed: int) -> list[SourceDocument]:
        documents: list[SourceDocument] = []
        passages = 0
        for document in self._content.documents(job.space, seed):
            if not lease.keeps(job.id):
                raise LeaseLost
            documents.append(document)
            passages += len(document.passages)
            if len(documents) >= DOCUMENTS_MAX or passages >= PASSAGES_MAX:
                break
        return documents

    def _by_rule(
        self, job: ClaimedJob, lease: Lease, request: GoldenMakeRequest, documents: Sequence[SourceDocument]
    ) -> None:
        progress = Progress(self._tools.ledger, self._tools.clock)
        corpus = Corpus(documents)
        drafts: list[Draft] = []
        for n, document in enumerate(documents):
            progress.say([ProgressNote(job.id, "make", n, len(documents))])
            if not lease.keeps(job.id):
                raise LeaseLost
            drafts += drafts_of(document, corpus)
        limit = request.limit - _models_part(request)
        known = {question.id for question in self._content.known(job)}
        questions = questions_of(drafts, corpus, limit, request.seed, known)
        self._content.propose(job.space, questions, GoldenOrigin.RULE)

    def _by_model(
        self,
        job: ClaimedJob,
        lease: Lease,
        request: GoldenMakeRequest,
        documents: Sequence[SourceDocument],
        judge: Judge,
        asked: int,
        began: float,
    ) -> bool:
        """Ask the model for one question a passage, from the first that was not asked yet."""
        tools = self._tools
        progress = Progress(tools.ledger, tools.clock)
        chosen = passages_to_ask(documents, _models_part(request), request.seed, self._content.known(job))
        failures = 0
        for n, (document, passage) in enumerate(chosen[asked:], start=asked):
            progress.say([ProgressNote(job.id, ASK, n, len(chosen))])
            if not lease.keeps(job.id):
                raise LeaseLost
            try:
                reply = judge.ask(model_prompt(passage, document.title))
            except RagstoneError:
                failures += 1
                if failures >= FAILURES_MAX:
                    raise
                continue
            failures = 0
            question = read_model_question(reply, document.document_id, passage)
            if question is not None:
                self._content.propose(job.space, [question], GoldenOrigin.MODEL)
            if tools.clock() - began > tools.rules.time_slice_s and n + 1 < len(chosen):
                tools.ledger.progress([ProgressNote(job.id, ASK, n + 1, len(chosen))])
                return False
        return True


def _models_part(request: GoldenMakeRequest) -> int:
    return request.limit // MODEL_SHARE if request.by_model else 0


def _request_of(job: ClaimedJob) -> GoldenMakeRequest:
    """What was asked for; a payload may carry more than this version knows."""
    known = {key: value for key, value in job.payload.items() if key in GoldenMakeRequest.model_fields}
    try:
        return GoldenMakeRequest.model_validate(known)
    except ValidationError as error:
        detail = "the job's record cannot be read by this version; ask for the questions again"
        raise RagstoneError(ErrorCode.INVALID_REQUEST, detail) from error
