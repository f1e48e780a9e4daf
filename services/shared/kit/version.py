"""The version of what runs, without what serves it."""

from importlib.metadata import PackageNotFoundError, version


def product_version() -> str:
    """Version of the installed distribution."""
    try:
        return version("ragstone")
    except PackageNotFoundError:
        return "0+unknown"
