"""The frame that shows a report inside of the page: of no origin, and with nothing of anybody's in it."""

from tests.unit.gateway.fakes import World


async def test_the_frame_is_of_no_origin_and_fetches_only_its_own_script() -> None:
    async with World().client() as client:
        frame = await client.get("/assets/report.html")
    assert frame.headers["content-type"].startswith("text/html")
    policy = {
        words.split(" ", 1)[0]: words.split(" ", 1)[-1]
        for words in frame.headers["content-security-policy"].split("; ")
    }
    assert policy["sandbox"] == "allow-scripts"
    assert policy["default-src"] == "'none'"
    assert policy["frame-ancestors"] == "'self'"
    assert "connect-src" not in policy
    assert "/assets/report.js" in frame.text


async def test_its_script_may_be_had_by_a_frame_of_no_origin_and_others_may_not() -> None:
    async with World().client() as client:
        policies = [
            (await client.get(f"/assets/{name}")).headers["cross-origin-resource-policy"]
            for name in ("report.js", "owner.js")
        ]
    assert policies == ["cross-origin", "same-origin"]


async def test_no_other_page_is_served_among_the_assets() -> None:
    async with World().client() as client:
        assert [(await client.get(f"/assets/{name}")).status_code for name in ("source.html", "example.html")] == [
            404
        ] * 2
