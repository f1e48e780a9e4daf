"""A PostgreSQL for tests that want one: that of DATABASE_URL, or one that is thrown away, where it is installed."""

import hashlib
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import create_engine, make_url, text

WITH_POSTGRES = Path(__file__).parents[1] / "with_postgres.sh"
NOT_INSTALLED = 3


@contextmanager
def postgres_server() -> Iterator[str | None]:
    """Its URL; None where PostgreSQL is not installed."""
    given = os.environ.get("DATABASE_URL", "")
    if given.startswith("postgres"):
        yield given
        return
    words = [str(WITH_POSTGRES), "sh", "-c", 'echo "$DATABASE_URL"; exec cat >/dev/null']
    server = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert server.stdin is not None
    assert server.stdout is not None
    try:
        yield server.stdout.readline().strip() or None
    finally:
        # The end of its input is the end of what it waits for; the script takes everything away then.
        server.stdin.close()
        ended = server.wait(60)
        server.stdout.close()
    assert ended in (0, NOT_INSTALLED)


def database_for(server: str, folder: Path) -> str:
    """The URL of a database of this folder's own, made when it is not there yet."""
    name = f"t_{hashlib.sha256(str(folder).encode()).hexdigest()[:24]}"
    url = make_url(server)
    admin = create_engine(url.set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        known = text("SELECT 1 FROM pg_database WHERE datname = :name")
        if connection.execute(known, {"name": name}).first() is None:
            connection.execute(text(f"CREATE DATABASE {name}"))
    admin.dispose()
    return url.set(database=name).render_as_string(hide_password=False)
