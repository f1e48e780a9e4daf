"""Whose profile.yaml speaks."""

from pathlib import Path

import pytest

from services.local.stack import adopt_profile


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    bare, own = tmp_path / "bare", tmp_path / "own"
    bare.mkdir()
    own.mkdir()
    (own / "profile.yaml").write_text("language: en\n")
    monkeypatch.chdir(bare)
    return bare, own


def test_the_contents_own_profile_speaks(folders: tuple[Path, Path]) -> None:
    environment: dict[str, str] = {}
    adopt_profile(folders, environment)
    assert environment == {"RAGSTONE_PROFILE": str(folders[1] / "profile.yaml")}


def test_a_folder_without_one_is_not_answered_for_in_another_name(folders: tuple[Path, Path]) -> None:
    environment: dict[str, str] = {}
    adopt_profile(folders[:1], environment)
    assert environment == {}


def test_a_profile_set_by_hand_stays(folders: tuple[Path, Path]) -> None:
    environment = {"RAGSTONE_PROFILE": "mine.yaml"}
    adopt_profile(folders, environment)
    assert environment == {"RAGSTONE_PROFILE": "mine.yaml"}
