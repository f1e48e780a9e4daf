"""Mirroring a real folder into a gateway in memory."""

import json
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from services.local.api import Api
from services.local.folder import Patterns
from services.local.mirror import Choice, Progress, ingest
from services.local.outcome import Failed, Report, Warned
from services.local.sending import as_dict
from services.shared.contracts.errors import ErrorCode, RagstoneError
from tests.unit.local.fakes import FakeGateway

Mirror = Callable[..., Report]


@pytest.fixture
def gateway() -> FakeGateway:
    return FakeGateway()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.md").write_text("about a")
    (folder / "deep" / "b.txt").write_text("about b")
    return folder


@pytest.fixture
def mirror(gateway: FakeGateway) -> Mirror:
    def run(path: Path, choice: Choice | None = None, stop: threading.Event | None = None) -> Report:
        with Api("http://gateway", transport=gateway.transport()) as api:
            return ingest(api, path, choice or Choice(), Progress(), stop or threading.Event())

    return run


def test_ids_are_paths_and_no_local_path_leaves_the_machine(folder: Path, mirror: Mirror, gateway: FakeGateway) -> None:
    report = mirror(folder)
    assert sorted(report.new) == ["a.md", "deep/b.txt"]
    assert set(gateway.documents) == {"a.md", "deep/b.txt"}
    assert report.origin is not None
    assert report.origin.startswith("notes-")
    assert str(folder.parent) not in str(gateway.documents)


def test_a_second_time_nothing_is_sent(folder: Path, mirror: Mirror, gateway: FakeGateway) -> None:
    mirror(folder)
    gateway.sent.clear()
    report = mirror(folder)
    assert sorted(report.unchanged) == ["a.md", "deep/b.txt"]
    assert gateway.sent == []


def test_told_so_it_sends_what_is_the_same_too(folder: Path, mirror: Mirror, gateway: FakeGateway) -> None:
    mirror(folder)
    gateway.sent.clear()
    mirror(folder, Choice(again=True))
    assert len(gateway.sent) > 0


def test_only_what_changed_is_sent_and_what_vanished_is_forgotten(
    folder: Path, mirror: Mirror, gateway: FakeGateway
) -> None:
    mirror(folder)
    (folder / "a.md").write_text("about a, again")
    (folder / "deep" / "b.txt").unlink()
    report = mirror(folder)
    assert (report.changed, report.vanished) == (["a.md"], ["deep/b.txt"])
    assert set(gateway.documents) == {"a.md"}


def test_a_moved_file_is_never_missing(folder: Path, mirror: Mirror, gateway: FakeGateway) -> None:
    mirror(folder)
    (folder / "a.md").rename(folder / "deep" / "a.md")
    report = mirror(folder)
    assert report.moved == {"deep/a.md": "a.md"}
    assert report.new == report.vanished == []
    assert set(gateway.documents) == {"deep/a.md", "deep/b.txt"}


def test_a_moved_file_that_fails_keeps_its_old_document(folder: Path, mirror: Mirror, gateway: FakeGateway) -> None:
    (folder / "c.md").write_text("bad")
    origin = mirror(folder).origin
    gateway.hold("c.md", b"bad", origin)
    (folder / "c.md").rename(folder / "d.md")
    report = mirror(folder)
    assert report.failed == [Failed("d.md", "It is bad.")]
    assert "c.md" in gateway.documents


def test_a_faulty_file_fails_alone_with_its_reason(folder: Path, mirror: Mirror) -> None:
    (folder / "empty.md").write_text("")
    (folder / "worse.md").write_text("bad")
    report = mirror(folder)
    assert sorted(report.new) == ["a.md", "deep/b.txt"]
    assert {failure.document_id: failure.reason for failure in report.failed} == {
        "empty.md": "It is empty.",
        "worse.md": "It is bad.",
    }


def test_a_document_of_another_folder_is_never_touched(folder: Path, mirror: Mirror, gateway: FakeGateway) -> None:
    gateway.hold("a.md", b"theirs", "handbook-1234")
    report = mirror(folder)
    assert report.new == ["deep/b.txt"]
    assert [failure.document_id for failure in report.failed] == ["a.md"]
    assert "handbook-1234" in report.failed[0].reason
    assert gateway.documents["a.md"]["origin"] == "handbook-1234"
    mirror(folder, Choice(prefix="mine/"))
    assert set(gateway.documents) == {"a.md", "mine/a.md", "mine/deep/b.txt"}


def test_a_moved_folder_is_told_how_to_take_its_documents_over(
    tmp_path: Path, folder: Path, mirror: Mirror, gateway: FakeGateway
) -> None:
    former = mirror(folder).origin
    moved = folder.rename(tmp_path / "renamed")
    (moved / "deep" / "b.txt").unlink()
    report = mirror(moved)
    assert [failure.document_id for failure in report.failed] == ["a.md"]
    assert f"ragstone ingest {moved} --name {former}" in str(report.advice)
    taken = mirror(moved, Choice(name=former))
    assert (taken.failed, taken.unchanged, taken.vanished, taken.advice) == ([], ["a.md"], ["deep/b.txt"], None)
    assert set(gateway.documents) == {"a.md"}


def test_what_a_moved_folder_sent_meanwhile_is_taken_over_too(
    tmp_path: Path, folder: Path, mirror: Mirror, gateway: FakeGateway
) -> None:
    former = mirror(folder).origin
    (tmp_path / "deeper").mkdir()
    moved = folder.rename(tmp_path / "deeper" / "notes")
    (moved / "c.md").write_text("about c")
    report = mirror(moved)
    assert (report.new, len(report.failed)) == (["c.md"], 2)
    assert f"--name {former}" in str(report.advice)
    assert mirror(moved, Choice(name=former)).failed == []
    assert {document["origin"] for document in gateway.documents.values()} == {former}


@pytest.mark.parametrize("owners", [("handbook-1234", "handbook-1234"), ("notes-1234", "notes-5678")])
def test_ids_of_other_folders_are_not_offered(
    folder: Path, mirror: Mirror, gateway: FakeGateway, owners: tuple[str, str]
) -> None:
    (folder / "c.md").write_text("about c")
    for document_id, owner in zip(("a.md", "deep/b.txt"), owners, strict=True):
        gateway.hold(document_id, b"theirs", owner)
    report = mirror(folder)
    assert len(report.failed) == 2
    assert report.advice is None


def test_a_name_that_is_not_utf8_fails_alone(tmp_path: Path, folder: Path, mirror: Mirror) -> None:
    bad = Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9.md"))
    try:
        bad.write_text("about coffee")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    (folder / os.fsdecode(b"gone\xe9.md")).symlink_to(folder / "nowhere.md")
    for choice in (Choice(dry_run=True), Choice()):
        report = mirror(folder, choice)
        assert sorted(report.new) == ["a.md", "deep/b.txt"]
        assert [failure.document_id for failure in report.failed] == ["caf\\xe9.md"]
        assert "not UTF-8" in report.failed[0].reason
        assert [skip.path for skip in report.skipped] == ["gone\\xe9.md"]
        json.dumps(as_dict(report), ensure_ascii=False).encode()
    alone = mirror(bad)
    assert [failure.document_id for failure in alone.failed] == ["caf\\xe9.md"]
    whole = folder.rename(tmp_path / os.fsdecode(b"f\xe9"))
    assert mirror(whole, Choice(prefix="again/")).path.endswith("f\\xe9")


def test_a_document_sent_by_hand_becomes_the_folders(folder: Path, mirror: Mirror, gateway: FakeGateway) -> None:
    gateway.hold("a.md", b"about a", None)
    report = mirror(folder)
    assert report.changed == ["a.md"]
    assert gateway.documents["a.md"]["origin"] == report.origin


def test_hidden_foreign_and_large_files_are_not_sent_but_named(tmp_path: Path, folder: Path, mirror: Mirror) -> None:
    (tmp_path / "secret.md").write_text("elsewhere")
    (folder / "link.md").symlink_to(tmp_path / "secret.md")
    (folder / "inside.md").symlink_to(folder / "a.md")
    (folder / "out").symlink_to(tmp_path)
    (folder / "gone.md").symlink_to(folder / "nowhere.md")
    (folder / "large.md").write_text("x" * 2000)
    (folder / ".git").mkdir()
    (folder / ".git" / "x.md").write_text("hidden")
    (folder / ".draft.md").write_text("hidden")
    (folder / "tool.exe").write_text("unknown kind")
    report = mirror(folder, Choice(max_bytes=1000))
    assert sorted(report.new) == ["a.md", "deep/b.txt", "inside.md"]
    assert sorted(skip.path for skip in report.skipped) == ["gone.md", "large.md", "link.md", "out"]


def test_a_file_that_is_skipped_now_keeps_its_document(folder: Path, mirror: Mirror, gateway: FakeGateway) -> None:
    mirror(folder)
    (folder / "a.md").write_text("x" * 2000)
    assert mirror(folder, Choice(max_bytes=1000)).vanished == []
    assert "a.md" in gateway.documents


def test_a_pattern_limits_what_vanishes_too(folder: Path, mirror: Mirror, gateway: FakeGateway) -> None:
    mirror(folder)
    (folder / "a.md").unlink()
    report = mirror(folder, Choice(patterns=Patterns(only=("*.txt",))))
    assert (report.vanished, report.unchanged) == ([], ["deep/b.txt"])
    assert "a.md" in gateway.documents


def test_files_that_are_left_out_are_neither_sent_nor_forgotten(
    folder: Path, mirror: Mirror, gateway: FakeGateway
) -> None:
    mirror(folder)
    (folder / "a.md").unlink()
    (folder / "draft.md").write_text("about a draft")
    (folder / "c.md").write_text("about c")
    report = mirror(folder, Choice(patterns=Patterns(only=("*.md", "deep/*"), never=("draft*", "a.md"))))
    assert (report.new, report.vanished, report.unchanged) == (["c.md"], [], ["deep/b.txt"])
    assert set(gateway.documents) == {"a.md", "c.md", "deep/b.txt"}


def test_files_of_other_kinds_are_counted(folder: Path, mirror: Mirror) -> None:
    for name in ("x.png", "y.PNG", "deep/z.yaml", "Makefile", ".hidden.png"):
        (folder / name).write_text("x")
    assert mirror(folder).ignored == {".png": 2, ".yaml": 1, "no extension": 1}


def test_what_a_job_warns_of_is_reported(folder: Path, mirror: Mirror) -> None:
    (folder / "a.md").write_text("odd letters")
    report = mirror(folder)
    assert report.warned == [Warned("a.md", "It looks odd.")]
    assert (sorted(report.new), report.failed) == (["a.md", "deep/b.txt"], [])


def test_a_kept_checksum_is_of_the_file_as_it_is(folder: Path, mirror: Mirror) -> None:
    choice = Choice()
    mirror(folder, choice)
    (folder / "a.md").write_text("about A")
    report = mirror(folder, choice)
    assert (report.changed, report.unchanged) == (["a.md"], ["deep/b.txt"])


def test_an_empty_folder_forgets_nothing_unless_told(folder: Path, mirror: Mirror, gateway: FakeGateway) -> None:
    mirror(folder)
    (folder / "a.md").unlink()
    (folder / "deep" / "b.txt").unlink()
    with pytest.raises(RagstoneError, match="--allow-empty"):
        mirror(folder)
    assert len(gateway.documents) == 2
    assert len(mirror(folder, Choice(allow_empty=True)).vanished) == 2


def test_a_dry_run_changes_nothing(folder: Path, mirror: Mirror, gateway: FakeGateway) -> None:
    report = mirror(folder, Choice(dry_run=True))
    assert sorted(report.new) == ["a.md", "deep/b.txt"]
    assert gateway.sent == []


def test_a_single_file_is_its_own_name(folder: Path, mirror: Mirror, gateway: FakeGateway) -> None:
    assert mirror(folder / "deep" / "b.txt").new == ["b.txt"]
    assert gateway.documents["b.txt"]["origin"] is None
    assert mirror(folder / "deep" / "b.txt").unchanged == ["b.txt"]


def test_many_files_go_in_groups(tmp_path: Path, mirror: Mirror, gateway: FakeGateway) -> None:
    for n in range(45):
        (tmp_path / f"{n:02}.md").write_text(f"about {n}")
    assert len(mirror(tmp_path).new) == 45
    assert [len(group) for group in gateway.sent] == [20, 20, 5]


def test_a_busy_gateway_is_asked_again(folder: Path, mirror: Mirror, gateway: FakeGateway) -> None:
    gateway.busy = 3
    assert len(mirror(folder).new) == 2


def test_an_interruption_leaves_the_jobs_running(folder: Path, mirror: Mirror, gateway: FakeGateway) -> None:
    stop = threading.Event()
    stop.set()
    report = mirror(folder, stop=stop)
    assert report.interrupted


def test_what_is_not_there_is_said(tmp_path: Path, mirror: Mirror) -> None:
    with pytest.raises(RagstoneError) as caught:
        mirror(tmp_path / "nowhere")
    assert caught.value.code is ErrorCode.INVALID_REQUEST
    assert "nowhere cannot be read: No such file" in caught.value.detail
