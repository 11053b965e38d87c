"""The data package clawmem-minilm: built from a small model, installed beside everything else, found by itself."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any
from zipfile import ZipFile

import pytest
import tiny_minilm as tiny
from command_line import Invoke

from clawmem.adapters.models import catalogue
from clawmem.adapters.models.minilm import store
from clawmem.adapters.models.minilm.build import build

BUILD = Path(__file__).parents[2] / "packaging" / "minilm-wheel" / "build.py"


@pytest.fixture(scope="module")
def builder() -> ModuleType:
    """The script."""
    spec = spec_from_file_location("minilm_wheel", BUILD)
    assert spec and spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def wheel(builder: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package of a small model."""
    return builder.build_wheel(tiny.published(), tmp_path_factory.mktemp("dist"))


@pytest.fixture
def installed(wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The package's folder, where Python finds it."""
    place = tmp_path / "site-packages"
    with ZipFile(wheel) as archive:
        archive.extractall(place)
    monkeypatch.syspath_prepend(place)
    monkeypatch.setattr(catalogue.MiniLmModel, "dimensions", tiny.DIMENSIONS)
    return place / "clawmem_minilm"


def test_the_same_weights_give_the_same_bytes(
    builder: ModuleType, wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever builds it with the same packages gets the same file, at the time that he says."""
    again = builder.build_wheel(tiny.published(), tmp_path / "again")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    dated = [builder.build_wheel(tiny.published(), tmp_path / name).read_bytes() for name in ("a", "b")]

    assert again.read_bytes() == wheel.read_bytes()
    assert dated[0] == dated[1] != wheel.read_bytes()


def test_it_holds_data_and_a_licence(wheel: Path) -> None:
    """Not a line of code, the licence of the weights, and the name by which it is looked for."""
    with ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.endswith("RECORD")}
        licence = archive.read("clawmem_minilm-1.0.0.dist-info/licenses/LICENSE").decode()
        code = archive.read("clawmem_minilm/__init__.py").decode()

    data = {
        f"clawmem_minilm/{name}" for name in ("__init__.py", *(store.MODEL, store.TOKENIZER, store.MANIFEST))
    }
    about = {f"clawmem_minilm-1.0.0.dist-info/{name}" for name in ("METADATA", "WHEEL", "licenses/LICENSE")}
    assert names == data | about
    assert "Apache License" in licence
    assert compile(code, "", "exec").co_names == ("__doc__",)


def test_pip_installs_it(wheel: Path, tmp_path: Path) -> None:
    """The record fits the files, and nothing else is needed."""
    command = [
        "install",
        "--no-index",
        "--no-deps",
        "--no-compile",
        "--quiet",
        "--target",
        str(tmp_path),
        str(wheel),
    ]

    subprocess.run([sys.executable, "-m", "pip", *command], check=True, capture_output=True)

    assert store.faults(tmp_path / "clawmem_minilm") == []


def test_auto_takes_it_once_it_is_installed(installed: Path, tmp_path: Path) -> None:
    """No model has to be added, and the folder of models stays empty."""
    assert catalogue.selected("auto", tmp_path) == ("minilm", "the best that is there")

    embedder = catalogue.embedder_named("auto", tmp_path)

    assert embedder.fingerprint.startswith("minilm:48:int8:")
    assert len(embedder.embed_query("bees")) == 4 * tiny.DIMENSIONS
    assert catalogue.embedder_of(embedder.fingerprint, tmp_path)


def test_the_list_says_where_it_comes_from(installed: Path, invoke: Invoke) -> None:
    """It is there without being added, can be checked, and only pip takes it away."""
    assert (_state(invoke)["there"], _state(invoke)["origin"]) == (True, "clawmem-minilm")
    assert "clawmem-minilm" in invoke("models", "list").stdout
    assert invoke("models", "check", "minilm").exit_code == 0
    assert invoke("models", "use", "static").exit_code == 0

    refused = invoke("models", "remove", "minilm")

    assert (refused.exit_code, "pip uninstall clawmem-minilm" in refused.stderr) == (2, True)


def test_what_was_added_comes_before_what_was_installed(installed: Path, home: Path, invoke: Invoke) -> None:
    """An added model is somebody's decision; without it the package's is used again."""
    build(tiny.published(), home / ".local" / "share" / "clawmem" / "models" / "minilm")
    assert _state(invoke)["origin"] == "added"
    assert invoke("models", "use", "static").exit_code == 0

    assert invoke("models", "remove", "minilm").exit_code == 0

    assert _state(invoke)["origin"] == "clawmem-minilm"


def test_a_package_without_its_data_is_not_taken(installed: Path, tmp_path: Path) -> None:
    """Auto says what is wrong with it, and goes on with the static vectors."""
    (installed / store.MANIFEST).write_text("{", "utf-8")

    name, reason = catalogue.selected("auto", tmp_path)

    assert (name, "cannot be used" in reason) == ("static", True)


@pytest.mark.slow
def test_the_published_package(builder: ModuleType, tmp_path: Path) -> None:
    """The real one is twenty megabytes, twice the same."""
    from clawmem.adapters.models.minilm.weights import published_files

    published = published_files(None)
    first, second = (builder.build_wheel(published, tmp_path / name) for name in ("a", "b"))

    assert 15e6 < first.stat().st_size < 24e6
    assert first.read_bytes() == second.read_bytes()


def _state(invoke: Invoke) -> dict[str, Any]:
    rows: list[dict[str, Any]] = json.loads(invoke("--json", "models", "list").stdout)["models"]
    return next(row for row in rows if row["name"] == "minilm")
