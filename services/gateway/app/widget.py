"""``/widget.js``: the modules of the widget as one script, since a page that embeds it has one tag for it."""

import hashlib
import json
import re
from functools import cache
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import Response

from services.gateway.app.pages import FOLDER, page_response

MODULES = ("text", "wire", "markdown", "problems", "copying", "judging", "answer", "asking", "bubble")
"""Each after those that it imports; the last one begins."""

STYLES = ("tokens.css", "answer.css", "bubble.css")
HEADERS = {
    "Access-Control-Allow-Origin": "*",
    "Cross-Origin-Resource-Policy": "cross-origin",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "public, max-age=600",
}

_IMPORT = re.compile(r'^import \{ ([^}]+) \} from "\./(\w+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?(?:function\*?|class|const) ([\w$]+))", re.MULTILINE)

router = APIRouter(include_in_schema=False)


@router.get("/widget.js")
async def widget(request: Request) -> Response:
    """The widget, for a script tag on any web page."""
    script, tag = _script()
    headers = {**HEADERS, "ETag": tag}
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(script, media_type="text/javascript", headers=headers)


@router.get("/widget-example")
async def example() -> Response:
    """A page that embeds the widget, and writes the tag for one's own."""
    return page_response("example.html", {})


def bundled(folder: Path) -> str:
    """The modules in one strict function, each in a scope of its own, so that the page around sees none of it.

    The last one finds the style sheets in STYLES. They keep to two forms: ``import { a, b } from "./module.js";`` and
    exports where something is declared.
    """
    styles = "\n".join((folder / name).read_text(encoding="utf-8") for name in STYLES)
    scopes = [_scope(name, (folder / f"{name}.js").read_text(encoding="utf-8")) for name in MODULES]
    head = f"const modules = {{}};\nconst STYLES = {json.dumps(styles)};"
    return "\n".join(['(() => {\n"use strict";', head, *scopes, "})();\n"])


def _scope(name: str, source: str) -> str:
    body = _IMPORT.sub(lambda found: f"const {{ {found[1]} }} = modules.{found[2]};", source)
    exports = [found[2] for found in _EXPORT.finditer(body)]
    body = _EXPORT.sub(r"\1", body)
    return f"modules.{name} = (() => {{\n{body}return {{ {', '.join(exports)} }};\n}})();"


@cache
def _script() -> tuple[str, str]:
    script = bundled(FOLDER)
    return script, f'"{hashlib.sha256(script.encode()).hexdigest()[:32]}"'
