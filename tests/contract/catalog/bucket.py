"""A server that speaks S3, in this process, so that a test may look into it and let its objects grow old."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import boto3
import pytest
from moto.s3.models import s3_backends
from moto.server import ThreadedMotoServer

from services.local.ports import free_port

KEY, SECRET = "a-key", "a-secret"
ACCOUNT = "123456789012"


class BucketServer:
    """One server; each test has a bucket of its own."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._client: Any = boto3.client(
            "s3", endpoint_url=url, aws_access_key_id=KEY, aws_secret_access_key=SECRET, region_name="us-east-1"
        )

    def make(self, bucket: str) -> None:
        self._client.create_bucket(Bucket=bucket)

    def keep_versions(self, bucket: str) -> None:
        self._client.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})

    def begin_upload(self, bucket: str, key: str) -> None:
        """An upload in parts that is never ended."""
        self._client.create_multipart_upload(Bucket=bucket, Key=key)

    def uploads(self, bucket: str) -> int:
        return len(self._client.list_multipart_uploads(Bucket=bucket).get("Uploads", []))

    def keys(self, bucket: str) -> list[str]:
        return [one["Key"] for one in self._client.list_objects_v2(Bucket=bucket).get("Contents", [])]

    def write(self, bucket: str, key: str, data: bytes) -> None:
        self._client.put_object(Bucket=bucket, Key=key, Body=data)

    def write_many(self, bucket: str, keys: Sequence[str]) -> None:
        """Past the wire, where a thousand take no time."""
        for key in keys:
            s3_backends[ACCOUNT]["aws"].put_object(bucket, key, b"x")

    def age(self, bucket: str, key: str, seconds: float) -> None:
        """As if it had been written earlier."""
        s3_backends[ACCOUNT]["aws"].buckets[bucket].keys[key].last_modified -= timedelta(seconds=seconds)


@contextmanager
def bucket_server() -> Iterator[BucketServer]:
    """Runs until the block ends."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=free_port(), verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        yield BucketServer(f"http://{host}:{port}")
    finally:
        server.stop()


def use(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    """Name the server and its key as people do."""
    for name, value in {
        "AWS_ENDPOINT_URL": url,
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_DEFAULT_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
