"""Choosing who keeps the indexes: by name, from whichever package, and what is said when that cannot be."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from command_line import Invoke
from typer.testing import Result

# What a package brings along: an engine of its own would do, here it is one that is at hand.
ACME = """
import json
from pathlib import Path
from clawmem.adapters.tantivy.backend import discard, open_lexical
from clawmem.ports.indexes import Backend

def open_and_tell(place):
    index = open_lexical(place)
    Path(place.folder + ".json").write_text(json.dumps(dict(place.options)), "utf-8")
    return index

BACKEND = Backend("acme", lexical=open_and_tell, discard=discard)
NOTHING = "a string"
"""
ENTRY_POINTS = "[clawmem.backends]\nacme = acme_backend:BACKEND\nhollow = acme_backend:NOTHING\n"
METADATA = "Metadata-Version: 2.1\nName: acme-backend\nVersion: 1.0\n"


@pytest.fixture
def acme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of installed packages with one that brings backends."""
    packages = tmp_path / "packages"
    described = packages / "acme_backend-1.0.dist-info"
    described.mkdir(parents=True)
    (packages / "acme_backend.py").write_text(ACME, "utf-8")
    (described / "METADATA").write_text(METADATA, "utf-8")
    (described / "entry_points.txt").write_text(ENTRY_POINTS, "utf-8")
    monkeypatch.syspath_prepend(str(packages))
    return packages


@pytest.fixture
def vault(home: Path) -> Path:
    return home / ".cache/clawmem/index.sqlite"


def info(invoke: Invoke, *options: str) -> dict[str, Any]:
    done = invoke("--json", *options, "status")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)["info"]


def refused(done: Result) -> str:
    """The sentence that a command ended with; fails unless the configuration was refused."""
    assert (done.exit_code, done.stdout) == (4, "")
    assert done.stderr.count("\n") == 1
    return done.stderr


class TestANewVault:
    @pytest.mark.parametrize(
        ("backend", "words", "vectors"),
        [("tantivy", "tantivy", "sqlite-vec"), ("lancedb", "lancedb", "lancedb")],
    )
    def test_bootstrap(self, invoke: Invoke, notes: Path, backend: str, words: str, vectors: str) -> None:
        """It is kept by the backend that was asked for, which later commands need not name."""
        done = invoke("--backend", backend, "bootstrap", notes)

        said = info(invoke)
        assert done.exit_code == 0, done.output
        assert (said["backend"], said["lexical_method"], said["vector_method"]) == (backend, words, vectors)
        assert "haruka.md" in invoke("search", "ticket machines").stdout
        assert "haruka.md" in invoke("query", "--mode", "vectors", "who designs ticket machines").stdout
        assert invoke("doctor", "--verify").exit_code == 0

    @pytest.mark.parametrize("name", ["oracle", "hollow"])
    def test_one_that_cannot_be(
        self, invoke: Invoke, notes: Path, acme: Path, vault: Path, home: Path, name: str
    ) -> None:
        """It is refused in one sentence, before anything is made or written down."""
        said = refused(invoke("--backend", name, "bootstrap", notes))

        assert repr(name) in said
        assert not vault.exists()
        assert not (home / ".config").exists()


class TestAVaultInUse:
    def test_another_one(self, remembered: Invoke) -> None:
        """Asking for another backend than the one that keeps the indexes is refused, with the way there."""
        said = refused(remembered("--backend", "tantivy", "search", "machines"))

        assert "stored by 'sqlite', not by 'tantivy'" in said
        assert "clawmem rebuild --backend tantivy" in said
        assert info(remembered)["backend"] == "sqlite"

    def test_a_package_that_went_away(
        self, invoke: Invoke, notes: Path, acme: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The vault still opens, and answers with what it has itself."""
        invoke("--backend", "acme", "bootstrap", notes)
        monkeypatch.syspath_prepend("")  # forgets what was found before
        (acme / "acme_backend-1.0.dist-info/entry_points.txt").unlink()

        done = invoke("query", "who designs ticket machines")

        assert done.exit_code == 0, done.output
        assert "haruka.md" in done.stdout
        assert "degraded: lexical" in done.stderr


class TestAMissingPackage:
    """The engine's package cannot be imported."""

    @pytest.fixture
    def without(self, invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> Invoke:
        def call(package: str, *args: object) -> Result:
            with monkeypatch.context() as patch:
                for name in [name for name in sys.modules if name.startswith(f"clawmem.adapters.{package}")]:
                    patch.delitem(sys.modules, name)
                patch.setitem(sys.modules, package, None)
                return invoke(*args)

        return call

    @pytest.mark.parametrize("package", ["tantivy", "lancedb"])
    def test_migrating_to_it(self, remembered: Invoke, without: Invoke, package: str) -> None:
        """It is refused with what to install, and the vault goes on as it was."""
        done = without(package, "rebuild", "--backend", package)

        assert (done.exit_code, done.stdout) == (4, "")
        assert f"pip install './clawmem[{package}]" in done.stderr
        assert done.stderr.count("\n") == 1
        assert info(remembered)["backend"] == "sqlite"
        assert "haruka.md" in remembered("search", "ticket machines").stdout

    def test_of_a_vault_in_use(self, invoke: Invoke, notes: Path, without: Invoke) -> None:
        """Asking says what is missing; writing goes on, and is carried when the package is there again."""
        invoke("--backend", "tantivy", "bootstrap", notes)
        (notes / "comet.md").write_text("# Comet\n\nA comet was seen.\n", "utf-8")

        updated = without("tantivy", "update")
        asked = without("tantivy", "search", "comet")
        status = without("tantivy", "status")

        assert updated.exit_code == 0
        assert "The lexical index lags" in updated.stderr
        assert "pip install './clawmem[tantivy]" in updated.stderr
        assert "comet.md" in asked.stdout
        assert "degraded: lexical" in asked.stderr
        assert "pip install './clawmem[tantivy]" in status.stdout
        assert invoke("update").exit_code == 0
        assert invoke("doctor", "--verify").exit_code == 0
