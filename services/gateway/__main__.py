"""``python -m services.gateway`` serves the public API and the page; ``... asker`` answers the questions that were
asked for later; ``... profile FILE`` checks a profile, and ``... keys`` makes, lists and revokes keys."""

import sys
from collections.abc import Sequence
from pathlib import Path

import uvicorn
from pydantic import ValidationError

from services.gateway.adapters.profile import load_profile
from services.gateway.app.application import gateway_app
from services.gateway.app.heads import limited_heads
from services.gateway.settings import GatewaySettings
from services.gateway.wiring.opened import Wiring
from services.shared.catalog import key_desk
from services.shared.contracts.errors import RagstoneError
from services.shared.kit.listening import host_to_listen_on, why_not
from services.shared.kit.logs import configure_logs, get_logger
from services.shared.kit.settings import LogSettings, StateSettings, TraceSettings
from services.shared.kit.tracing import configure_tracing


def main() -> int:
    """Serve until stopped; 1 when a setting, the profile or the catalog does not let it start."""
    configure_logs("gateway", LogSettings())
    configure_tracing("gateway", TraceSettings())
    try:
        settings = GatewaySettings()
        wiring = Wiring(settings)
        wiring.prepare()
        host = host_to_listen_on(settings.host, keys_made=wiring.keys_made(), without_keys=settings.without_keys)
    except (RagstoneError, ValidationError) as error:
        why = error.detail if isinstance(error, RagstoneError) else str(error)
        get_logger(__name__).error("gateway_cannot_start", why=why)
        return 1
    if host != settings.host:
        get_logger(__name__).warning("gateway_listens_here_only", why=why_not(settings.host))
    uvicorn.run(
        gateway_app(wiring.gateway, close=wiring.close),
        host=host,
        port=settings.port,
        http=limited_heads(settings.body_timeout_s),
        # It would believe a header of any name that the client invents; app/addresses.py reads it instead.
        proxy_headers=False,
        access_log=False,
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=5,
    )
    return 0


def asker() -> int:
    """Answer later questions until stopped; 1 when a setting, the profile or the catalog does not let it start."""
    from services.gateway.tasks import serve

    configure_logs("gateway-asker", LogSettings())
    configure_tracing("gateway-asker", TraceSettings())
    try:
        settings = GatewaySettings()
        # Each child opens its own; this one says what is wrong before there are any.
        Wiring(settings).prepare()
    except (RagstoneError, ValidationError) as error:
        why = error.detail if isinstance(error, RagstoneError) else str(error)
        get_logger(__name__).error("asker_cannot_start", why=why)
        return 1
    serve(settings)
    return 0


def check_profile(paths: Sequence[str]) -> int:
    """Say what is wrong with each profile, or that it is fine; 1 when any is not."""
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
    try:
        key_desk.run(words, "python -m services.gateway keys", StateSettings().catalog_url)
    except RagstoneError as error:
        sys.stderr.write(f"{error.detail}\n")
        return 1
    return 0


if __name__ == "__main__":
    match sys.argv[1:2]:
        case ["asker"]:
            sys.exit(asker())
        case ["profile"]:
            sys.exit(check_profile(sys.argv[2:]))
        case ["keys"]:
            sys.exit(keys(sys.argv[2:]))
    sys.exit(main())
