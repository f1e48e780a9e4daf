"""Which writer the settings ask for, and the names that they go by."""

import pytest

from services.generator.settings import GeneratorSettings
from services.generator.wiring import DEFAULT_OLLAMA, DEFAULT_OPENAI, choose
from services.shared.kit.settings import WrongSetting


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OLLAMA_HOST", "RAGSTONE_WRITER", "RAGSTONE_OPENAI_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("environment", "kind", "wanted", "why"),
    [
        ({}, "ollama", False, "looked for"),
        ({"RAGSTONE_OPENAI_URL": "http://a:1"}, "openai", True, "RAGSTONE_OPENAI_URL"),
        ({"OLLAMA_HOST": "http://a:1", "RAGSTONE_OPENAI_URL": "http://a:1"}, "ollama", True, "OLLAMA_HOST"),
        ({"OLLAMA_HOST": "", "RAGSTONE_OPENAI_URL": ""}, "ollama", False, "looked for"),
        ({"RAGSTONE_WRITER": "extractive", "OLLAMA_HOST": "http://a:1"}, None, None, "RAGSTONE_WRITER"),
        ({"RAGSTONE_WRITER": "openai", "OLLAMA_HOST": "http://a:1"}, "openai", True, "RAGSTONE_WRITER"),
        ({"RAGSTONE_WRITER": "ollama"}, "ollama", True, "RAGSTONE_WRITER"),
    ],
)
async def test_who_writes(
    environment: dict[str, str], kind: str | None, wanted: bool | None, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    choice = choose(GeneratorSettings())
    assert (choice.writer.kind if choice.writer else None) == kind
    assert (choice.writer.wanted if choice.writer else None) == wanted
    assert why in choice.why


async def test_without_any_address_ollamas_usual_one_is_tried() -> None:
    writer = choose(GeneratorSettings()).writer
    assert writer is not None
    assert DEFAULT_OLLAMA in writer.state().detail


async def test_a_server_without_address_is_sought_at_its_usual_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGSTONE_WRITER", "openai")
    monkeypatch.setenv("RAGSTONE_OPENAI_MODEL", "")
    writer = choose(GeneratorSettings()).writer
    assert writer is not None
    assert DEFAULT_OPENAI in writer.state().detail
    assert writer.name == "unknown"


def test_limits_keep_their_former_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGSTONE_OLLAMA_PARALLEL", "7")
    monkeypatch.setenv("RAGSTONE_OLLAMA_WAITING", "1")
    monkeypatch.setenv("RAGSTONE_WRITER_WAITING", "3")
    settings = GeneratorSettings()
    assert (settings.writer_parallel, settings.writer_waiting) == (7, 3)


def test_the_key_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGSTONE_OPENAI_API_KEY", "hush")
    settings = GeneratorSettings()
    assert "hush" not in f"{settings!r} {settings.model_dump_json()}"
    assert settings.openai_api_key is not None
    assert settings.openai_api_key.get_secret_value() == "hush"


def test_another_writer_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGSTONE_WRITER", "poet")
    with pytest.raises(WrongSetting, match="RAGSTONE_WRITER is 'poet'; allowed is auto, extractive, ollama or openai"):
        GeneratorSettings()


@pytest.mark.parametrize(
    "change",
    [
        {"num_ctx": 4096},
        {"num_predict": 100},
        {"temperature": 0.5},
        {"writer_silence_s": 20},
        {"answer_threshold": 0.42},
        {"support_threshold": 0.42},
        {"grounding_threshold": 0.42},
    ],
)
def test_what_decides_an_answer_shows_in_what_stands_for_the_settings(change: dict[str, float]) -> None:
    plain = GeneratorSettings()
    assert GeneratorSettings.model_validate(change).deciding() != plain.deciding()
    assert GeneratorSettings(generator_port=9000, writer_parallel=3).deciding() == plain.deciding()
