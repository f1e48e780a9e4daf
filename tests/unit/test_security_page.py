"""What docs/security.md promises of the code as a whole, and that the tests it names exist."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`(test_\w+)`", PAGE)))
CODE_OF_DATA = {"pickle", "cPickle", "dill", "marshal", "shelve", "jsonpickle", "joblib"}
RUNNING = {"eval", "exec"}


def functions() -> set[str]:
    """Every test."""
    return {
        name
        for file in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"def (test_\w+)\(", file.read_text(encoding="utf-8"))
    }


def test_every_test_that_the_page_names_exists() -> None:
    assert len(NAMED) >= 60
    assert [name for name in NAMED if name not in functions()] == []


def test_every_row_names_a_test() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| threat")]
    assert len(rows) >= 30
    assert [row for row in rows if "`test_" not in row] == []


def read_from_data(tree: ast.AST) -> Iterator[str]:
    """What makes code of data."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names if one.name.partition(".")[0] in CODE_OF_DATA)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in CODE_OF_DATA:
            yield node.module or ""
        elif isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name) and node.func.id in RUNNING:
                yield node.func.id
            if isinstance(node.func, ast.Attribute) and node.func.attr == "unsafe_load":
                yield "yaml.unsafe_load"
            yield from (word.arg for word in node.keywords if word.arg == "allow_pickle" and _is_true(word.value))


def _is_true(value: ast.expr) -> bool:
    return not (isinstance(value, ast.Constant) and value.value is False)


def test_no_code_is_ever_read_from_data() -> None:
    found = {
        str(file.relative_to(ROOT)): made
        for file in (ROOT / "services").rglob("*.py")
        if (made := list(read_from_data(ast.parse(file.read_text(encoding="utf-8")))))
    }
    assert found == {}


@pytest.mark.parametrize(
    "code", ["import pickle", "from joblib import load", "eval('1')", "np.load(f, allow_pickle=True)"]
)
def test_that_would_be_noticed(code: str) -> None:
    assert list(read_from_data(ast.parse(code)))


def test_every_package_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *(one for extra in project["optional-dependencies"].values() for one in extra)]
    names = {_plain(one) for one in wanted}
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = {_plain(line) for line in lines if "==" in line}
    # Two forms of one module, of which an environment holds one; and what only one machine in many wants.
    assert names - pinned - {"ragstone", "xllamacpp"} == set()


def _plain(requirement: str) -> str:
    name = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert name is not None, requirement
    return re.sub(r"[-_.]+", "-", name[0]).lower()
