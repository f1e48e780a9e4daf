"""What a judged answer rested on is kept with the verdict, and leaves with the documents."""

from sqlalchemy import Connection

from services.shared.catalog import documents, feedback
from services.shared.catalog.engine import Catalog
from services.shared.catalog.feedback import JudgedAnswer
from services.shared.contracts.answers import Citation, WriterModel
from services.shared.contracts.golden import Evidence, Feedback, Verdict
from services.shared.contracts.ids import ChunkId, DocumentId, IndexId, VersionId
from services.shared.contracts.search import IndexState
from tests.contract.catalog.building import NOW, SPACE, ingest


def citation(document: str) -> Citation:
    return Citation(
        n=1,
        document_id=DocumentId(document),
        version=VersionId("v1"),
        title=f"Title of {document}",
        source=None,
        section="Hours",
        place="page 3",
        type=None,
        chunk_id=ChunkId("v1-00000"),
        start=3,
        end=9,
        quote=f"quoted 😀 of {document}",
        url=f"/v1/documents/{document}/source",
    )


def evidence(*cited: str) -> Evidence:
    return Evidence(
        citations=[citation(one) for one in cited],
        confidence=0.7,
        model=WriterModel(writer="ollama", name="qwen3:8b"),
        index=IndexState(id=IndexId("i1"), embedder="fake", seq=7),
    )


def judge(tx: Connection, *cited: str, id: str = "f") -> Feedback:
    answer = JudgedAnswer(id, "When?", "At nine. [1]", "answered", [DocumentId(one) for one in cited], evidence(*cited))
    return feedback.add(tx, SPACE, answer, id=id, verdict=Verdict.BAD, comment=None, now=NOW)


def cited(tx: Connection, id: str = "f") -> list[str]:
    found = feedback.get(tx, SPACE, id)
    assert found is not None
    assert found.evidence is not None
    return [one.document_id for one in found.evidence.citations]


def test_the_evidence_is_kept_as_it_was(catalog: Catalog) -> None:
    with catalog.write() as tx:
        ingest(tx, "a")
        assert judge(tx, "a").evidence == evidence("a")
    with catalog.read() as tx:
        (found,) = feedback.page(tx, SPACE, states=None, verdict=None, limit=9, cursor=None).items
    assert found.evidence == evidence("a")


def test_a_deleted_document_leaves_the_evidence_and_others_stay(catalog: Catalog) -> None:
    with catalog.write() as tx:
        for id in ("a", "b"):
            ingest(tx, id)
        judge(tx, "a", "b")
        judge(tx, "b", id="f2")
        documents.remove(tx, SPACE, DocumentId("a"), NOW)
        assert (cited(tx), cited(tx, "f2")) == (["b"], ["b"])
        found = feedback.get(tx, SPACE, "f")
        assert found is not None
        assert "of a" not in found.model_dump_json()
        assert found.evidence is not None
        assert (found.evidence.confidence, found.evidence.index.seq) == (0.7, 7)


def test_evidence_that_was_remembered_across_a_deletion_is_not_copied(catalog: Catalog) -> None:
    with catalog.write() as tx:
        for id in ("a", "b"):
            ingest(tx, id)
        documents.remove(tx, SPACE, DocumentId("a"), NOW)
        said = judge(tx, "a", "b")
        assert said.evidence is not None
        assert [one.document_id for one in said.evidence.citations] == cited(tx) == ["b"]


def test_feedback_without_evidence_has_none(catalog: Catalog) -> None:
    with catalog.write() as tx:
        ingest(tx)
        answer = JudgedAnswer("a", "When?", "At nine.", "answered", [DocumentId("doc")])
        feedback.add(tx, SPACE, answer, id="f", verdict=Verdict.BAD, comment=None, now=NOW)
        documents.remove(tx, SPACE, DocumentId("doc"), NOW)
        found = feedback.get(tx, SPACE, "f")
    assert found is not None
    assert found.evidence is None
