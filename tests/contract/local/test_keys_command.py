"""`ragstone keys`, and the key that other commands send."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from services.gateway.__main__ import asked_for
from services.local.cli import main
from services.local.credentials import OwnKey, credential_for
from services.local.settings import LocalSettings
from services.shared.catalog import keys
from services.shared.catalog.engine import Catalog
from services.shared.contracts.key_secrets import read, same
from services.shared.contracts.keys import Role
from services.shared.kit.settings import WrongSetting, started
from tests.contract.local.typed import Ragstone, typed, without_settings

DESKS: dict[str, Callable[[], object]] = {
    "services.local": main,
    "services.gateway": lambda: started(lambda: asked_for(sys.argv[1:])),
}
"""The keys command of the machine, and that of a container."""


@pytest.fixture(params=DESKS)
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Ragstone:
    settings = {"RAGSTONE_STATE_DIR": str(tmp_path / "state")}
    return lambda *words: typed(DESKS[request.param], "keys", *words, folder=tmp_path, settings=settings)


@pytest.fixture(params=DESKS)
def desk_apart(request: pytest.FixtureRequest, tmp_path: Path) -> Ragstone:
    """The same in a process of its own."""

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", request.param, "keys", *words],
            env={**without_settings(), "RAGSTONE_STATE_DIR": str(tmp_path / "state"), "PYTHONPATH": os.getcwd()},
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )

    return run


def test_a_key_is_made_listed_and_revoked_where_nothing_runs(desk: Ragstone, tmp_path: Path) -> None:
    made = desk("create", "website", "--public", "--origin", "https://Example.com/", "--expires", "90d")
    assert made.returncode == 0, made.stderr
    secret = made.stdout.strip()
    assert made.stdout == f"{secret}\n"
    assert "https://example.com" in made.stderr
    assert "first key" in made.stderr
    assert "--role admin" in made.stderr
    assert secret not in made.stderr
    catalog = Catalog(f"sqlite:///{tmp_path}/state/catalog.db")
    with catalog.read() as tx:
        stored = keys.find(tx, read(secret).id)
    assert stored is not None
    assert same(read(secret).secret, stored.hash)
    listed = desk("list")
    assert listed.stdout.startswith(f"{stored.key.id}  open ")
    assert "website, read, space main, public from https://example.com" in listed.stdout
    assert read(secret).secret not in listed.stdout
    assert desk("revoke", stored.key.id).returncode == 0
    assert json.loads(desk("list", "--json").stdout)[0]["revoked_at"]
    assert "revoked" in desk("list").stdout
    assert desk("revoke", "none").returncode == 1
    assert desk("reset").returncode == 1
    assert desk("reset", "--yes").returncode == 0
    assert desk("list").stdout == ""


def test_programs_read_json(desk_apart: Ragstone) -> None:
    made = json.loads(
        desk_apart("create", "ci", "--role", "write", "--space", "docs", "--per-minute", "5", "--json").stdout
    )
    assert made["key"]["role"] == "write"
    assert made["key"]["requests_per_minute"] == 5
    assert read(made["secret"]).id == made["key"]["id"]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ((), 2, "usage: "),
        (("create",), 2, "NAME"),
        (("create", "a", "--role", "king"), 2, "king"),
        (("create", "a", "--expires", "soon"), 2, "90d"),
        (("create", "a", "--public"), 2, "--origin: name at least one"),
        (("create", "a", "--origin", "https://a.example"), 2, "--origin: are for a public key"),
        (("create", "a", "--origin", "a", "--public"), 2, "--origin: 'a' is no web address"),
        (("create", "a", "--role", "admin", "--space", "docs"), 2, "--space: of an admin key is every space"),
        (("create", ""), 2, "NAME: "),
        (("create", "a", "--per-minute", "0"), 2, "--per-minute: '0' is no whole number from 1"),
    ],
)
def test_wrong_words_are_named(desk: Ragstone, words: tuple[str, ...], code: int, said: str, tmp_path: Path) -> None:
    refused = desk(*words)
    assert refused.returncode == code, refused.stderr
    assert said in refused.stderr
    assert refused.stdout == ""
    assert not (tmp_path / "state" / "catalog.db").exists()


def test_wrong_words_end_a_process_too(desk_apart: Ragstone, tmp_path: Path) -> None:
    refused = desk_apart("create", "a", "--role", "king")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "king" in refused.stderr
    assert not (tmp_path / "state" / "catalog.db").exists()


def test_a_list_makes_nothing_where_there_is_nothing(desk: Ragstone, tmp_path: Path) -> None:
    listed = desk("list")
    assert (listed.returncode, listed.stdout) == (0, "")
    assert "There is no catalog" in listed.stderr
    assert desk("list", "--json").stdout == "[]\n"
    assert not (tmp_path / "state").exists()


def test_a_key_from_the_environment_is_sent_and_never_shown(tmp_path: Path) -> None:
    settings = LocalSettings(state_dir=tmp_path, key="rs_a_" + "f" * 64)
    assert "ffff" not in repr(settings)
    found = credential_for("http://far", "http://here", settings)
    assert found is not None
    assert found.secret() == "rs_a_" + "f" * 64
    with pytest.raises(WrongSetting) as refused:
        credential_for("http://far", None, LocalSettings(state_dir=tmp_path, key="sk-secret"))
    assert "sk-secret" not in str(refused.value)


def test_other_gateways_get_no_key_of_our_own(tmp_path: Path) -> None:
    settings = LocalSettings(state_dir=tmp_path)
    assert credential_for("http://far", "http://here", settings) is None
    assert isinstance(credential_for("http://here", "http://here", settings), OwnKey)


def test_an_own_key_is_made_when_the_gateway_asks_renewed_and_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{tmp_path}/catalog.db"
    catalog = Catalog(url)
    catalog.migrate()
    asks, now = [False], [0.0]
    monkeypatch.setattr("services.local.credentials.asks_for_a_key", lambda _: asks[0])
    own = OwnKey("http://here", url, clock=lambda: now[0])
    assert own.secret() is None
    asks[0] = True
    assert own.secret() is None
    now[0] += 6
    first = own.secret()
    assert first is not None
    assert own.secret() == first
    with catalog.read() as tx:
        stored = keys.find(tx, read(first).id)
        assert not keys.any_made(tx)
    assert stored is not None
    assert (stored.key.role, stored.internal) == (Role.ADMIN, True)
    now[0] += 1801
    second = own.secret()
    assert second not in (None, first)
    own.close()
    with catalog.read() as tx:
        assert keys.find(tx, read(str(second)).id) is None
