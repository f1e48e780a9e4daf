"""Matplotlib figures as small SVG for inlining: themed by CSS, described, the same bytes for the same numbers.

Colours are drawn as the page's light ones and written as ``var(--name, light)``, so that one drawing fits light,
dark and print. Text stays text in the page's own font.
"""

import html
import re
from collections.abc import Callable
from io import StringIO
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, QUIET, LINE = "#1d2321", "#5b6561", "#dcdfd9"
ACCENT, BAD, GROUND = "#1f6a5b", "#a3341f", "#ffffff"

_VARIABLES = {INK: "ink", QUIET: "quiet", LINE: "line", ACCENT: "accent", BAD: "bad", GROUND: "card"}
_STYLE: dict[str, Any] = {
    "font.size": 11,
    "text.color": INK,
    "text.parse_math": False,
    "axes.labelcolor": QUIET,
    "axes.labelsize": 10.5,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.titlecolor": QUIET,
    "axes.edgecolor": LINE,
    "axes.grid": True,
    "axes.grid.axis": "x",
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.spines.bottom": False,
    "axes.facecolor": "none",
    "axes.unicode_minus": True,
    "figure.facecolor": "none",
    "grid.color": LINE,
    "grid.linewidth": 0.8,
    "xtick.color": LINE,
    "ytick.color": LINE,
    "xtick.labelcolor": QUIET,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 10,
    "ytick.labelsize": 10.5,
    "xtick.major.pad": 6,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "figure.constrained_layout.wspace": 0.06,
    "lines.solid_capstyle": "round",
    "svg.fonttype": "none",
}
_NO_METADATA = {"Date": None, "Creator": None, "Format": None, "Type": None}
_ROOT_KEEPS = re.compile(r'viewBox="[^"]*"')
_TAG = re.compile(r"<[^<>]+>")


def draw(name: str, size: tuple[float, float], title: str, description: str, paint: Callable[["Figure"], None]) -> str:
    """One ``<svg>`` element. ``size`` in inches of 72 units; ``name`` keeps its ids apart from another drawing's.

    Matplotlib takes the salt of its ids and the style of text from its global settings alone; they are set for
    the length of the call and put back.
    """
    import matplotlib
    from matplotlib.figure import Figure

    written = StringIO()
    style: Any = {**_STYLE, "svg.hashsalt": f"ragstone-{name}"}
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(style)
        figure = Figure(figsize=size, layout="constrained")
        paint(figure)
        figure.savefig(written, format="svg", metadata=_NO_METADATA)
    return _inlined(written.getvalue(), name, title, description)


def bare(axes: "Axes", names: list[str] | None = None) -> None:
    """Rows from top to bottom, named at the left; without names the axis says nothing."""
    axes.invert_yaxis()
    if names is None:
        axes.tick_params(labelleft=False)
    else:
        axes.set_yticks(range(len(names)), names)


def _inlined(svg: str, name: str, title: str, description: str) -> str:
    """Without prolog, global style, fonts, links by XLink and ids that nothing points to.

    Inside tags only: matplotlib escapes every ``<`` and ``>`` of texts and attributes, so text that looks like
    an attribute stays as it is.
    """
    body = svg[svg.index("<svg") :]
    body = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>\s*", "", body, count=1, flags=re.DOTALL)
    pointed = set(re.findall(r'(?:xlink:href="|url\()#([^")]+)', body))
    root, rest = body.split(">", 1)
    box = _ROOT_KEEPS.search(root)
    head = (
        f'<svg class="plot" role="img" aria-labelledby="{name}-title {name}-desc" {box.group() if box else ""} '
        f'font-family="system-ui, sans-serif" stroke-linejoin="round">'
        f'<title id="{name}-title">{html.escape(title)}</title><desc id="{name}-desc">{html.escape(description)}</desc>'
    )
    themed = _TAG.sub(lambda tag: _themed(tag.group(), pointed), rest)
    return head + re.sub(r"\s*\n\s*", "\n", themed).strip()


def _themed(tag: str, pointed: set[str]) -> str:
    tag = re.sub(r' id="([^"]*)"', lambda found: found.group() if found.group(1) in pointed else "", tag)
    tag = re.sub(r"font-family: [^;\"]*;? ?", "", tag.replace("xlink:href", "href"))
    tag = re.sub(r"(\d\.\d{2})\d+", r"\1", tag) if "<clipPath" not in tag else tag
    for colour, variable in _VARIABLES.items():
        tag = tag.replace(colour, f"var(--{variable}, {colour})")
    # Text without a colour of its own would be black.
    return tag.replace("#000000", f"var(--ink, {INK})")
