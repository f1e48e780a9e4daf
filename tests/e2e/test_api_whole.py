"""Everything that the OpenAPI document names, tried thousands of times on a whole Ragstone: `make test-api`."""

import os
import sys
from pathlib import Path

import httpx
import pytest

from services.shared.contracts.keys import CreatedKey
from tests.contract.gateway.fuzzed import UNLIMITED, tried
from tests.e2e.stack import ROOT, running_stack

pytestmark = pytest.mark.skipif(os.environ.get("RAGSTONE_TEST_API") != "whole", reason="`make test-api` runs these")

SETTINGS = {f"RAGSTONE_{name.upper()}": value for name, value in UNLIMITED.items()} | {
    "RAGSTONE_PROFILE": str(ROOT / "corpus" / "profile.yaml"),
    "RAGSTONE_WRITER": "extractive",
}
EXAMPLES = os.environ.get("RAGSTONE_TEST_API_EXAMPLES", "60")


@pytest.mark.parametrize("keyed", [True, False], ids=["key", "owner"])
def test_the_whole_api_answers_as_it_is_described(tmp_path: Path, keyed: bool) -> None:
    with running_stack(tmp_path / "state", SETTINGS, "--ingest", str(ROOT / "corpus" / "projects")) as stack:
        key = None
        if keyed:
            made = httpx.post(
                f"{stack.base_url}/v1/keys", json={"name": "owner", "role": "admin"}, trust_env=False
            ).json()
            key = CreatedKey.model_validate(made).secret
        # At random, it would revoke its own key, or make the first one and be locked out.
        others = "/v1/keys/" if keyed else "/v1/keys"
        words = ("-n", EXAMPLES, "--request-timeout", "90", "--exclude-path-regex", others)
        count = tried(tmp_path, stack.base_url, key, *words)
        sys.stdout.write(f"\n{count:,} requests {'with' if keyed else 'without'} a key\n")
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        assert httpx.get(f"{stack.base_url}/v1/me", headers=headers, trust_env=False).json()["role"] == "admin"
        assert '"request_failed"' not in stack.log("gateway")
