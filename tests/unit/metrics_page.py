"""The table of metrics in docs/operations.md, made from the code: python -m tests.unit.metrics_page."""

from pathlib import Path

from services.gateway.adapters.metrics import GatewayMetrics, Moment
from services.generator.adapters.metrics import GeneratorMetrics
from services.retriever.adapters.metrics import RetrieverMetrics
from services.shared.kit.metrics import Metrics

PAGE = Path(__file__).parents[2] / "docs" / "operations.md"
BEGIN, END = "<!-- metrics: made from the code -->\n", "<!-- end of metrics -->\n"


def services() -> dict[str, Metrics]:
    """What each service counts."""
    gateway = GatewayMetrics()
    gateway.look_at(Moment(dict, int))
    return {"gateway": gateway, "retriever": RetrieverMetrics(), "generator": GeneratorMetrics()}


def table() -> str:
    """One line a metric, in the order of the services."""
    told_by: dict[str, list[str]] = {}
    described = {}
    for service, metrics in services().items():
        for one in metrics.described:
            told_by.setdefault(one.name, []).append(service)
            described[one.name] = one
    lines = ["| metric | kind | labels | told by | what it says |", "|---|---|---|---|---|"]
    for name, one in described.items():
        labels = ", ".join(f"`{label}`" for label in one.labels)
        by = "all" if len(told_by[name]) == len(services()) else ", ".join(told_by[name])
        lines.append(f"| `{name}` | {one.kind} | {labels} | {by} | {one.help} |")
    return "\n".join(lines) + "\n"


def written() -> str:
    """The table as it is in docs."""
    return PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]


def write() -> None:
    """Put the table into the page."""
    page = PAGE.read_text(encoding="utf-8")
    head, _, rest = page.partition(BEGIN)
    PAGE.write_text(head + BEGIN + table() + END + rest.partition(END)[2], encoding="utf-8")


if __name__ == "__main__":
    write()
