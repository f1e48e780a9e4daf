"""The real gateway process and its lock: other spaces, roles, revocation, pages, other machines, rebinding."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import httpx
import psutil
import pytest

from services.ingestor.adapters.gateway import GatewayAsClient
from services.local.ports import free_port
from services.shared.catalog import keys
from services.shared.catalog.engine import Catalog
from services.shared.contracts.ids import DocumentId, SpaceId
from services.shared.contracts.key_secrets import read
from services.shared.contracts.keys import NewKey, Role

START_S = 60.0
SHOP = "https://shop.example"
Run = Callable[..., tuple[str, Path]]


class Front:
    """One gateway process."""

    def __init__(self, url: str, catalog: Catalog, log: Path) -> None:
        self.url = url
        self.catalog = catalog
        self.log = log

    def make(self, role: Role = Role.READ, space: str | None = None, *origins: str) -> str:
        wanted = NewKey(
            name="k", role=role, space=None if space is None else SpaceId(space),
            public=bool(origins), allowed_origins=list(origins),
        )  # fmt: skip
        with self.catalog.write() as tx:
            return keys.create(tx, wanted, datetime.now(UTC)).secret

    def ask(self, method: str, path: str, key: str | None = None, **request: object) -> httpx.Response:
        headers = dict(request.pop("headers", {}))  # type: ignore[call-overload]
        if key is not None:
            headers["Authorization"] = f"Bearer {key}"
        with httpx.Client(base_url=self.url, trust_env=False, timeout=20) as client:
            return client.request(method, path, headers=headers, **request)  # type: ignore[arg-type]

    def code(self, method: str, path: str, key: str | None = None, **request: object) -> tuple[int, str]:
        found = self.ask(method, path, key, **request)
        return found.status_code, found.json()["code"]


@contextmanager
def front(folder: Path, redis_url: str, **settings: str) -> Iterator[Front]:
    folder.mkdir(exist_ok=True)
    catalog = Catalog(f"sqlite:///{folder}/catalog.db")
    catalog.migrate()
    port = free_port()
    own = {name: value for name, value in os.environ.items() if not name.startswith("RAGSTONE_")}
    own.pop("DATABASE_URL", None)
    environment = {
        **own,
        "RAGSTONE_STATE_DIR": str(folder),
        "RAGSTONE_PORT": str(port),
        "RAGSTONE_REDIS_URL": redis_url,
    }
    log = folder / "gateway.log"
    with log.open("wb") as stream:
        process = subprocess.Popen(
            [sys.executable, "-m", "services.gateway"],
            env={**environment, **settings},
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
        )
    url = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + START_S
        while not _answers(url):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)
        yield Front(url, catalog, log)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)
        catalog.close()


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/healthz", trust_env=False).status_code == 200
    except httpx.HTTPError:
        return False


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory, redis_url: str) -> Iterator[Front]:
    """One for all tests that begin with a key."""
    with front(tmp_path_factory.mktemp("gate"), redis_url) as running:
        running.make()
        yield running


@pytest.fixture
def keyless(tmp_path: Path, redis_url: str) -> Iterator[Front]:
    """Nobody made a key for it yet."""
    with front(tmp_path / "state", redis_url) as running:
        yield running


def own_address() -> str:
    """An address of this machine that is not loopback."""
    for addresses in psutil.net_if_addrs().values():
        for one in addresses:
            if one.family is socket.AF_INET and not one.address.startswith("127."):
                return one.address
    pytest.skip("this machine has no address but loopback")


def test_spaces_and_roles_are_kept_apart(gate: Front) -> None:
    writer, other, reader = gate.make(Role.WRITE, "docs"), gate.make(Role.WRITE, "shop"), gate.make(Role.READ, "docs")
    admin = gate.make(Role.ADMIN)
    sent = gate.ask("POST", "/v1/documents", writer, json={"id": "a.md", "text": "Some text."})
    assert sent.status_code == 202, sent.text
    job = sent.json()["jobs"][0]["id"]
    assert gate.ask("GET", f"/v1/jobs/{job}", writer).json()["document_id"] == "a.md"
    assert gate.code("GET", f"/v1/jobs/{job}", reader) == (404, "job_not_found")
    assert gate.code("GET", f"/v1/jobs/{job}", other) == (404, "job_not_found")
    assert gate.code("POST", f"/v1/jobs/{job}/cancel", other) == (404, "job_not_found")
    assert gate.code("GET", "/v1/documents/a.md", other) == (404, "document_not_found")
    assert gate.code("GET", "/v1/documents/a.md/source", other) == (404, "document_not_found")
    assert gate.code("DELETE", "/v1/documents/a.md", other) == (404, "document_not_found")
    assert gate.code("GET", "/v1/jobs", other, headers={"Ragstone-Space": "docs"}) == (403, "space_not_allowed")
    assert gate.code("POST", "/v1/documents", reader, json={"text": "x"}) == (403, "role_insufficient")
    assert gate.code("GET", "/v1/keys", writer) == (403, "role_insufficient")
    assert gate.ask("GET", f"/v1/jobs/{job}", admin, headers={"Ragstone-Space": "docs"}).status_code == 200
    assert {one["name"] for one in gate.ask("GET", "/v1/keys", admin).json()["items"]} == {"k"}


def test_a_revoked_key_stops_within_a_second_and_use_is_noted(gate: Front) -> None:
    reader = gate.make()
    assert gate.ask("GET", "/v1/me", reader).status_code == 200
    with gate.catalog.write() as tx:
        keys.revoke(tx, read(reader).id, datetime.now(UTC))
    revoked = time.monotonic()
    while gate.ask("GET", "/v1/me", reader).status_code == 200:
        assert time.monotonic() - revoked < 1.0
    assert gate.code("GET", "/v1/me", reader) == (401, "key_invalid")
    with gate.catalog.read() as tx:
        stored = keys.find(tx, read(reader).id)
    assert stored is not None
    assert stored.key.last_used_at is not None


def test_the_first_key_locks_the_gateway_within_a_second(keyless: Front) -> None:
    assert keyless.ask("GET", "/v1/me").json()["role"] == "admin"
    keyless.make()
    made = time.monotonic()
    while keyless.ask("GET", "/v1/me").status_code == 200:
        assert time.monotonic() - made < 1.0
    assert keyless.code("GET", "/v1/me") == (401, "key_required")


def test_a_public_key_works_from_its_pages_only(gate: Front) -> None:
    public = gate.make(Role.READ, None, SHOP)
    path = "/v1/documents/none/source"
    found = gate.ask("GET", path, public, headers={"Origin": SHOP})
    assert (found.status_code, found.json()["code"]) == (404, "document_not_found")
    assert found.headers["Access-Control-Allow-Origin"] == SHOP
    for origin in ("https://evil.example", "null"):
        assert gate.code("GET", path, public, headers={"Origin": origin}) == (403, "origin_not_allowed")
    assert gate.code("GET", path, public) == (403, "origin_not_allowed")
    asked = {"Origin": SHOP, "Access-Control-Request-Method": "POST"}
    assert gate.ask("OPTIONS", "/v1/ask", headers=asked).status_code == 204


def test_rebound_names_are_refused_while_no_key_is_there(keyless: Front) -> None:
    assert keyless.code("GET", "/v1/documents", headers={"Host": "evil.example"}) == (403, "host_not_allowed")
    assert keyless.ask("GET", "/v1/documents", headers={"Host": "localhost"}).status_code == 200


def test_without_keys_no_other_machine_gets_in(tmp_path: Path, redis_url: str) -> None:
    """The process listens on loopback only, although it was told otherwise; and says so."""
    address = own_address()
    with front(tmp_path / "state", redis_url, RAGSTONE_HOST="0.0.0.0") as gate:
        port = gate.url.rpartition(":")[2]
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"http://{address}:{port}/v1/me", trust_env=False)
        assert "ragstone keys create" in gate.log.read_text()
        gate.make(Role.ADMIN)
    with front(tmp_path / "state", redis_url, RAGSTONE_HOST="0.0.0.0") as gate:
        secret = gate.make(Role.ADMIN)
        far = gate.url.replace("127.0.0.1", address)
        assert httpx.get(f"{far}/v1/me", trust_env=False).status_code == 401
        found = httpx.get(f"{far}/v1/me", headers={"Authorization": f"Bearer {secret}"}, trust_env=False)
        assert found.json()["role"] == "admin"


def test_own_processes_get_in_with_keys_of_their_own(gate: Front) -> None:
    gate.make()
    with GatewayAsClient(gate.url, 10, gate.catalog)(SpaceId("docs")) as system:
        assert system.text(DocumentId("none"), None) is None
    with gate.catalog.read() as tx:
        assert tx.exec_driver_sql("SELECT count(*) FROM api_keys WHERE internal").scalar_one() == 0


def test_no_log_line_holds_a_secret_or_its_hash(gate: Front) -> None:
    secret = gate.make(Role.ADMIN)
    gate.ask("GET", "/v1/me", secret)
    gate.ask("GET", "/v1/me", secret[:-1])
    made = gate.ask("POST", "/v1/keys", secret, json={"name": "k"}).json()["secret"]
    gate.ask("GET", "/v1/nothing", made)
    written = gate.log.read_text()
    assert "/v1/keys" in written
    for one in (secret, made):
        assert read(one).secret[:-1] not in written
        stored = None
        with gate.catalog.read() as tx:
            stored = keys.find(tx, read(one).id)
        assert stored is not None
        assert stored.hash not in written
