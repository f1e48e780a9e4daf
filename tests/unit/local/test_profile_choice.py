"""Whose profile.yaml speaks."""

from pathlib import Path

import pytest

from services.local.profiles import adopt_profile, why_idle


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
    adopt_profile(folders, environment, folders[0] / "state")
    assert environment == {"RAGSTONE_PROFILE": str(folders[1] / "profile.yaml")}


def test_a_folder_without_one_is_not_answered_for_in_another_name(folders: tuple[Path, Path]) -> None:
    environment: dict[str, str] = {}
    adopt_profile(folders[:1], environment, folders[0] / "state")
    assert environment == {}


def test_a_profile_set_by_hand_stays(folders: tuple[Path, Path]) -> None:
    environment = {"RAGSTONE_PROFILE": "mine.yaml"}
    adopt_profile(folders, environment, folders[0] / "state")
    assert environment == {"RAGSTONE_PROFILE": "mine.yaml"}


def test_a_later_run_that_names_nothing_speaks_as_the_last_one(folders: tuple[Path, Path], tmp_path: Path) -> None:
    adopt_profile(folders, {}, tmp_path / "state")
    later: dict[str, str] = {}
    adopt_profile([], later, tmp_path / "state")
    assert later == {"RAGSTONE_PROFILE": str(folders[1] / "profile.yaml")}
    (folders[1] / "profile.yaml").unlink()
    gone: dict[str, str] = {}
    adopt_profile([], gone, tmp_path / "state")
    assert gone == {}


def test_a_folder_that_is_named_goes_before_the_last_one(folders: tuple[Path, Path], tmp_path: Path) -> None:
    (folders[0] / "profile.yaml").write_text("language: de\n")
    adopt_profile(folders[1:], {}, tmp_path / "state")
    for content, expected in ((folders[:1], folders[0]), ((), folders[0])):
        environment: dict[str, str] = {}
        adopt_profile(content, environment, tmp_path / "state")
        assert environment == {"RAGSTONE_PROFILE": str(expected / "profile.yaml")}


def test_one_set_by_hand_is_not_remembered(folders: tuple[Path, Path], tmp_path: Path) -> None:
    adopt_profile(folders, {"RAGSTONE_PROFILE": "mine.yaml"}, tmp_path / "state")
    later: dict[str, str] = {}
    adopt_profile([], later, tmp_path / "state")
    assert later == {}


def test_a_profile_that_is_not_in_use_is_said_with_the_way_to_use_it(folders: tuple[Path, Path]) -> None:
    own = folders[1] / "profile.yaml"
    assert why_idle(folders, str(own)) is None
    assert why_idle(folders[:1], None) is None
    for used in (None, "/elsewhere/profile.yaml"):
        said = why_idle(folders, used)
        assert said is not None
        assert said.startswith(f"{own} is not in use")
        assert f"ragstone down; ragstone up --ingest {folders[1]}" in said
        assert "RAGSTONE_PROFILE" in said
        assert "\n" not in said
