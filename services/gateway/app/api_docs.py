"""``/docs``: the API for people, by Swagger UI, of which every file is served from here."""

from functools import cache
from importlib.util import find_spec
from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import FileResponse, Response
from starlette.exceptions import HTTPException

from services.gateway.app.pages import MEDIA_TYPE_OF, page_response

PACKAGE = "fastapi_offline"
"""Brings Swagger UI's own files; its code is not used."""

FILES = frozenset({"swagger-ui-bundle.js", "swagger-ui.css"})

DOCS_HEADERS = {
    # Swagger UI writes style attributes, and its style sheet holds pictures.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
}

router = APIRouter(include_in_schema=False)


@router.get("/docs")
async def docs() -> Response:
    """Every door with what it takes and gives, to try out."""
    return page_response("docs.html", DOCS_HEADERS)


@router.get("/assets/swagger/{name}")
async def swagger(name: str) -> Response:
    """A file of Swagger UI."""
    if name not in FILES:
        raise HTTPException(404)
    return FileResponse(
        _folder() / name, media_type=MEDIA_TYPE_OF[Path(name).suffix], headers={"Cache-Control": "no-cache"}
    )


@cache
def _folder() -> Path:
    """Found without running the package."""
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise HTTPException(404)
    return Path(spec.submodule_search_locations[0]) / "static"
