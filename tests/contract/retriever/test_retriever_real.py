"""The retriever over a real catalog, Chroma and MiniLM."""

import json
import uuid
from dataclasses import replace
from typing import Any

import chromadb
import httpx
import numpy as np

from services.local.ports import free_port
from services.retriever.settings import Settings
from services.shared.contracts.ids import SpaceId
from services.shared.index.chroma import VectorIndex
from services.shared.kit.settings import ChromaSettings
from services.shared.models.embedder import Embedder

from .conftest import Serve, serving
from .library import Library, Text

PUMP = Text("pump", "The pump of the fountain is cleaned on the first Monday of each month by the gardener.")
TEA = Text("tea", "Green tea is brewed at eighty degrees for two minutes, otherwise it turns bitter.")
OTTER = Text("otter", "Otters hold hands while they sleep, so that the river does not carry them apart.")


async def found(client: httpx.AsyncClient, question: str, **fields: Any) -> dict[str, Any]:
    response = await client.post("/retrieve", json={"space": "main", "question": question, **fields})
    assert response.status_code == 200, response.text
    body: dict[str, Any] = response.json()
    return body


def documents_of(body: dict[str, Any]) -> list[str]:
    return [passage["document_id"] for passage in body["passages"]]


async def test_a_question_finds_its_passage_by_both_indexes(client: httpx.AsyncClient, library: Library) -> None:
    library.publish(PUMP, TEA, OTTER)
    body = await found(client, "How hot should the water for green tea be?", explain=True)
    best = body["passages"][0]
    assert best["document_id"] == "tea"
    assert best["ranks"] == {"bm25:0": 1, "vector:0": 1}
    assert best["text"] == TEA.text[best["start"] : best["end"]]
    assert best["distance"] < 0.4
    assert body["verdict"]["gate"] == "good"
    assert body["verdict"]["answerable"] > 0.5
    assert body["index"]["embedder"] == "all-MiniLM-L6-v2"
    assert body["index"]["seq"] == 3
    assert set(body["trace"]["lists"]) == {"vector:0", "bm25:0"}
    assert json.dumps(body["trace"])


async def test_a_question_beside_the_content_is_poor(client: httpx.AsyncClient, library: Library) -> None:
    library.publish(PUMP, TEA, OTTER)
    body = await found(client, "Who won the world championship of chess in 1972?")
    assert body["verdict"]["gate"] == "poor"
    assert body["verdict"]["answerable"] < 0.3


async def test_a_part_number_that_embeddings_miss_is_no_poor_result(
    client: httpx.AsyncClient, library: Library
) -> None:
    noise = [
        Text(f"n{n}", f"Paragraph {n} of the manual speaks of seals, valves and hoses in general.") for n in range(30)
    ]
    library.publish(*noise, Text("part", "Use gasket QX-99817 here, and tighten all eight bolts crosswise."))
    body = await found(client, "QX-99817")
    assert documents_of(body)[0] == "part"
    assert body["verdict"]["gate"] == "good"


async def test_nothing_to_find_is_an_honest_answer(client: httpx.AsyncClient, library: Library) -> None:
    fresh = await found(client, "Is anybody there?")
    assert (fresh["passages"], fresh["verdict"]["reason"]) == ([], "nothing has been ingested")
    library.publish(PUMP)
    library.remove("pump")
    emptied = await found(client, "When is the pump cleaned?")
    assert (emptied["passages"], emptied["verdict"]["reason"]) == ([], "nothing has been ingested")
    assert emptied["degraded"] == []
    library.publish(Text("dashes", "----------"))
    dashes = await found(client, "When is the pump cleaned?")
    assert set(documents_of(dashes)) <= {"dashes"}
    assert dashes["verdict"]["gate"] == "poor"
    library.publish(PUMP)
    unmatched = await found(client, "Who won the chess championship?", filters={"type": "nothing-has-this"})
    assert (unmatched["passages"], unmatched["verdict"]["gate"]) == ([], "poor")
    assert documents_of(await found(client, "When is the pump cleaned?"))[0] == "pump"


async def test_an_unknown_type_is_a_visible_fallback(client: httpx.AsyncClient, library: Library) -> None:
    library.publish(replace(PUMP, type="manual"), replace(TEA, type="recipe"))
    body = await found(client, "When is the fountain's pump cleaned?", filters={"type": "unknown"})
    assert body["verdict"]["gate"] == "fallback"
    assert documents_of(body)[0] == "pump"


async def test_a_narrow_filter_finds_all_that_match_nearest_first(
    client: httpx.AsyncClient, library: Library, embedder: Embedder
) -> None:
    notes = [
        Text(f"note-{n:04d}", f"Shift note {n}: the conveyor belt on line {n % 40} was cleaned.", type="note")
        for n in range(400)
    ]
    policies = [
        Text("policy-0", "Holiday requests are approved by the shift manager within five days.", type="policy"),
        Text("policy-1", "Holidays are counted in working days and expire in March.", type="policy"),
        Text("policy-2", "Expenses are paid back with the next salary.", type="policy"),
        Text("policy-3", "Visitors sign in at the gate and wear a badge.", type="policy"),
        Text("policy-4", "Safety shoes are worn in every hall.", type="policy"),
        Text("policy-5", "Cars are parked behind hall three.", type="policy"),
    ]
    library.publish(*notes, *policies)
    body = await found(client, "who approves holiday requests", filters={"type": "policy"})
    assert len(body["passages"]) == 5
    assert {passage["type"] for passage in body["passages"]} == {"policy"}
    assert documents_of(body)[0] == "policy-0"
    vectors = embedder.embed_documents([text.text for text in notes])
    stages = {"bm25": False, "gate": False, "critic": False, "diversity": False}
    recall = 0.0
    for n in range(0, 400, 20):
        question = f"Was the belt on line {n % 40} cleaned in shift {n}?"
        few = await found(client, question, stages=stages)
        assert documents_of(few) == documents_of(await found(client, question, stages=stages, top_k=50))[:5]
        by_both = await found(client, question)
        assert documents_of(by_both) == documents_of(await found(client, question, top_k=50))[:5]
        exact = np.argsort(-(vectors @ embedder.embed_questions([question])[0]))[:5]
        recall += len({notes[place].id for place in exact} & set(documents_of(few))) / 5 / 20
    assert recall >= 0.95


async def test_deleted_is_gone_at_once_although_its_vectors_are_still_there(
    client: httpx.AsyncClient, library: Library, chroma_url: str
) -> None:
    copies = [Text(f"old-{n}", f"The secret word number {n} is swordfish.") for n in range(12)]
    library.publish(*copies, TEA, OTTER)
    assert documents_of(await found(client, "What is the secret word?"))[0].startswith("old-")
    library.remove(*[text.id for text in copies])
    assert VectorIndex(chroma_url, library.index()).count() == 14
    body = await found(client, "What is the secret word?", explain=True)
    assert set(documents_of(body)) == {"tea", "otter"}
    assert "swordfish" not in json.dumps(body["passages"])
    assert "old-" not in json.dumps(body["trace"]["lists"]), "what is not live takes nobody's place"


async def test_a_replaced_document_answers_with_its_new_text_only(client: httpx.AsyncClient, library: Library) -> None:
    library.publish(PUMP, TEA)
    await found(client, "When is the pump cleaned?")
    library.publish(replace(PUMP, text="The pump of the fountain is cleaned every Friday by the mayor."))
    body = await found(client, "When is the fountain's pump cleaned?")
    texts = [passage["text"] for passage in body["passages"] if passage["document_id"] == "pump"]
    assert texts == ["The pump of the fountain is cleaned every Friday by the mayor."]


async def test_a_replica_that_lags_catches_up_before_it_answers(serve: Serve, library: Library) -> None:
    async with serve() as one, serve() as other:
        library.publish(TEA)
        for client in (one, other):
            assert documents_of(await found(client, "Which animal sleeps hand in hand?")) == ["tea"]
        library.publish(OTTER)
        for client in (one, other):
            body = await found(client, "Otters", stages={"vector": False})
            assert (documents_of(body), body["index"]["seq"]) == (["otter"], 2)
        library.remove("otter")
        for client in (other, one):
            assert documents_of(await found(client, "Otters", stages={"vector": False})) == []


async def test_replicas_and_restarts_give_one_order(serve: Serve, library: Library) -> None:
    library.publish(*[Text(f"same-{n}", f"Sentence {n} about a red bicycle.") for n in range(12)], TEA)
    orders = []
    for _ in range(2):
        async with serve() as one, serve() as other:
            for client in (one, other):
                body = await found(client, "Who rides the red bicycle?", top_k=10)
                orders.append([passage["chunk_id"] for passage in body["passages"]])
    assert len(orders[0]) == 10
    assert orders[1:] == orders[:1] * 3


async def test_spaces_never_mix(client: httpx.AsyncClient, library: Library) -> None:
    library.publish(TEA)
    library.publish(replace(TEA, id="other-tea"), space=SpaceId("other"))
    assert documents_of(await found(client, "How hot is green tea brewed?")) == ["tea"]
    assert documents_of(await found(client, "How hot is green tea brewed?", space="other")) == ["other-tea"]
    assert documents_of(await found(client, "How hot is green tea brewed?", space="third")) == []


async def test_a_foreign_collection_under_our_name_is_refused(
    client: httpx.AsyncClient, library: Library, chroma_url: str
) -> None:
    library.publish(TEA)
    row = library.index()
    port = int(chroma_url.rsplit(":", 1)[1])
    server = chromadb.HttpClient(host="127.0.0.1", port=port)
    server.delete_collection(row.collection)
    foreign = server.create_collection(row.collection, embedding_function=None)
    foreign.add(ids=["x"], embeddings=[[9.0] * row.embedder.dimension])
    asked = {"space": "main", "question": "How hot is tea?"}
    assert (await client.post("/retrieve", json=asked)).json()["degraded"] == ["index_incompatible"]
    response = await client.post("/retrieve", json=asked | {"stages": {"bm25": False}})
    assert (response.status_code, response.json()["code"]) == (503, "index_incompatible")
    assert "made again from the catalog" in response.json()["detail"]
    unfit = await client.get("/readyz")
    assert unfit.status_code == 503
    assert row.collection in unfit.json()["parts"]["vectors"]["detail"]
    server.delete_collection(row.collection)
    mended = (await client.get("/readyz")).json()["parts"]["vectors"]
    assert mended["ready"]


async def test_distances_are_cosine_distances(client: httpx.AsyncClient, library: Library) -> None:
    library.publish(TEA)
    body = await found(client, TEA.text)
    assert body["passages"][0]["distance"] <= 0.01


async def test_without_chroma_bm25_answers_alone(settings: Settings, library: Library) -> None:
    library.publish(TEA, OTTER)
    lost = replace(settings, chroma=ChromaSettings(chroma_url=f"http://127.0.0.1:{free_port()}"))
    async with serving(lost) as client:
        body = await found(client, "How is green tea brewed?")
        assert (documents_of(body)[0], body["degraded"]) == ("tea", ["vector_unavailable"])
        failed = await client.post(
            "/retrieve", json={"space": "main", "question": "How is green tea brewed?", "stages": {"bm25": False}}
        )
        assert (failed.status_code, failed.json()["code"]) == (503, "vector_store_unavailable")
        ready = (await client.get("/readyz")).json()
        assert (ready["ready"], ready["parts"]["vectors"]["ready"], ready["parts"]["catalog"]["ready"]) == (
            False,
            False,
            True,
        )


async def test_lost_vectors_are_said(client: httpx.AsyncClient, library: Library, chroma_url: str) -> None:
    library.publish(TEA, OTTER)
    port = int(chroma_url.rsplit(":", 1)[1])
    chromadb.HttpClient(host="127.0.0.1", port=port).delete_collection(library.index().collection)
    body = await found(client, "How is green tea brewed?")
    assert (documents_of(body)[0], body["degraded"]) == ("tea", ["vectors_incomplete"])


async def test_both_searches_off_is_refused(client: httpx.AsyncClient) -> None:
    response = await client.post(
        "/retrieve", json={"space": "main", "question": "Tea?", "stages": {"vector": False, "bm25": False}}
    )
    assert (response.status_code, response.json()["code"]) == (422, "invalid_request")


async def test_scores_tell_what_fits(client: httpx.AsyncClient, library: Library) -> None:
    library.publish(TEA, OTTER, PUMP)
    question = "How hot is green tea brewed?"
    body = {"space": "main", "question": question, "texts": [OTTER.text, TEA.text, ""]}
    response = await client.post("/score", json=body)
    scores = response.json()["scores"]
    assert scores[1]["similarity"] > 0.6 > scores[0]["similarity"]
    assert scores[1]["coverage"] > 0.5
    assert scores[0]["coverage"] == scores[2]["coverage"] == 0
    empty = await client.post("/score", json={**body, "space": f"never-{uuid.uuid4().hex}"})
    assert empty.status_code == 200
    too_many = await client.post("/score", json={**body, "texts": ["x"] * 513})
    assert too_many.status_code == 422
