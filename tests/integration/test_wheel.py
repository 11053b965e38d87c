"""The wheel as it would be published: built from a tag, and installed in the two ways that the README names."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from importlib.util import find_spec
from pathlib import Path
from urllib.request import HTTPCookieProcessor, build_opener
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
FOLDERS = ("domain", "ports", "adapters", "app", "contracts", "integrations")
SCRIPTS = Path(sys.executable).parent
VERSION = "7.8.9"
OFFLINE = ("--offline", "--no-index", "--find-links")

pytestmark = pytest.mark.skipif(
    not all(map(find_spec, ("build", "pipx", "setuptools_scm", "uv"))),
    reason="needs build, pipx, setuptools-scm and uv",
)


def run(*command: object, folder: Path) -> str:
    """What a command prints, which must succeed, in *folder* and with that as its home."""
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "NO_COLOR": "1"}
    arguments = list(map(str, command))
    done = subprocess.run(arguments, check=False, capture_output=True, text=True, cwd=folder, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheels(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The wheel that uv builds of the archive, and the one of a source distribution of the tagged tree."""
    tree, tagged = tmp_path_factory.mktemp("tree") / "checkout", tmp_path_factory.mktemp("tagged")
    built = shutil.ignore_patterns("build", "*.egg-info", "_version.py")
    shutil.copytree(wheel.parent / "checkout", tree, ignore=built)
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "commit.gpgsign=false")
    for step in (("init", "-q"), ("add", "."), ("commit", "-qm", "A release"), ("tag", f"v{VERSION}")):
        run(*git, *step, folder=tree)
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", tagged, folder=tree)
    return wheel, next(tagged.glob("*.whl"))


def files(wheel: Path) -> set[str]:
    with ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


def requirements(name: str, extras: tuple[str, ...] = ()) -> Iterator[Distribution]:
    """What is installed here of the distribution *name*, and of everything it needs."""
    found = distribution(name)
    yield found
    for requirement in map(Requirement, found.requires or ()):
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            yield from requirements(requirement.name, tuple(requirement.extras))


@pytest.fixture(scope="module")
def wheelhouse(wheels: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and, packed again from what is installed here, the wheels of what it needs."""
    folder = tmp_path_factory.mktemp("wheelhouse")
    shutil.copy(wheels[1], folder)
    needed = {str(needed.metadata["Name"]): needed for needed in requirements("clawmem")}
    del needed["clawmem"]
    for name, installed in needed.items():
        tags = re.findall(r"^Tag: (.+)-(.+)-(.+)$", installed.read_text("WHEEL") or "", re.MULTILINE)
        tag = "-".join(".".join(dict.fromkeys(part)) for part in zip(*tags, strict=True))
        with ZipFile(folder / f"{name.replace('-', '_')}-{installed.version}-{tag}.whl", "w") as archive:
            for file in installed.files or ():
                if ".." not in file.parts and file.suffix != ".pyc":
                    archive.write(str(file.locate()), str(file))
    return folder


def test_the_version_is_the_tag_or_that_of_the_archive(wheels: tuple[Path, Path]) -> None:
    """A tree without git has the version of the last release."""
    written = re.search(r'fallback_version = "(.+)"', (ROOT / "pyproject.toml").read_text("utf-8"))
    assert written
    assert [wheel.name.split("-")[1] for wheel in wheels] == [written[1], VERSION]


def test_the_package_is_in_and_nothing_else(wheels: tuple[Path, Path]) -> None:
    """Every module and data file of the tree, from both builds; nobody is sent the tests."""
    tree = [*ROOT.glob("*.py"), ROOT / "py.typed", *(p for f in FOLDERS for p in (ROOT / f).rglob("*"))]
    wanted = {
        f"clawmem/{path.relative_to(ROOT).as_posix()}"
        for path in tree
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {"clawmem/app/interfaces/web/templates/home.html", "clawmem/contracts/base.py"} <= wanted
    for wheel in wheels:
        assert files(wheel) == wanted | {"clawmem/app/_version.py"}


@pytest.mark.slow
def test_pipx_installs_it(wheelhouse: Path, tmp_path: Path) -> None:
    """In an empty home, without a network."""
    options = ("--python", sys.executable, "--pip-args", " ".join((*OFFLINE, str(wheelhouse))))
    run(SCRIPTS / "pipx", "install", *options, "clawmem", folder=tmp_path)

    assert (
        run(tmp_path / ".local" / "bin" / "clawmem", "--version", folder=tmp_path) == f"clawmem {VERSION}\n"
    )


@pytest.mark.slow
def test_uv_installs_it(wheelhouse: Path, tmp_path: Path) -> None:
    """In an empty home, without a network: a note is remembered and found, and the page has all its files."""
    options = ("--python", sys.executable, *OFFLINE, wheelhouse)
    run(SCRIPTS / "uv", "tool", "install", *options, "clawmem", folder=tmp_path)
    clawmem = tmp_path / ".local" / "bin" / "clawmem"
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "roof.md").write_text("# Roof\n\nThe roof was mended with slate in May.\n", "utf-8")

    run(clawmem, "bootstrap", notes, folder=tmp_path)
    run(clawmem, "remember", "The spare key hangs behind the blue door.", folder=tmp_path)
    assert "spare key" in run(clawmem, "query", "where does the spare key hang", folder=tmp_path)
    try:
        entrance = run(clawmem, "ui", "--print", folder=tmp_path).split()[-1]
        browser = build_opener(HTTPCookieProcessor())
        page = browser.open(entrance).read().decode()
        assets = re.findall(r'(?:src|href)="(/ui/static/[^"]+)"', page)
        assert "<h1" in page
        assert {Path(asset.partition("?")[0]).suffix for asset in assets} >= {".css", ".js"}
        for asset in assets:
            assert browser.open(entrance.partition("/ui")[0] + asset).read()
    finally:
        run(clawmem, "serve", "--stop", folder=tmp_path)
