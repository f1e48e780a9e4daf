"""POST /ground with the real model."""

import httpx

from services.shared.contracts.grounding import PAIRS_MAX

FERRY = "The Bramley ferry leaves Port Ansel at 07:40 on weekdays."


async def test_pairs_are_judged_in_their_order(client: httpx.AsyncClient) -> None:
    claims = ["The Bramley ferry leaves Port Ansel at 07:40.", "Barley is grown on most farms."]
    answer = await client.post("/ground", json={"pairs": [{"claim": one, "evidence": FERRY} for one in claims]})
    assert answer.status_code == 200, answer.text
    same, stranger = answer.json()["groundings"]
    assert same["supported"] > 0.5 > stranger["supported"]
    assert set(same) == {"supported", "contradicted"}


async def test_no_pairs_no_groundings_and_too_many_are_refused(client: httpx.AsyncClient) -> None:
    assert (await client.post("/ground", json={"pairs": []})).json() == {"groundings": []}
    pair = {"claim": "It is so.", "evidence": FERRY}
    refused = await client.post("/ground", json={"pairs": [pair] * (PAIRS_MAX + 1)})
    assert refused.status_code == 422
    assert refused.json()["code"] == "invalid_request"
