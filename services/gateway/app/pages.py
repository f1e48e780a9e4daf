"""The page: static files beside this package, no build step, nothing from elsewhere."""

from functools import cache
from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import FileResponse, HTMLResponse, Response
from starlette.exceptions import HTTPException

from services.gateway.app.common import GatewayOf
from services.shared.contracts.profile import Profile

FOLDER = Path(__file__).parent.parent / "page"
MEDIA_TYPE_OF = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}

PAGE_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-cache",
}
ASSET_HEADERS = {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-cache"}

REPORT_FRAME = "report.html"
REPORT_FRAME_HEADERS = {
    # Shows an evaluation's report inside of the page, which repeats what models and documents said: it is of no
    # origin, fetches nothing but its own script, and only our page may put it into a frame.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
        "font-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox allow-scripts"
    ),
}
REPORT_SCRIPT = "report.js"
REPORT_SCRIPT_HEADERS = {**ASSET_HEADERS, "Cross-Origin-Resource-Policy": "cross-origin"}
"""To a frame of no origin, everybody's files are another origin's."""

router = APIRouter(include_in_schema=False)


@router.get("/")
async def index(gateway: GatewayOf) -> HTMLResponse:
    """The page for people."""
    return HTMLResponse(_index(gateway.profile), headers=PAGE_HEADERS)


@router.get("/assets/{name}")
async def asset(name: str) -> Response:
    """A style sheet, script or picture of the page, or the frame for reports."""
    if name == REPORT_FRAME:
        return page_response(name, REPORT_FRAME_HEADERS)
    if name not in _assets():
        raise HTTPException(404)
    headers = REPORT_SCRIPT_HEADERS if name == REPORT_SCRIPT else ASSET_HEADERS
    return FileResponse(FOLDER / name, media_type=MEDIA_TYPE_OF[Path(name).suffix], headers=headers)


def page_response(name: str, headers: dict[str, str]) -> HTMLResponse:
    """A page without anything filled in."""
    return HTMLResponse(_text(name), headers={**PAGE_HEADERS, **headers})


def examples(profile: Profile) -> list[str]:
    """Questions to begin with: the owner's own, else three that fit anybody."""
    if profile.examples:
        return profile.examples
    if profile.subject is None:
        return ["What are these documents about?", "What changed most recently?", "What is not covered here?"]
    name = profile.subject.name
    return [f"Tell me about {name}.", f"What is {name} best known for?", f"What has {name} not done?"]


@cache
def _assets() -> frozenset[str]:
    return frozenset(file.name for file in FOLDER.iterdir() if file.suffix in MEDIA_TYPE_OF)


@cache
def _text(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def _index(profile: Profile) -> str:
    from jinja2 import Environment

    template = Environment(autoescape=True).from_string(_text("index.html"))
    subject = None if profile.subject is None else profile.subject.name
    return template.render(subject=subject, language=profile.language, examples=examples(profile))
