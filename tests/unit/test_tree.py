"""Manners of the whole tree that no linter knows. Reads the files of the tree, and nothing else."""

import ast
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULE_LINES = 300
FUNCTION_LINES = 60
CODE_FOLDERS = ("services", "tests", "benchmarks", "evals")
TEXT_KINDS = {".py", ".md", ".toml", ".yml", ".yaml", ".txt", ".sh", ".html", ".js", ".css", ".ini", ".cfg", ""}

# Split, so that this file does not hold what it looks for.
REGISTRY_HOSTS = re.compile(
    r"(files\.python" + r"hosted|pypi" + r"\.org|download\.py" + r"torch|registry\.npm" + r"js)"
)
MACHINE_PATHS = re.compile(r"(?<![\w.~:-])/(?:ro" + r"ot|ho" + r"me/\w+|Us" + r"ers/\w+|wo" + r"rk|fa" + r"rm)/")


def tracked() -> list[Path]:
    """Files of the tree as git sees it, new ones included, ignored ones left out."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / line for line in listed.splitlines() if (ROOT / line).is_file()]


TRACKED = tracked()
MODULES = [path for path in TRACKED if path.suffix == ".py" and path.relative_to(ROOT).parts[0] in CODE_FOLDERS]
DOCUMENTED = [path for path in MODULES if path.relative_to(ROOT).parts[0] == "services"]


def name_of(path: Path) -> str:
    """For the test's id."""
    return path.relative_to(ROOT).as_posix()


@cache
def parsed(path: Path) -> ast.Module:
    """Once for all that look at it."""
    return ast.parse(path.read_text(encoding="utf-8"))


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function, methods and inner ones included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_and_its_functions_fit_into_a_head(path: Path) -> None:
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= MODULE_LINES, f"{lines} lines; split it by what it does"
    for function in functions(parsed(path)):
        length = (function.end_lineno or function.lineno) - function.lineno + 1
        assert length <= FUNCTION_LINES, f"{function.name} has {length} lines; split it"


@pytest.mark.parametrize("path", [path for path in MODULES if path.name == "__init__.py"], ids=name_of)
def test_packages_re_export_nothing(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == ""


@pytest.mark.parametrize("path", [path for path in MODULES if path.name != "__init__.py"], ids=name_of)
def test_every_module_says_what_it_is_for(path: Path) -> None:
    assert ast.get_docstring(parsed(path))


@pytest.mark.parametrize("path", [path for path in DOCUMENTED if path.name != "__init__.py"], ids=name_of)
def test_every_public_function_says_what_it_does(path: Path) -> None:
    """Functions of modules, classes with methods, and methods; those of a port or its adapters are said by the class.

    Properties and messages (classes without methods) speak through their names and field descriptions.
    """
    silent = list(_silent(parsed(path), port_says_it="adapters" in path.parts))
    assert not silent, f"no docstring: {', '.join(silent)}"


def _silent(tree: ast.Module, *, port_says_it: bool) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if not node.name.startswith("_") and ast.get_docstring(node) is None:
                yield node.name
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from _silent_in_class(node, port_says_it)


def _silent_in_class(node: ast.ClassDef, port_says_it: bool) -> Iterator[str]:
    by_class = port_says_it or any(ast.unparse(base).endswith("Protocol") for base in node.bases)
    methods = [
        item
        for item in node.body
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)
        and not item.name.startswith("_")
        and all("method" in ast.unparse(how) for how in item.decorator_list)
    ]
    if methods and ast.get_docstring(node) is None:
        yield node.name
    if not by_class:
        yield from (f"{node.name}.{method.name}" for method in methods if ast.get_docstring(method) is None)


def test_nothing_is_called_utils() -> None:
    assert [name_of(path) for path in MODULES if path.stem in ("utils", "util", "helpers", "misc")] == []


def test_test_files_have_names_of_their_own() -> None:
    names = [path.name for path in MODULES if path.name.startswith("test_")]
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize("path", [path for path in TRACKED if path.suffix in TEXT_KINDS], ids=name_of)
def test_no_file_names_a_registry_or_a_path_of_one_machine(path: Path) -> None:
    text = path.read_text(encoding="utf-8", errors="replace")
    assert not REGISTRY_HOSTS.search(text)
    found = MACHINE_PATHS.search(text)
    assert found is None, found and text[max(0, found.start() - 30) : found.end() + 30]
