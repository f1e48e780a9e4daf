"""What the gateway is made of: its flows over ports, whoever stands behind those."""

import time
import uuid
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from services.gateway.adapters.metrics import GatewayMetrics
from services.gateway.domain.limiting import EACH_WITH_KEYS, Rules
from services.gateway.domain.places import Places
from services.gateway.flow.apart import Apart
from services.gateway.flow.ask import AskFlow, Limits
from services.gateway.flow.ask_later import AskLaterFlow
from services.gateway.flow.calibrate import CalibrateFlow
from services.gateway.flow.curate import CurateFlow
from services.gateway.flow.door import Door
from services.gateway.flow.evaluate import EvaluateFlow
from services.gateway.flow.find import FindFlow
from services.gateway.flow.forget import ForgetFlow
from services.gateway.flow.gaps import GapFlow
from services.gateway.flow.indexes import IndexFlow
from services.gateway.flow.jobs import JobFlow
from services.gateway.flow.judge import JudgeFlow
from services.gateway.flow.limiting import LimitFlow
from services.gateway.flow.note_gaps import NoteGapsFlow
from services.gateway.flow.shared_ask import SharedAskFlow
from services.gateway.flow.submit import SubmitFlow
from services.gateway.flow.writing import Writing
from services.gateway.ports.answering import Answers, Generator, LiveTexts, Retriever
from services.gateway.ports.asked_later import LaterBook
from services.gateway.ports.calibration import Calibrations
from services.gateway.ports.documents import Documents, Originals
from services.gateway.ports.evaluation import Evaluations, FeedbackBook, Golden
from services.gateway.ports.forgetting import AnswerMemory, Bodies, Indexes
from services.gateway.ports.gaps import GapBook, Likeness, Marks
from services.gateway.ports.given import Reuse
from services.gateway.ports.indexes import IndexBook
from services.gateway.ports.jobs import Bell, JobNews, Jobs
from services.gateway.ports.keys import KeyBook
from services.gateway.ports.limiting import Rates
from services.gateway.ports.observing import Observer
from services.gateway.ports.parts import Parts
from services.gateway.settings import GatewaySettings
from services.gateway.wiring.operations import Operations, Watched, counted, operations_of
from services.shared.contracts.profile import Profile
from services.shared.kit.logs import get_logger
from services.shared.kit.version import product_version

log = get_logger(__name__)


@dataclass(frozen=True)
class Outside:
    """Everything outside that the gateway speaks to, behind its ports."""

    retriever: Retriever
    generator: Generator
    live_texts: LiveTexts
    documents: Documents
    jobs: Jobs
    later: LaterBook
    evaluations: Evaluations
    golden: Golden
    feedback: FeedbackBook
    gaps: GapBook
    likeness: Likeness
    marks: Marks
    calibrations: Calibrations
    index_book: IndexBook
    answers: Answers
    reuse: Reuse
    memory: AnswerMemory
    originals: Originals
    bodies: Bodies
    indexes: Indexes
    bell: Bell
    news: JobNews
    parts: Parts
    rates: Rates
    keys: KeyBook
    watched: Watched


@dataclass(frozen=True)
class Gateway:
    """The flows behind the routes, and the ports that a route may read from directly."""

    settings: GatewaySettings
    profile: Profile
    find: FindFlow
    ask: SharedAskFlow
    later: AskLaterFlow
    submit: SubmitFlow
    forget: ForgetFlow
    watch: JobFlow
    evaluate: EvaluateFlow
    curate: CurateFlow
    calibrate: CalibrateFlow
    indexes: IndexFlow
    judge: JudgeFlow
    notes: NoteGapsFlow
    gaps: GapFlow
    gap_book: GapBook
    limits: LimitFlow
    documents: Documents
    jobs: Jobs
    evaluations: Evaluations
    golden: Golden
    feedback: FeedbackBook
    calibrations: Calibrations
    index_book: IndexBook
    originals: Originals
    parts: Parts
    keys: KeyBook
    door: Door
    operations: Operations


def gateway_of(outside: Outside, settings: GatewaySettings, profile: Profile) -> Gateway:
    """The flows over these adapters."""
    metrics = GatewayMetrics()
    retriever, generator = counted(outside.retriever, outside.generator, metrics)
    outside = replace(outside, retriever=retriever, generator=generator)
    notes = _noting(outside, settings, profile)
    find, ask = _asking(outside, settings, profile, notes, metrics)
    submit = SubmitFlow(
        documents=outside.documents,
        originals=outside.originals,
        bell=outside.bell,
        document_max_bytes=settings.document_max_bytes,
        body_max_bytes=settings.body_max_bytes,
    )
    limits = _limiting(outside.rates, settings)
    watch = JobFlow(jobs=outside.jobs, news=outside.news, bell=outside.bell)
    return Gateway(
        settings=settings,
        profile=profile,
        find=find,
        ask=ask,
        later=AskLaterFlow(ask=ask, book=outside.later, bell=outside.bell),
        submit=submit,
        forget=ForgetFlow(
            documents=outside.documents,
            originals=outside.originals,
            bodies=outside.bodies,
            indexes=outside.indexes,
            answers=outside.memory,
            bell=outside.bell,
        ),
        watch=watch,
        evaluate=EvaluateFlow(
            evaluations=outside.evaluations, bell=outside.bell, question_max_chars=settings.question_max_chars
        ),
        curate=CurateFlow(golden=outside.golden, bell=outside.bell, question_max_chars=settings.question_max_chars),
        calibrate=CalibrateFlow(calibrations=outside.calibrations, bell=outside.bell),
        indexes=IndexFlow(book=outside.index_book, jobs=outside.jobs, bell=outside.bell, clock=time.monotonic),
        judge=JudgeFlow(answers=outside.answers, feedback=outside.feedback, notes=notes, keep_s=settings.answer_keep_s),
        notes=notes,
        gaps=GapFlow(book=outside.gaps, submit=submit, today=lambda: datetime.now(UTC).date()),
        gap_book=outside.gaps,
        limits=limits,
        documents=outside.documents,
        jobs=outside.jobs,
        evaluations=outside.evaluations,
        golden=outside.golden,
        feedback=outside.feedback,
        calibrations=outside.calibrations,
        index_book=outside.index_book,
        originals=outside.originals,
        parts=outside.parts,
        keys=outside.keys,
        door=_door(outside.keys, limits, settings),
        operations=operations_of(metrics, outside.watched, outside.parts, ask, limits),
    )


def _asking(
    outside: Outside, settings: GatewaySettings, profile: Profile, notes: NoteGapsFlow, observer: Observer
) -> tuple[FindFlow, SharedAskFlow]:
    """What searches, and what answers on top of it."""
    clock = time.perf_counter
    find = FindFlow(
        retriever=outside.retriever,
        record=outside.live_texts,
        apart=Apart(
            generator=outside.generator,
            language=profile.language,
            wait_s=settings.decompose_wait_s,
            question_max_chars=settings.question_max_chars,
            clock=clock,
        ),
        profile=profile,
        question_max_chars=settings.question_max_chars,
        clock=clock,
    )
    ask = AskFlow(
        find=find,
        writing=Writing(
            find=find, generator=outside.generator, record=outside.live_texts, profile=profile, clock=clock
        ),
        answers=outside.answers,
        profile=profile,
        limits=Limits(settings.question_max_chars, settings.history_max_chars),
        clock=clock,
        new_id=_new_id,
    )
    shared = SharedAskFlow(
        ask=ask,
        reuse=outside.reuse,
        record=outside.live_texts,
        answers=outside.answers,
        notes=notes,
        observer=observer,
        profile=profile,
        version=product_version(),
        clock=clock,
        new_id=_new_id,
    )
    return find, shared


def _noting(outside: Outside, settings: GatewaySettings, profile: Profile) -> NoteGapsFlow:
    """What notes the questions that got no answer."""
    subject = profile.subject
    return NoteGapsFlow(
        book=outside.gaps,
        likeness=outside.likeness,
        marks=outside.marks,
        names=() if subject is None else (subject.name, *subject.aliases),
        keeps=settings.gaps_keep_days > 0,
        told=lambda why: log.warning("gap_not_noted", why=why),
    )


def _new_id() -> str:
    return uuid.uuid4().hex


def _limiting(rates: Rates, settings: GatewaySettings) -> LimitFlow:
    rules = Rules(settings.limit_address, settings.limit_key, settings.limit_requests, settings.limit_wrong_keys)
    places = Places(settings.answers_at_once, settings.answers_per_caller, EACH_WITH_KEYS)
    return LimitFlow(rates=rates, rules=rules, places=places)


def _door(keys: KeyBook, limits: LimitFlow, settings: GatewaySettings) -> Door:
    return Door(
        keys,
        clock=time.monotonic,
        now=lambda: datetime.now(UTC),
        guard=limits,
        hosts=[settings.host, *settings.allowed_hosts],
        without_keys=settings.without_keys,
    )
