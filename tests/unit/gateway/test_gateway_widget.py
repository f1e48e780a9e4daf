"""One script out of several modules: what it needs is in it, and in the right order."""

import re

import pytest

from services.gateway.app.pages import FOLDER
from services.gateway.app.widget import MODULES, STYLES, bundled
from tests.unit.gateway.fakes import World


@pytest.mark.parametrize("name", MODULES)
def test_a_module_imports_only_what_stands_before_it(name: str) -> None:
    source = (FOLDER / f"{name}.js").read_text(encoding="utf-8")
    imported = re.findall(r'from "\./(\w+)\.js"', source)
    assert set(imported) <= set(MODULES[: MODULES.index(name)])
    assert "import(" not in source


def test_the_script_is_no_module_and_leaves_nothing_behind() -> None:
    script = bundled(FOLDER)
    assert not re.search(r"^(?:im|ex)port\b", script, re.MULTILINE)
    assert script.startswith('(() => {\n"use strict";')
    assert script.endswith("})();\n")
    for name in STYLES:
        first = (FOLDER / name).read_text(encoding="utf-8").splitlines()[0]
        assert first in script


async def test_every_page_may_load_it_and_keep_it() -> None:
    async with World().client() as client:
        script = await client.get("/widget.js")
        again = await client.get("/widget.js", headers={"If-None-Match": script.headers["etag"]})
        example = await client.get("/widget-example")
    assert script.headers["content-type"].startswith("text/javascript")
    assert script.headers["access-control-allow-origin"] == "*"
    assert script.headers["x-content-type-options"] == "nosniff"
    assert "max-age" in script.headers["cache-control"]
    assert (again.status_code, again.content) == (304, b"")
    assert example.headers["content-security-policy"].startswith("default-src 'self'")
