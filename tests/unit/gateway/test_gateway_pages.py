"""What a browser gets: the page, its assets, and a document's text without any rights."""

import re

import pytest

from services.gateway.app.pages import FOLDER, examples
from services.shared.contracts.profile import Profile, Subject
from tests.unit.gateway.fakes import World
from tests.unit.gateway.messages import SHED

BROWSER = {"Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"}


async def test_the_page_names_the_subject_as_text_and_allows_only_itself() -> None:
    world = World(profile=Profile(subject=Subject(name="<b>Ada</b>")))
    async with world.client() as client:
        page = await client.get("/")
    assert page.headers["content-type"].startswith("text/html")
    assert "Ask about &lt;b&gt;Ada&lt;/b&gt;" in page.text
    assert "<b>Ada" not in page.text
    policy = page.headers["content-security-policy"]
    assert policy.startswith("default-src 'self'")
    assert "unsafe" not in policy
    assert page.text.count('class="choice example"') == len(examples(world.profile)) == 3


@pytest.mark.parametrize("name", sorted(file.name for file in FOLDER.iterdir()))
def test_nothing_comes_from_elsewhere_or_is_put_in_as_html(name: str) -> None:
    text = (FOLDER / name).read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?://|innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(", text)
    if name.endswith(".html"):
        assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=", text)


async def test_every_asset_that_a_page_names_is_served() -> None:
    async with World().client() as client:
        for page in FOLDER.glob("*.html"):
            for path in re.findall(r'"(/assets/[^"]+)"', page.read_text(encoding="utf-8")):
                response = await client.get(path)
                assert response.status_code == 200, path
                assert response.headers["x-content-type-options"] == "nosniff"
        for script in FOLDER.glob("*.js"):
            for name in re.findall(r'from "\./([^"]+)"', script.read_text(encoding="utf-8")):
                assert (await client.get(f"/assets/{name}")).headers["content-type"].startswith("text/javascript")


async def test_a_source_is_plain_text_for_programs_and_a_page_for_people() -> None:
    world = World()
    world.documents.hold("docs/a?.html", "<script>alert(1)</script>" + SHED)
    async with world.client() as client:
        plain = await client.get("/v1/documents/docs%2Fa%3F.html/source?version=v1&as=text")
        page = await client.get("/v1/documents/docs%2Fa%3F.html/source?as=text", headers=BROWSER)
        old = await client.get("/v1/documents/docs%2Fa%3F.html/source?version=v0")
        bare = await client.get("/v1/documents/docs/a%3F.html/source?version=")
        unknown = await client.get("/v1/documents/nobody-has-it/source", headers=BROWSER)
        bytes_wanted = await client.get("/v1/documents/nobody-has-it/source?as=text&as=original", headers=BROWSER)
    assert plain.headers["content-type"] == "text/plain; charset=utf-8"
    assert plain.headers["x-content-type-options"] == "nosniff"
    assert all("Accept" in response.headers["vary"] for response in (plain, page))
    assert plain.text == bare.text == "<script>alert(1)</script>" + SHED
    assert page.headers["content-type"].startswith("text/html")
    assert page.headers["content-security-policy"].startswith("default-src 'self'")
    assert page.text == unknown.text, "the page tells what is there"
    assert bytes_wanted.json()["code"] == "document_not_found"
    assert old.json()["code"] == "version_not_found"
