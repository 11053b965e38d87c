"""What holds for the shape of the whole: who may import what, how light a start is, how long a file gets."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
from process_environ import process_environ
from programs import run_program

ROOT = Path(__file__).parents[2]
FOLDERS = ("domain", "ports", "adapters", "app", "contracts")
SOURCES = sorted(
    [*ROOT.glob("*.py"), *ROOT.glob("integrations/*.py")]
    + [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
)

# What is neither clock nor chance nor the world outside. Anything new must be argued for here.
PURE = {
    "__future__",
    "charset_normalizer",
    "markdown_it",
    "pathspec",
    "snowballstemmer",
    "urllib.parse",
    "ast",
    "bisect",
    "collections",
    "array",
    "contextlib",
    "dataclasses",
    "errno",
    "datetime",  # its types; now() is refused below
    "enum",
    "fnmatch",
    "functools",
    "hashlib",
    "heapq",
    "itertools",
    "json",
    "json5",
    "math",
    "posixpath",  # joins and tidies text, and asks no disk
    "operator",
    "pkgutil",  # reads data files of the package
    "rapidfuzz",  # distances of texts, without state
    "re",
    "string",
    "types",
    "typing",
    "unicodedata",
    "zlib",  # checksums
}
IMPURE_CALLS = {"now", "utcnow", "today", "open", "print", "input"}

HEAVY = set(
    (
        "anyio asyncio duckdb fastapi httpx httpx2 lancedb mcp numpy onnx onnxruntime pyarrow "
        "starlette tantivy tokenizers uvicorn wordllama xllamacpp"
    ).split()
)
FRAMEWORKS = {"apsw", "pydantic", "rich", "ruamel", "typer"}

MAX_LINES = 600
MAX_FUNCTION_LINES = 90
NAMES_THAT_SAY_NOTHING = {"common", "helper", "helpers", "misc", "util", "utils"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def inside(*folders: str) -> list[Path]:
    return [path for folder in folders for path in SOURCES if path.is_relative_to(ROOT / folder)]


@cache
def imported(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add("." * node.level + (node.module or ""))
    return found


def undocumented(body: list[ast.stmt], within: str = "") -> Iterator[str]:
    for node in body:
        if isinstance(node, (ast.ClassDef, Function)) and not node.name.startswith("_"):
            if ast.get_docstring(node) is None and not is_fixture(node):
                yield within + node.name
            if isinstance(node, ast.ClassDef):
                yield from undocumented(node.body, f"{within}{node.name}.")


def is_fixture(node: ast.ClassDef | Function) -> bool:
    """A fixture that a contract leaves open: its class says what to supply, and its error says it again."""
    return any(ast.unparse(decorator).startswith("pytest.fixture") for decorator in node.decorator_list)


def modules_after(code: str, home: Path) -> set[str]:
    """The top-level modules that a fresh process has loaded after *code*."""
    done = run_program(
        f"{code}\nprint(*sys.modules)", cwd=home, env=process_environ(home, USERPROFILE=str(home))
    )
    return {name.split(".")[0] for name in done.stdout.split("\n")[-2].split()}


def after_commands(*commands: str) -> str:
    """Python that runs *commands* of clawmem one after another in the same process."""
    return (
        "import sys\n"
        "from clawmem.app.main import main\n"
        f"for command in {list(commands)}:\n"
        "    sys.argv = ['clawmem', *command.split()]\n"
        "    try: main()\n"
        "    except SystemExit as end: assert not end.code, command\n"
    )


def test_domain_and_ports_import_only_pure_modules() -> None:
    """An allow-list: what is not on it is a side effect, a framework, or wants an argument."""
    refused = []
    for path in inside("domain", "ports"):
        allowed = ("clawmem.ports.", f"clawmem.{path.relative_to(ROOT).parts[0]}.")
        refused += [
            (name_of(path), name)
            for name in imported(path)
            if not {name, name.split(".")[0]} & PURE and not name.startswith(allowed)
        ]

    assert not refused


def test_domain_and_ports_ask_nothing_of_the_world() -> None:
    """Time, files and the terminal are arguments or adapters."""
    calls = [
        (name_of(path), f.attr if isinstance(f, ast.Attribute) else getattr(f, "id", ""))
        for path in inside("domain", "ports")
        for f in (node.func for node in ast.walk(tree(path)) if isinstance(node, ast.Call))
    ]

    assert not [call for call in calls if call[1] in IMPURE_CALLS]


def test_the_command_starts_with_nothing(tmp_path: Path) -> None:
    """Importing the entry point loads neither a model's library nor any framework."""
    loaded = modules_after("import sys, clawmem.app.main", tmp_path)

    assert "clawmem" in loaded
    assert not loaded & (HEAVY | FRAMEWORKS | {"sqlite3"})


def test_a_search_starts_light(tmp_path: Path) -> None:
    """A search by words in an empty vault loads the vault's library and no model's."""
    loaded = modules_after(after_commands("vault init", "search anything"), tmp_path)

    assert "apsw" in loaded
    assert not loaded & (
        HEAVY - {"anyio", "asyncio", "fastapi", "starlette"}
    )  # dependency-injector imports them


def test_the_root_imports_next_to_nothing(tmp_path: Path) -> None:
    """The root runs before every module, and before Ctrl-C has a handler: all else is imported at its first use."""
    loaded = modules_after("import sys; import clawmem.__main__", tmp_path)

    assert not loaded & (HEAVY | FRAMEWORKS | {"apsw", "sqlite3", "typing"})


def test_packages_hold_no_code() -> None:
    """A package imports nothing; only ``contracts`` gathers its names, and the root those of the Python API."""
    inits = [p for p in SOURCES if p.name == "__init__.py" and p.parent not in (ROOT, ROOT / "contracts")]
    assert not {name_of(path) for path in inits for node in tree(path).body if not isinstance(node, ast.Expr)}


def test_files_and_functions_are_not_too_long() -> None:
    """A file has at most 600 lines, except for the methods that are made from operations; a function has 90."""
    too_long = []
    for path in SOURCES:
        functions = [node for node in ast.walk(tree(path)) if isinstance(node, Function)]
        lengths = [(one.name, (one.end_lineno or 0) - one.lineno + 1) for one in functions]
        too_long += [(name_of(path), *one) for one in lengths if one[1] > MAX_FUNCTION_LINES]
        if (lines := len(path.read_text("utf-8").splitlines())) > MAX_LINES:
            too_long.append((name_of(path), "", lines))

    assert not too_long


def test_every_module_has_a_name_that_says_something() -> None:
    """A drawer called utils fills up."""
    assert not [name_of(path) for path in SOURCES if path.stem in NAMES_THAT_SAY_NOTHING]
    assert not [name_of(path) for path in SOURCES if path.parent.name in NAMES_THAT_SAY_NOTHING]


def test_pytest_never_imports_the_root_as_a_test_package() -> None:
    """A conftest at the root or a package of tests would import the checkout under its folder's name."""
    assert not (ROOT / "conftest.py").exists()
    assert not list((ROOT / "tests").rglob("__init__.py"))


def test_what_is_public_is_explained() -> None:
    """Every public class, function and method of ports, domain and contracts has a docstring."""
    assert not [
        (name_of(path), name)
        for path in inside("ports", "domain", "contracts")
        for name in undocumented(tree(path).body)
    ]


MEASURING = sorted(path.stem for path in ROOT.glob("tools/bench/*.py"))


@pytest.mark.parametrize("name", [name for name in MEASURING if not name.startswith(("test_", "conftest"))])
def test_tools_of_measurement_import_names_that_exist(name: str) -> None:
    import_module(name)
