"""Settings of the local run and of the command line."""

import os
from pathlib import Path

from pydantic import Field, SecretStr
from pydantic_settings import SettingsConfigDict

from services.shared.kit.settings import StateSettings, WrongSetting


class LocalSettings(StateSettings):
    """Ports of the local run and where the command line looks for a gateway.

    A port that is null is the usual one, or a free one where that is taken; the gateway's never moves by itself.
    """

    model_config = SettingsConfigDict(env_ignore_empty=True)

    host: str = Field(default="127.0.0.1", description="Address that the gateway listens on")
    port: int = Field(default=8000, ge=1, le=65535, description="Port of the gateway")
    redis_port: int | None = Field(
        default=None, ge=1, le=65535, description="Port of the local Redis; null: 6379 or a free one"
    )
    chroma_port: int | None = Field(
        default=None, ge=1, le=65535, description="Port of the local Chroma; null: 8001 or a free one"
    )
    retriever_port: int | None = Field(
        default=None, ge=1, le=65535, description="Port of the retriever; null: 8002 or a free one"
    )
    generator_port: int | None = Field(
        default=None, ge=1, le=65535, description="Port of the generator; null: 8003 or a free one"
    )
    url: str | None = Field(
        default=None, description="Gateway that the command line asks; null: the one that runs on this state folder"
    )
    key: SecretStr | None = Field(
        default=None,
        description="Key that the command line sends; null: none is needed for the gateway that runs on this state "
        "folder",
    )
    without_keys: bool = Field(
        default=False, description="The gateway may listen for other machines although no key was made"
    )
    start_timeout_s: float = Field(
        default=120.0, gt=0, description="Longest wait for one process to become ready, seconds"
    )
    document_max_bytes: int = Field(
        default=20_000_000, ge=1, description="`ragstone ingest` does not send larger files, bytes; the gateway's limit"
    )


def local_settings(port: int | None = None) -> LocalSettings:
    """From the environment; ``port`` from the command line goes before it.

    Raises: WrongSetting; also for a state folder that cannot be one.
    """
    try:
        settings = LocalSettings() if port is None else LocalSettings(port=port)
    except WrongSetting as error:
        if port is None:
            raise
        raise WrongSetting(str(error).replace("RAGSTONE_PORT is", "--port is")) from error
    there = settings.state_dir.absolute()
    while not os.path.lexists(there):
        there = there.parent
    if not there.is_dir():
        detail = f"RAGSTONE_STATE_DIR is '{settings.state_dir}'; allowed is a folder, or a place where one can be made"
        raise WrongSetting(f"{detail}, but {there} is no folder.")
    return settings


def make_state_folder(folder: Path) -> None:
    """Make it where it is missing.

    Raises: WrongSetting when that is not possible.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        detail = f"RAGSTONE_STATE_DIR is '{folder}', which cannot be made ({error.strerror})"
        raise WrongSetting(f"{detail}; allowed is a folder that can be written.") from error
    if not os.access(folder, os.W_OK):
        raise WrongSetting(f"RAGSTONE_STATE_DIR is '{folder}'; allowed is a folder that can be written.")
