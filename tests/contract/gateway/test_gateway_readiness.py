"""The look at all parts: each says what is wrong with it and what to do."""

from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from fastapi.responses import JSONResponse
from redis import Redis

from services.gateway.adapters.parts import LiveParts
from services.local.ports import free_port
from services.shared.catalog.blob_store import BlobStore
from services.shared.catalog.bucket_blobs import BucketBlobs
from services.shared.catalog.engine import Catalog
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.kit.events import JobEventListener
from services.shared.kit.http_client import ServiceClient
from services.shared.kit.settings import RedisSettings
from tests.contract.catalog.bucket import use as use_bucket


def parts_of(catalog: Catalog, redis_url: str, app: FastAPI, originals: BlobStore | None = None) -> LiveParts:
    redis = RedisSettings(redis_url=redis_url, redis_timeout_s=1.0)
    return LiveParts(
        catalog=catalog,
        retriever=ServiceClient(
            name="retriever",
            base_url="http://retriever",
            unavailable=ErrorCode.RETRIEVER_UNAVAILABLE,
            timeout_s=5,
            transport=httpx.ASGITransport(app),
        ),
        generator=ServiceClient(
            name="generator",
            base_url=redis_url.replace("redis", "http").removesuffix("/0"),
            unavailable=ErrorCode.GENERATOR_UNAVAILABLE,
            timeout_s=1,
        ),
        events=JobEventListener(redis),
        redis=redis,
        timeout_s=3.0,
        originals=originals,
    )


async def test_a_bucket_of_originals_is_a_part_of_its_own(
    catalog: Catalog, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_bucket(monkeypatch, f"http://127.0.0.1:{free_port()}")
    bucket = BucketBlobs("s3://originals", timeout_s=1)
    with pytest.raises(RagstoneError):
        bucket.check()  # the first time loads the library
    found = await parts_of(catalog, redis_url, half_ready(), originals=bucket).look()
    assert not found["originals"].ready
    assert "AWS_ENDPOINT_URL" in found["originals"].detail
    assert "originals" not in await parts_of(catalog, redis_url, half_ready()).look()


def half_ready() -> FastAPI:
    app = FastAPI()

    @app.get("/readyz")
    async def readyz() -> JSONResponse:
        body = {
            "ready": False,
            "parts": {"model": {"ready": False, "detail": "still loading"}, "catalog": {"ready": True, "detail": "ok"}},
        }
        return JSONResponse(body, status_code=503)

    return app


async def test_each_part_says_what_is_wrong_and_what_to_do(catalog: Catalog, redis_url: str, nowhere: str) -> None:
    Redis.from_url(redis_url).flushall()
    found = await parts_of(catalog, redis_url, half_ready()).look()
    assert found["catalog"].ready
    assert found["redis"].ready
    assert found["retriever"].detail == "model: still loading"
    assert not found["worker"].ready
    assert "python -m services.ingestor worker" in found["worker"].detail
    assert "python -m services.ingestor reconciler" in found["reconciler"].detail

    without = await parts_of(catalog, nowhere, half_ready()).look()
    assert not without["redis"].ready
    assert "RAGSTONE_REDIS_URL" in without["redis"].detail
    assert not without["worker"].ready
    assert "cannot be reached" in without["generator"].detail


async def test_a_catalog_without_tables_is_not_ready(tmp_path: Path, nowhere: str) -> None:
    bare = Catalog(f"sqlite:///{tmp_path}/bare.db")
    found = await parts_of(bare, nowhere, half_ready()).look()
    bare.close()
    assert not found["catalog"].ready
    assert found["catalog"].detail
