"""``python -m services.gateway`` serves the public API and the page; ``... profile FILE`` checks a profile."""

import sys
from collections.abc import Sequence
from pathlib import Path

import uvicorn
from pydantic import ValidationError

from services.gateway.adapters.profile import load_profile
from services.gateway.app.application import gateway_app
from services.gateway.settings import GatewaySettings
from services.gateway.wiring import Wiring
from services.shared.contracts.errors import RagstoneError
from services.shared.kit.logs import configure_logs, get_logger
from services.shared.kit.settings import LogSettings


def main() -> int:
    """Serve until stopped; 1 when a setting, the profile or the catalog does not let it start."""
    configure_logs("gateway", LogSettings())
    try:
        settings = GatewaySettings()
        wiring = Wiring(settings)
        wiring.prepare()
    except (RagstoneError, ValidationError) as error:
        why = error.detail if isinstance(error, RagstoneError) else str(error)
        get_logger(__name__).error("gateway_cannot_start", why=why)
        return 1
    uvicorn.run(
        gateway_app(wiring.gateway, close=wiring.close),
        host=settings.host,
        port=settings.port,
        access_log=False,
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=5,
    )
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


if __name__ == "__main__":
    sys.exit(check_profile(sys.argv[2:]) if sys.argv[1:2] == ["profile"] else main())
