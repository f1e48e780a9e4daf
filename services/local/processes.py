"""The one table of processes that make up Ragstone on one machine.

docker-compose.yml starts the same ones; a test compares the two.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Probe(StrEnum):
    """How a process is asked whether it is ready."""

    HTTP = "http"
    REDIS = "redis"
    PRESENT = "present"


@dataclass(frozen=True)
class Health:
    """A health check: ``target`` is a path (HTTP) or a role announced in Redis (PRESENT)."""

    probe: Probe
    target: str = ""


@dataclass(frozen=True)
class Port:
    """``fixed``: never moved to a free port, because people know its address."""

    setting: str
    usual: int
    fixed: bool = False


@dataclass(frozen=True)
class Part:
    """One process. ``{names}`` in ``command`` and ``environment`` are filled in at start.

    ``address_setting`` set by hand in the environment means that somebody else runs this part.
    """

    name: str
    command: tuple[str, ...]
    health: Health
    port: Port | None = None
    waits_for: tuple[str, ...] = ()
    address_setting: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)


HERE: Mapping[str, str] = {"RAGSTONE_HOST": "127.0.0.1"}
"""Only the gateway has a lock: the parts behind it answer everybody who reaches them."""

PARTS: tuple[Part, ...] = (
    Part(
        name="redis",
        command=(
            "{redis_server}", "--bind", "127.0.0.1", "--port", "{redis_port}", "--dir", "{state_dir}/redis",
            "--appendonly", "no", "--save", "", "--daemonize", "no",
        ),
        port=Port("RAGSTONE_REDIS_PORT", 6379),
        health=Health(Probe.REDIS),
        address_setting="RAGSTONE_REDIS_URL",
    ),
    Part(
        name="chroma",
        command=("{chroma}", "run", "--path", "{state_dir}/chroma", "--host", "127.0.0.1", "--port", "{chroma_port}"),
        port=Port("RAGSTONE_CHROMA_PORT", 8001),
        health=Health(Probe.HTTP, "/api/v2/heartbeat"),
        address_setting="RAGSTONE_CHROMA_URL",
    ),
    Part(
        name="worker",
        command=("{python}", "-m", "services.ingestor", "worker"),
        health=Health(Probe.PRESENT, "worker"),
        waits_for=("redis", "chroma"),
    ),
    Part(
        name="reconciler",
        command=("{python}", "-m", "services.ingestor", "reconciler"),
        health=Health(Probe.PRESENT, "reconciler"),
        waits_for=("redis",),
    ),
    Part(
        name="retriever",
        command=("{python}", "-m", "services.retriever"),
        port=Port("RAGSTONE_RETRIEVER_PORT", 8002),
        health=Health(Probe.HTTP, "/readyz"),
        waits_for=("chroma",),
        environment=HERE,
    ),
    Part(
        name="generator",
        command=("{python}", "-m", "services.generator"),
        port=Port("RAGSTONE_GENERATOR_PORT", 8003),
        health=Health(Probe.HTTP, "/healthz"),
        environment=HERE,
    ),
    Part(
        name="gateway",
        command=("{python}", "-m", "services.gateway"),
        port=Port("RAGSTONE_PORT", 8000, fixed=True),
        health=Health(Probe.HTTP, "/readyz"),
        waits_for=("redis",),
    ),
    Part(
        name="asker",
        command=("{python}", "-m", "services.gateway", "asker"),
        health=Health(Probe.PRESENT, "asker"),
        waits_for=("redis",),
    ),
)  # fmt: skip

STOP_ORDER: tuple[tuple[str, ...], ...] = (("gateway", "asker"), ("retriever", "generator", "worker", "reconciler"))
"""Who is asked to stop first; whatever is not named here (the stores) is stopped last."""

CHILD_DEFAULTS: Mapping[str, str] = {
    "OMP_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "HF_HUB_OFFLINE": "1",
    "ANONYMIZED_TELEMETRY": "False",
    "PYTHONUNBUFFERED": "1",
}
"""What every process gets unless the environment says otherwise."""
