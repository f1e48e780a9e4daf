"""``python -m services.shared.kit.healthcheck WHAT``: is this container healthy? Exit code 0 if so, else 1.

WHAT is an address that must answer with 200, or the role in which this container announces itself in Redis. Run every
few seconds in every container, so it loads as little as it can.
"""

import sys

PATIENCE_S = 4.0


def answers(url: str) -> bool:
    """Does the address answer with 200?"""
    from http.client import HTTPConnection
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    asking = HTTPConnection(parts.hostname or "127.0.0.1", parts.port, timeout=PATIENCE_S)
    try:
        asking.request("GET", parts.path or "/")
        return asking.getresponse().status == 200
    except OSError:
        return False
    finally:
        asking.close()


def announced(role: str) -> bool:
    """Has a process of this host said in Redis that it works? Not known is no."""
    import socket

    from redis.exceptions import RedisError

    from services.shared.kit.presence import present
    from services.shared.kit.settings import RedisSettings

    try:
        return present(role, RedisSettings(), host=socket.gethostname()) > 0
    except RedisError:
        return False


def main() -> int:
    """Look once."""
    if len(sys.argv) != 2:
        sys.exit("usage: python -m services.shared.kit.healthcheck ADDRESS | ROLE")
    what = sys.argv[1]
    return 0 if (answers(what) if "://" in what else announced(what)) else 1


if __name__ == "__main__":
    sys.exit(main())
