"""What only a bucket can be asked: its errors say what to do, its prefix is its border, its own left-overs go."""

import hashlib
import os
import time
import uuid
from collections.abc import Callable, Iterator

import moto.settings
import pytest

from services.local.ports import free_port
from services.shared.catalog.bucket_blobs import BucketBlobs
from services.shared.contracts.errors import ErrorCode, RagstoneError
from tests.contract.catalog.bucket import BucketServer, bucket_server, use

DATA = b"the original bytes"
SHA = hashlib.sha256(DATA).hexdigest()


@pytest.fixture(scope="module")
def server() -> Iterator[BucketServer]:
    with bucket_server() as running:
        yield running


@pytest.fixture
def bucket(server: BucketServer, monkeypatch: pytest.MonkeyPatch) -> str:
    use(monkeypatch, server.url)
    name = f"bucket-{uuid.uuid4().hex}"
    server.make(name)
    return name


def opened(bucket: str, prefix: str = "") -> BucketBlobs:
    return BucketBlobs(f"s3://{bucket}{prefix}", timeout_s=2)


def everything(blobs: BucketBlobs) -> list[Callable[[], object]]:
    """Each thing that a store is asked for, and that a store that does not work must refuse."""
    return [
        lambda: blobs.put(DATA),
        lambda: blobs.read(SHA),
        lambda: blobs.open(SHA),
        lambda: blobs.delete(SHA),
        lambda: blobs.sweep(lambda sha256: False, 0),
        blobs.check,
    ]


def refusals(asked: list[Callable[[], object]]) -> list[str]:
    said = []
    for ask in asked:
        with pytest.raises(RagstoneError) as refused:
            ask()
        assert refused.value.code is ErrorCode.CATALOG_UNAVAILABLE, refused.value
        assert refused.value.retry_after_s
        said.append(refused.value.detail)
    return said


def test_a_bucket_that_is_not_there_is_named(server: BucketServer, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, server.url)
    for said in refusals(everything(opened("no-such-bucket", "/prefix"))):
        assert "s3://no-such-bucket/prefix" in said
        assert "make it, or correct RAGSTONE_BLOBS_URL" in said


def test_a_server_that_is_away_is_named_before_long(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, f"http://127.0.0.1:{free_port()}")
    began = time.monotonic()
    blobs = opened("bucket")
    for said in refusals([lambda: blobs.put(DATA), lambda: blobs.read(SHA), lambda: blobs.holds(SHA)]):
        assert "AWS_ENDPOINT_URL" in said
    assert time.monotonic() - began < 30


def test_without_a_key_it_is_said_which_variables_are_missing(
    server: BucketServer, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    assert all("AWS_ACCESS_KEY_ID" in said for said in refusals(everything(opened(bucket))))


def test_a_wrong_key_is_told_from_a_server_that_is_away(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # From here on the server looks at keys, and it knows none.
    monkeypatch.setattr(moto.settings, "INITIAL_NO_AUTH_ACTION_COUNT", 0)
    said = refusals(everything(opened(bucket)))
    assert all("AWS_ACCESS_KEY_ID" in one and "may list the bucket" in one for one in said), said


def test_a_secret_is_never_part_of_an_error(server: BucketServer, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, server.url)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "very-secret")
    assert not any("very-secret" in said for said in refusals(everything(opened("no-such-bucket"))))


def test_what_lies_beside_the_prefix_is_left_alone(server: BucketServer, bucket: str) -> None:
    others = [f"other/{SHA[:2]}/{SHA[2:4]}/{SHA}", f"mine-too/{SHA}"]
    for key in (*others, "mine/readme.txt"):
        server.write(bucket, key, DATA)
    blobs = opened(bucket, "/mine")
    blobs.put(DATA)
    for key in server.keys(bucket):
        server.age(bucket, key, 100)
    assert blobs.sweep(lambda sha256: False, older_than_s=50) == 1
    assert sorted(server.keys(bucket)) == sorted([*others, "mine/readme.txt"])


@pytest.mark.parametrize("prefix", ["", "/", "/a/b/"])
def test_a_prefix_may_be_written_in_any_way(server: BucketServer, bucket: str, prefix: str) -> None:
    opened(bucket, prefix).put(DATA)
    assert opened(bucket, prefix.rstrip("/")).read(SHA) == DATA
    assert server.keys(bucket) == [f"{prefix.strip('/')}/{SHA[:2]}/{SHA[2:4]}/{SHA}".lstrip("/")]


def test_a_sweep_ends_uploads_that_broke_off(server: BucketServer, bucket: str) -> None:
    server.begin_upload(bucket, f"mine/{SHA}")
    server.begin_upload(bucket, f"other/{SHA}")
    blobs = opened(bucket, "/mine")
    # This server says of every upload that it was begun in 2010.
    assert blobs.sweep(lambda sha256: False, older_than_s=time.time()) == 0
    assert blobs.sweep(lambda sha256: False, older_than_s=50) == 1
    assert server.uploads(bucket) == 1


def test_more_objects_than_one_page_are_swept(server: BucketServer, bucket: str) -> None:
    names = [hashlib.sha256(b"%d" % n).hexdigest() for n in range(1003)]
    server.write_many(bucket, [f"mine/{name}" for name in names])
    blobs = BucketBlobs(f"s3://{bucket}/mine", timeout_s=5, clock=lambda: time.time() + 100)
    looked: list[str] = []

    def in_use(sha256: str) -> bool:
        looked.append(sha256)
        return True

    assert blobs.sweep(in_use, older_than_s=50) == 0
    assert sorted(looked) == sorted(names)


def test_a_bucket_that_keeps_versions_is_noticed(server: BucketServer, bucket: str) -> None:
    assert not opened(bucket).keeps_versions()
    server.keep_versions(bucket)
    assert opened(bucket).keeps_versions()


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork")
def test_a_forked_child_speaks_for_itself(bucket: str) -> None:
    blobs = opened(bucket)
    blobs.put(DATA)
    child = os.fork()
    if child == 0:
        os._exit(0 if blobs.read(SHA) == DATA else 1)
    assert os.waitpid(child, 0)[1] == 0
