"""Puts a run together: ports, addresses, environment and commands of every part."""

import os
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from services.local.binaries import chroma_server, redis_server
from services.local.guardian import Guardian
from services.local.health import Addresses
from services.local.logbook import LogFile
from services.local.ports import choose_ports
from services.local.processes import CHILD_DEFAULTS, PARTS, Part
from services.local.profiles import SETTING, remember
from services.local.running import Running
from services.local.settings import LocalSettings
from services.local.state import RunFolder
from services.local.supervisor import Manners, Supervisor
from services.local.voice import Voice
from services.shared.kit.listening import host_to_listen_on, is_loopback
from services.shared.kit.setting_words import PREFIX


@dataclass(frozen=True)
class Site:
    """Where everything of one run is."""

    state_dir: Path
    host: str
    ports: Mapping[str, int]
    redis_url: str
    chroma_url: str

    @property
    def url(self) -> str:
        """Of the gateway, as this machine reaches it."""
        host = "127.0.0.1" if self.host in ("0.0.0.0", "::", "") else self.host  # noqa: S104 - compared, not bound
        return f"http://{host}:{self.ports['gateway']}"

    def url_of(self, name: str) -> str:
        """Of a part with a port; a part without one has none, and gets the gateway's."""
        if name == "chroma":
            return self.chroma_url
        return self.url if name == "gateway" else f"http://127.0.0.1:{self.ports.get(name, 0)}"


def own_parts(environment: Mapping[str, str], parts: Sequence[Part] = PARTS) -> list[Part]:
    """The parts that this run starts itself: those whose address was not set by hand."""
    return [part for part in parts if not (part.address_setting and environment.get(part.address_setting))]


def site_of(settings: LocalSettings, parts: Sequence[Part], environment: Mapping[str, str]) -> Site:
    """Choose ports and addresses.

    Raises: RagstoneError (invalid_request) when a port that must not move is taken.
    """
    by_hand = {
        "redis": settings.redis_port,
        "chroma": settings.chroma_port,
        "retriever": settings.retriever_port,
        "generator": settings.generator_port,
        "gateway": settings.port,
    }
    ports = choose_ports(parts, by_hand, settings.host)
    return Site(
        state_dir=settings.state_dir.absolute(),
        host=settings.host,
        ports=ports,
        redis_url=environment.get("RAGSTONE_REDIS_URL") or f"redis://127.0.0.1:{ports['redis']}/0",
        chroma_url=environment.get("RAGSTONE_CHROMA_URL") or f"http://127.0.0.1:{ports['chroma']}",
    )


def child_environment(site: Site, parts: Sequence[Part], environment: Mapping[str, str]) -> dict[str, str]:
    """The environment that every part gets; the same for all, so that no two disagree on an address.

    A setting that is empty counts as not set.
    """
    given = {name: value for name, value in environment.items() if value or not name.startswith(PREFIX)}
    child = {**CHILD_DEFAULTS, **given}
    child |= {part.port.setting: str(site.ports[part.name]) for part in parts if part.port is not None}
    child |= {
        "RAGSTONE_STATE_DIR": str(site.state_dir),
        "RAGSTONE_HOST": site.host,
        "RAGSTONE_REDIS_URL": site.redis_url,
        "RAGSTONE_CHROMA_URL": site.chroma_url,
        "RAGSTONE_GATEWAY_URL": site.url,
    }
    # Set by hand, they name what stands before several; this run's own are some of those.
    for name in ("retriever", "generator"):
        child.setdefault(f"RAGSTONE_{name.upper()}_URL", site.url_of(name))
    return child


def fillings(site: Site, parts: Sequence[Part]) -> dict[str, str]:
    """What the {names} in the table's commands stand for."""
    started = {part.name for part in parts}
    values = {f"{name}_port": str(port) for name, port in site.ports.items()}
    values |= {"python": sys.executable, "state_dir": str(site.state_dir), "host": site.host}
    if "redis" in started:
        values["redis_server"] = redis_server()
    if "chroma" in started:
        values["chroma"] = chroma_server()
    return values


def build_supervisor(
    settings: LocalSettings,
    folder: RunFolder,
    *,
    voice: Voice,
    guardian: Guardian,
    site: Site,
    parts: Sequence[Part],
    stop: threading.Event,
    when_ready: Callable[[], object],
) -> Supervisor:
    """The supervisor of the whole stack.

    Raises: RagstoneError when a server that a part needs is not installed.
    """
    environment = child_environment(site, parts, os.environ)
    values = fillings(site, parts)
    running = [
        Running(
            part,
            port=site.ports.get(part.name),
            command=[word.format(**values) for word in part.command],
            environment={**environment, **part.environment},
            addresses=Addresses(url=site.url_of(part.name), redis_url=site.redis_url),
            log=LogFile(folder.logs / f"{part.name}.log"),
            hear=voice.hear,
            guardian=guardian,
        )
        for part in parts
    ]
    names = {part.name for part in parts}
    return Supervisor(
        running,
        folder=folder,
        url=site.url,
        voice=voice,
        manners=Manners(start_timeout_s=settings.start_timeout_s),
        stop=stop,
        prepare=lambda: prepare(settings, site.state_dir),
        when_ready=when_ready,
        external=[part.name for part in PARTS if part.name not in names],
        profile=environment.get(SETTING),
    )


def listening_on(settings: LocalSettings) -> str:
    """The gateway's host: this machine alone where no key was made yet and nobody said that this is meant."""
    from services.shared.catalog import keys
    from services.shared.catalog.engine import Catalog

    if settings.without_keys or is_loopback(settings.host):
        return settings.host
    catalog = Catalog(settings.catalog_url)
    try:
        catalog.migrate()
        with catalog.read() as tx:
            made = keys.any_made(tx)
    finally:
        catalog.close()
    return host_to_listen_on(settings.host, keys_made=made, without_keys=False)


def settle_restore(settings: LocalSettings) -> str | None:
    """What became of a restore that was killed; None when none was."""
    from services.shared.catalog.backup import marks

    broken = marks.settle(settings.state_dir, settings.catalog_url)
    if broken is None:
        return None
    if broken.profile is not None:
        remember(settings.state_dir, broken.profile.absolute())
    return broken.sentence


def prepare(settings: LocalSettings, state_dir: Path) -> None:
    """Folders, and the catalog brought to the newest form before anybody opens it."""
    from services.shared.catalog.engine import Catalog

    for name in ("redis", "chroma"):
        (state_dir / name).mkdir(parents=True, exist_ok=True)
    catalog = Catalog(settings.catalog_url)
    try:
        catalog.migrate()
    finally:
        catalog.close()
