"""Unit tests have no network: a socket in one is an error, not a flaky test."""

from collections.abc import Iterator

import pytest
from pytest_socket import disable_socket, enable_socket


@pytest.fixture(autouse=True)
def no_sockets() -> Iterator[None]:
    """Event loops may have their own pair of Unix sockets."""
    disable_socket(allow_unix_socket=True)
    yield
    enable_socket()
