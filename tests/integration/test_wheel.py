"""The wheel as it would be published, built from a copy of the tree."""

from __future__ import annotations

import shutil
import subprocess
import sys
from fnmatch import fnmatch
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("domain", "ports", "adapters", "app", "contracts")
NOT_SOURCE = shutil.ignore_patterns(
    ".git",
    ".venv",
    ".links",
    ".*_cache",
    ".hypothesis",
    "__pycache__",
    "build",
    "dist",
    "*.egg-info",
    "*.sqlite*",
)


pytestmark = pytest.mark.skipif(not find_spec("setuptools_scm"), reason="needs setuptools-scm to build")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of a copy of the tree, built with what is installed here and without a network."""
    tree, out = tmp_path_factory.mktemp("tree") / "checkout", tmp_path_factory.mktemp("dist")
    shutil.copytree(ROOT, tree, ignore=NOT_SOURCE)
    with_build = ["build", "--wheel", "--no-isolation", "--outdir", str(out)]
    with_pip = ["pip", "wheel", "--no-build-isolation", "--no-deps", "--no-index", "--wheel-dir", str(out)]
    command = [sys.executable, "-m", *(with_build if find_spec("build") else with_pip), "."]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=tree)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def names(wheel: Path) -> set[str]:
    """What lies in the wheel."""
    with ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_every_module_is_in(names: set[str]) -> None:
    """Every module of every folder, the contracts for third parties among them."""
    modules = [*ROOT.glob("*.py"), *ROOT.glob("integrations/*.py")]
    modules += [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    wanted = {f"clawmem/{path.relative_to(ROOT).as_posix()}" for path in modules} | {
        "clawmem/app/_version.py"
    }
    own = {name for name in names if not fnmatch(name, "clawmem/integrations/*/*")}

    assert "clawmem/contracts/base.py" in wanted
    assert not wanted - names
    assert {name for name in own if name.endswith(".py")} == wanted


def test_nothing_else_is_in(names: set[str]) -> None:
    """Beside the package there is only its metadata, and nobody is sent the tests."""
    tops = {name.split("/")[0] for name in names}
    inner = {name.split("/")[1] for name in names if name.startswith("clawmem/")}

    assert {top for top in tops if not top.endswith(".dist-info")} == {"clawmem"}
    assert len(tops) == 2
    assert not inner & {"tests", "docs", "examples", "build", "conftest.py"}


def test_it_runs_from_the_wheel_alone(wheel: Path, tmp_path: Path) -> None:
    """What was built starts, from another folder and with nothing of the checkout in reach."""
    code = "import sys; sys.path.insert(0, sys.argv.pop(1)); from clawmem.app.main import main; main()"
    command = [sys.executable, "-I", "-c", code, str(wheel), "--version"]

    said = subprocess.run(command, check=True, capture_output=True, text=True, cwd=tmp_path).stdout

    assert said == f"clawmem {wheel.name.split('-')[1]}\n"
