"""A real catalog with documents in several languages: each is indexed, and asked, in its own."""

import hashlib
from datetime import UTC, datetime
from pathlib import Path

import pytest

from services.retriever.adapters.keywords import Bm25Keywords
from services.shared.catalog import documents
from services.shared.catalog.documents import Draft, NewChunk, Published
from services.shared.catalog.engine import Catalog
from services.shared.contracts.ids import DocumentId, SpaceId

MAIN = SpaceId("main")
NOW = datetime(2026, 3, 1, tzinfo=UTC)

ENGLISH = {
    "clock": "The meetings about the station clock were held in the old office.",
    "kiosk": "The kiosk sells newspapers, and it closes at noon.",
    "stairs": "The stairs are swept by the porter.",
}
GERMAN = "Die Verträge der Mieter liegen im Schrank, und der Hausmeister hat den Schlüssel."


def publish(catalog: Catalog, id: str, text: str, language: str | None) -> None:
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    draft = Draft(DocumentId(id), sha256, None, "text/plain", len(text), None, None, None, None, {}, None)
    with catalog.write() as tx:
        revision = documents.submit(tx, MAIN, draft, NOW).revision
        assert revision is not None
        version = documents.save_version(
            tx, MAIN, draft, title=id, type=None, tags=[], source=None, metadata={}, language=language, text=text,
            chunks=[NewChunk(0, text, 0, 0, len(text), "", "fact", text)], now=NOW,
        )  # fmt: skip
        assert isinstance(documents.publish(tx, MAIN, draft.document_id, version, revision, NOW), Published)


async def best(keywords: Bm25Keywords, question: str) -> tuple[str, float] | None:
    """The document of the best hit, and how much of the question it covers."""
    (found,) = await keywords.search(MAIN, [question], 1, None)
    return (found.hits[0].chunk_id, found.covered.share) if found.hits else None


@pytest.fixture
def keywords(catalog: Catalog, tmp_path: Path) -> Bm25Keywords:
    return Bm25Keywords(catalog, tmp_path / "bm25", open_limit=2)


@pytest.mark.parametrize("told", ["de", "de-CH", None])
async def test_each_language_is_asked_in_its_own_words(
    catalog: Catalog, keywords: Bm25Keywords, told: str | None
) -> None:
    for id, text in ENGLISH.items():
        publish(catalog, id, text, "en" if told else None)
    publish(catalog, "rent", GERMAN, told)
    found = await best(keywords, "Wo ist der Vertrag des Mieters?")
    assert found is not None
    assert found[0].startswith((await chunk_ids(catalog))["rent"])
    assert found[1] == pytest.approx(1.0)
    found = await best(keywords, "Where was the meeting held?")
    assert found is not None
    assert found[0].startswith((await chunk_ids(catalog))["clock"])
    assert found[1] == pytest.approx(1.0)


async def test_a_question_of_names_alone_is_asked_in_every_language(catalog: Catalog, keywords: Bm25Keywords) -> None:
    publish(catalog, "clock", ENGLISH["clock"], "en")
    publish(catalog, "rent", GERMAN, "de")
    for question, document in (("Hausmeister", "rent"), ("meetings", "clock"), ("Verträge", "rent")):
        found = await best(keywords, question)
        assert found is not None, question
        assert found[0].startswith((await chunk_ids(catalog))[document])
        assert found[1] == pytest.approx(1.0)


async def test_a_snapshot_still_knows_the_languages(catalog: Catalog, tmp_path: Path) -> None:
    publish(catalog, "clock", ENGLISH["clock"], "en")
    publish(catalog, "rent", GERMAN, "de")
    first = Bm25Keywords(catalog, tmp_path / "bm25", open_limit=2)
    assert await best(first, "Wer hat die Vertrag?") is not None
    first.close()
    again = Bm25Keywords(catalog, tmp_path / "bm25", open_limit=2)
    assert await best(again, "Wer hat die Vertrag?") == await best(first, "Wer hat die Vertrag?")


async def test_texts_are_compared_in_the_language_of_the_question(catalog: Catalog, keywords: Bm25Keywords) -> None:
    publish(catalog, "rent", GERMAN, "de")
    shares = await keywords.coverage(MAIN, "Wo ist der Vertrag?", ["Viele Verträge liegen dort.", "Nichts davon."])
    assert shares == [pytest.approx(1.0), 0.0]


async def chunk_ids(catalog: Catalog) -> dict[str, str]:
    """The live version of each document: the beginning of its chunks' ids."""
    with catalog.read() as tx:
        rows = tx.exec_driver_sql("SELECT id, live_version_id FROM documents").all()
    return {str(id): str(version) for id, version in rows}
