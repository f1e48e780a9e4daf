"""What the OpenAPI document says is what comes: a small part of `make test-api`, over a real catalog."""

from pathlib import Path

import httpx

from tests.contract.gateway.fuzzed import owner_key, serving_beside, tried

ENDLESS = r"/events$"
"""Nobody works here, so what waits for a job's end would wait for ever."""


def test_with_a_key_everything_answers_as_it_is_described(tmp_path: Path, redis_url: str) -> None:
    with serving_beside(tmp_path, redis_url) as gateway:
        key = owner_key(gateway.catalog)
        # Revoking keys at random, it would lock itself out.
        others = f"{ENDLESS}|/v1/keys/"
        count = tried(tmp_path, gateway.url, key, "--phases", "coverage", "-n", "1", "--exclude-path-regex", others)
        mine = httpx.get(f"{gateway.url}/v1/me", headers={"Authorization": f"Bearer {key}"}, trust_env=False)
    assert mine.json()["role"] == "admin"
    assert count > 500


def test_without_keys_too(tmp_path: Path, redis_url: str) -> None:
    with serving_beside(tmp_path, redis_url) as gateway:
        # The first key would lock the gateway.
        others = f"{ENDLESS}|/v1/keys"
        phases = ("--phases", "fuzzing,stateful", "-n", "3")
        count = tried(tmp_path, gateway.url, None, *phases, "--exclude-path-regex", others)
        assert httpx.get(f"{gateway.url}/v1/me", trust_env=False).json()["role"] == "admin"
    assert count > 100
