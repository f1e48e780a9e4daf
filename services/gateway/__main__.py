"""``python -m services.gateway``: serves the public API and the page."""

import sys

import uvicorn
from pydantic import ValidationError

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


if __name__ == "__main__":
    sys.exit(main())
