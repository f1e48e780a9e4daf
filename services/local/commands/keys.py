"""`ragstone keys`: who may use the gateway, and for what."""

import typer

from services.local.settings import local_settings, make_state_folder
from services.local.terminal import NAME


def keys(context: typer.Context) -> None:
    """Make, list and revoke API keys, in the state folder itself; no gateway has to run. See `keys --help`."""
    from services.shared.catalog import key_desk

    settings = local_settings()
    if context.args[:1] == ["create"]:
        make_state_folder(settings.state_dir)
    key_desk.run(context.args, f"{NAME} keys", settings.catalog_url)
