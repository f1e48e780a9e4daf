"""What names an answer, which may be given again, and whether one still holds."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

import services
from services.gateway.domain.answering import NO_WRITER
from services.gateway.domain.given import (
    MAY_BE_GIVEN_AGAIN,
    Basis,
    Given,
    Standing,
    Ways,
    holds_still,
    may_be_given_again,
)
from services.shared.contracts.answers import Answer, AnswerReason, AnswerStatus, Citation, WriterModel
from services.shared.contracts.ids import ChunkId, DocumentId, IndexId, SpaceId, VersionId
from services.shared.contracts.profile import FixedTexts, Profile
from services.shared.contracts.search import AlsoIn, Filters, IndexState, Stages
from tests.unit.gateway.fake_given import STANDING, WAYS
from tests.unit.gateway.messages import SHED, passage

BASIS = Basis(
    space=SpaceId("main"),
    standing=STANDING,
    ways=WAYS,
    question="When does it open?",
    filters=Filters(type="note", tags=["a"]),
    stages=Stages(gate=True),
    profile=Profile(),
    version="1",
)
MODEL = WriterModel(writer="ollama", name="small")
KEY = (DocumentId("shed.md"), VersionId("v1"))


def changed_ways(**fields: object) -> Ways:
    return replace(WAYS, **fields)  # type: ignore[arg-type]


def changed_standing(**fields: object) -> Standing:
    return replace(STANDING, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "other",
    [
        {"space": SpaceId("other")},
        {"standing": changed_standing(index=IndexId("i2"))},
        {"standing": changed_standing(index=None)},
        {"standing": changed_standing(seq=8)},
        {"standing": changed_standing(calibration="2026-03-01")},
        {"ways": changed_ways(writer=MODEL)},
        {"ways": changed_ways(writer=MODEL.model_copy(update={"name": "large"}))},
        {"ways": changed_ways(writing="w2")},
        {"ways": changed_ways(finding="f2")},
        {"question": "When does it open"},
        {"question": "when does it open?"},
        {"filters": None},
        {"filters": Filters(type="memo", tags=["a"])},
        {"filters": Filters(type="note", tags=["a", "b"])},
        {"filters": Filters(type="note", tags=["a"], document_id="shed.md")},
        {"stages": None},
        {"stages": Stages(gate=False)},
        {"stages": Stages(gate=True, critic=True)},
        {"profile": Profile(texts=FixedTexts(not_found="No."))},
        {"profile": Profile(language="de")},
        {"version": "2"},
        {"passages": 6},
    ],
)
def test_any_other_part_makes_another_name(other: dict[str, object]) -> None:
    assert replace(BASIS, **other).fingerprint() != BASIS.fingerprint()  # type: ignore[arg-type]


def test_all_those_names_differ_from_each_other_and_are_hexadecimal() -> None:
    names = {replace(BASIS, question=f"{n}").fingerprint() for n in range(50)}
    assert len(names) == 50
    assert all(re.fullmatch("[0-9a-f]{64}", name) for name in names)


def test_what_is_not_said_is_as_good_as_nothing() -> None:
    bare = replace(BASIS, filters=None, stages=None)
    assert replace(bare, filters=Filters(), stages=Stages()).fingerprint() == bare.fingerprint()


def test_everything_that_degraded_can_say_was_decided() -> None:
    said: set[str] = set()
    shapes = (
        r'degrade\(\s*"([a-z_]+)"',
        r'(?:AWAY|SKIPPED|TYPE_FILTER_DROPPED) = "([a-z_]+)"',
        r'names\.add\("([a-z_]+)"\)',
        r'ErrorCode\.[A-Z_]+: "([a-z0-9_]+)",',
        r'_by_rule\(request\.question, "([a-z_]+)"\)',
        r'dropped = \["([a-z_]+)"\]',
    )
    root = Path(services.__path__[0])
    for room in ("gateway/flow", "gateway/domain", "generator/flow", "retriever/flow"):
        for path in (root / room).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            for shape in shapes:
                said.update(re.findall(shape, text))
    assert len(said) >= 15, said
    assert said == set(MAY_BE_GIVEN_AGAIN)


def answer(**fields: object) -> Answer:
    citation = Citation(
        n=1,
        document_id=KEY[0],
        version=KEY[1],
        title="Shed rules",
        source=None,
        section="Hours",
        type=None,
        chunk_id=ChunkId("v1-00000"),
        start=SHED.index("opens"),
        end=SHED.index("opens") + 5,
        quote="opens",
        url="/",
    )
    whole = Answer(
        id="a1",
        status=AnswerStatus.ANSWERED,
        text="At nine [1].",
        reason=None,
        confidence=0.9,
        citations=[citation],
        claims=[],
        sub_questions=[],
        passages_used=[],
        degraded=[],
        model=WAYS.writer,
        index=IndexState(id=STANDING.index, embedder="fake", seq=STANDING.seq),
        timings_ms={},
        trace_id="t1",
        trace=None,
    )
    return whole.model_copy(update=fields)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"degraded": ["sentences_dropped", "type_filter_dropped"]},
        {"status": AnswerStatus.ABSTAINED, "reason": AnswerReason.NOTHING_RELEVANT, "model": NO_WRITER},
        {"status": AnswerStatus.ABSTAINED, "reason": AnswerReason.NOT_SUPPORTED},
    ],
)
def test_these_may_be_given_again(fields: dict[str, object]) -> None:
    assert may_be_given_again(answer(**fields), BASIS)


@pytest.mark.parametrize(
    "fields",
    [
        *({"degraded": ["sentences_dropped", what]} for what, may in MAY_BE_GIVEN_AGAIN.items() if not may),
        {"degraded": ["something_new"]},
        {"status": AnswerStatus.DECLINED, "reason": AnswerReason.GUARDRAIL},
        {"status": AnswerStatus.ABSTAINED, "reason": AnswerReason.WRITER_UNAVAILABLE},
        {"model": MODEL},
        {"trace": {}},
        {"rewritten": "Where does Zarquonia live, and why?", "sub_questions": ["Where does Zarquonia live"]},
        {"index": IndexState(id=STANDING.index, embedder="fake", seq=STANDING.seq + 1)},
        {"index": IndexState(id=STANDING.index, embedder="fake", seq=STANDING.seq - 1)},
        {"index": IndexState(id=IndexId("i2"), embedder="fake", seq=STANDING.seq)},
    ],
)
def test_these_may_not(fields: dict[str, object]) -> None:
    assert not may_be_given_again(answer(**fields), BASIS)


def test_every_word_has_to_be_live_still() -> None:
    near = AlsoIn(
        chunk_id=ChunkId("c9"),
        document_id=DocumentId("copy.md"),
        version=VersionId("c1"),
        title="Copy",
        section="",
        source=None,
        start=0,
        end=3,
    )
    given = Given([passage().model_copy(update={"also_in": [near]})], [], answer())
    texts = {KEY: SHED, (near.document_id, near.version): "anything"}
    assert given.documents == ["shed.md", "copy.md"]
    assert holds_still(given, texts)
    assert not holds_still(given, {KEY: SHED})
    assert not holds_still(given, {**texts, KEY: SHED.replace("nine", "five")})
    assert not holds_still(given, {**texts, KEY: " " + SHED})
    cited_only = Given([], [], answer())
    assert holds_still(cited_only, texts)
    assert not holds_still(cited_only, {KEY: SHED.replace("opens", "shuts")})
    assert not holds_still(cited_only, {})
    assert holds_still(Given([], [], answer(citations=[])), {})
