"""What is said of a setting that cannot be used, and lists in one variable."""

from typing import Any

import pytest

from services.gateway.settings import GatewaySettings
from services.generator.settings import GeneratorSettings
from services.ingestor.settings import IngestorSettings
from services.local.settings import LocalSettings
from services.retriever.settings import Settings
from services.shared.kit.settings import WrongSetting, started

LISTS = "with commas between, or as JSON"


@pytest.mark.parametrize(
    ("tables", "variable", "value", "allowed"),
    [
        (GatewaySettings, "RAGSTONE_PORT", "abc", "a whole number from 0 to 65535, such as 8000"),
        (GatewaySettings, "RAGSTONE_LIMIT_ADDRESS", "5", "text, such as 60/minute"),
        (GatewaySettings, "RAGSTONE_LIMITS_WHEN_AWAY", "x", "allow or refuse"),
        (GatewaySettings, "RAGSTONE_WITHOUT_KEYS", "x", "true or false"),
        (GatewaySettings, "RAGSTONE_TRUSTED_PROXIES", "here", f"a list {LISTS}, such as 127.0.0.1,10.0.0.0/8"),
        (GatewaySettings, "RAGSTONE_ALLOWED_HOSTS", '["a"', f"a list {LISTS}, such as gateway,docs.example"),
        (GeneratorSettings, "RAGSTONE_OLLAMA_PROBE_S", "x", "a number above 0, such as 60.0"),
        (IngestorSettings, "RAGSTONE_QUEUES", "ingest,x", f"a list of ingest, index or ask {LISTS}"),
        (IngestorSettings, "RAGSTONE_QUEUES", "", f"a list of ingest, index or ask {LISTS}"),
        (Settings, "RAGSTONE_FUSION", "x", "rrf or relative"),
        (LocalSettings, "RAGSTONE_REDIS_PORT", "0", "a whole number from 1 to 65535"),
    ],
)
def test_a_wrong_setting_is_named_with_what_is_allowed(
    tables: Any, variable: str, value: str, allowed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(WrongSetting) as wrong:
        tables()
    assert str(wrong.value) == f"{variable} is {value!r}; allowed is {allowed}."


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("https://x.example", ["https://x.example"]),
        (" https://x.example , https://y.example,", ["https://x.example", "https://y.example"]),
        (' ["https://x.example"]', ["https://x.example"]),
        ("", []),
    ],
)
def test_a_list_is_read_with_commas_or_as_json(value: str, read: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGSTONE_ALLOWED_ORIGINS", value)
    assert GatewaySettings().allowed_origins == read


def test_a_process_with_a_wrong_setting_ends_with_the_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGSTONE_PORT", "abc")

    def main() -> None:
        GatewaySettings()

    with pytest.raises(SystemExit) as ended:
        started(main)
    assert str(ended.value.code).startswith("RAGSTONE_PORT is 'abc'")
