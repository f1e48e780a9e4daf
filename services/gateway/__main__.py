"""``python -m services.gateway`` serves the public API and the page; ``... asker`` answers the questions that were
asked for later; ``... profile FILE`` checks a profile, ``... keys`` makes, lists and revokes keys, ``... backup FILE``
and ``... restore FILE`` write and read everything that cannot be made again."""

import sys
from collections.abc import Sequence
from pathlib import Path

from services.gateway.settings import GatewaySettings
from services.shared.contracts.errors import RagstoneError
from services.shared.kit.listening import host_to_listen_on, why_not
from services.shared.kit.logs import configure_logs, get_logger
from services.shared.kit.settings import LogSettings, StateSettings, TraceSettings, started
from services.shared.kit.tracing import configure_tracing


def main() -> int:
    """Serve until stopped; 1 when a setting, the profile or the catalog does not let it start."""
    import uvicorn

    from services.gateway.app.application import gateway_app
    from services.gateway.app.heads import how_served
    from services.gateway.wiring.opened import Wiring

    configure_logs("gateway", LogSettings())
    configure_tracing("gateway", TraceSettings())
    try:
        settings = GatewaySettings()
        wiring = Wiring(settings)
        wiring.prepare()
        host = host_to_listen_on(settings.host, keys_made=wiring.keys_made(), without_keys=settings.without_keys)
    except RagstoneError as error:
        get_logger(__name__).error("gateway_cannot_start", why=error.detail)
        return 1
    if host != settings.host:
        get_logger(__name__).warning("gateway_listens_here_only", why=why_not(settings.host))
    uvicorn.run(
        gateway_app(wiring.gateway, close=wiring.close),
        host=host,
        port=settings.port,
        **how_served(settings.body_timeout_s),
        timeout_graceful_shutdown=5,
    )
    return 0


def asker() -> int:
    """Answer later questions until stopped; 1 when a setting, the profile or the catalog does not let it start."""
    from services.gateway.tasks import serve
    from services.gateway.wiring.opened import Wiring

    configure_logs("gateway-asker", LogSettings())
    configure_tracing("gateway-asker", TraceSettings())
    try:
        settings = GatewaySettings()
        # Each child opens its own; this one says what is wrong before there are any.
        Wiring(settings).prepare()
    except RagstoneError as error:
        get_logger(__name__).error("asker_cannot_start", why=error.detail)
        return 1
    serve(settings)
    return 0


def check_profile(paths: Sequence[str]) -> int:
    """Say what is wrong with each profile, or that it is fine; 1 when any is not."""
    from services.gateway.adapters.profile import load_profile

    faulty = 0
    for path in paths:
        try:
            load_profile(Path(path))
            sys.stdout.write(f"{path}: fine\n")
        except RagstoneError as error:
            faulty += 1
            sys.stderr.write(f"{error.detail}\n")
    return min(faulty, 1)


def keys(words: Sequence[str]) -> int:
    """Make, list and revoke keys in the catalog of this container; 1 when that fails."""
    from services.shared.catalog import key_desk

    try:
        key_desk.run(words, "python -m services.gateway keys", StateSettings().catalog_url)
    except RagstoneError as error:
        sys.stderr.write(f"{error.detail}\n")
        return 1
    return 0


def backups(word: str, words: Sequence[str]) -> int:
    """Back up, or restore into, the catalog and the originals of this container; 1 when that fails."""
    from services.shared.catalog.backup import desk
    from services.shared.catalog.blob_store import blob_store

    state = StateSettings()
    site = desk.Site(
        prog="python -m services.gateway",
        catalog_url=state.catalog_url,
        state_dir=state.state_dir.absolute(),
        blobs=blob_store(state),
        profile=GatewaySettings().profile,
        adopt=lambda profile: f"The profile is {profile}; set RAGSTONE_PROFILE to it.",
    )
    try:
        (desk.backup if word == "backup" else desk.restore)(words, site)
    except RagstoneError as error:
        sys.stderr.write(f"{error.detail}\n")
        return 1
    return 0


def asked_for(words: Sequence[str]) -> int:
    """What the command line asks for."""
    match words[:1]:
        case ["asker"]:
            return asker()
        case ["profile"]:
            return check_profile(words[1:])
        case ["keys"]:
            return keys(words[1:])
        case ["backup" | "restore" as word]:
            return backups(word, words[1:])
    return main()


if __name__ == "__main__":
    started(lambda: asked_for(sys.argv[1:]))
