"""What `ragstone doctor` says of a bucket of originals."""

from collections.abc import Iterator

import pytest

from services.local.doctor import Finding, examine
from services.local.ports import free_port
from services.local.settings import LocalSettings
from tests.contract.catalog.bucket import BucketServer, bucket_server, use


@pytest.fixture(scope="module")
def server() -> Iterator[BucketServer]:
    with bucket_server() as running:
        for bucket in ("fine", "keeps"):
            running.make(bucket)
        running.keep_versions("keeps")
        yield running


@pytest.fixture
def settings(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setenv("RAGSTONE_STATE_DIR", str(tmp_path))
    return monkeypatch


def said_of(settings: pytest.MonkeyPatch, url: str) -> Finding:
    settings.setenv("RAGSTONE_BLOBS_URL", url)
    (finding,) = [one for one in examine(LocalSettings()) if one.name == "originals"]
    return finding


def test_a_bucket_is_named_with_what_to_do(server: BucketServer, settings: pytest.MonkeyPatch) -> None:
    use(settings, server.url)
    assert said_of(settings, "s3://fine/prefix") == Finding("originals", "ok", "s3://fine/prefix answers")
    keeps = said_of(settings, "s3://keeps")
    assert (keeps.level, "switch its versioning off" in keeps.detail) == ("warn", True)
    missing = said_of(settings, "s3://missing")
    assert (missing.level, "correct RAGSTONE_BLOBS_URL" in missing.detail) == ("fail", True)
    use(settings, f"http://127.0.0.1:{free_port()}")
    away = said_of(settings, "s3://fine")
    assert (away.level, "AWS_ENDPOINT_URL" in away.detail) == ("fail", True)


def test_a_folder_is_no_bucket(settings: pytest.MonkeyPatch) -> None:
    settings.setenv("RAGSTONE_BLOBS_URL", "")
    assert not [one for one in examine(LocalSettings()) if one.name == "originals"]
