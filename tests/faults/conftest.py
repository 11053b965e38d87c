from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from command_process import run_process
from hook_process import NOTES, Client
from notes_vault import NotesVault
from process_environ import process_environ
from typer.testing import CliRunner, Result

from clawmem.adapters.files.disk import DiskFiles
from clawmem.adapters.files.front_matter import parse_yaml
from clawmem.adapters.memory.clock import ManualClock
from clawmem.adapters.sqlite.vault import SqliteVault
from clawmem.adapters.system.clock import SystemClock
from clawmem.app.bootstrap.backends import backend_named
from clawmem.app.environment.process_identity import holder_id
from clawmem.app.services.indexes.engines import Engines
from clawmem.app.services.indexes.indexer import LEASE_MS, Indexer
from clawmem.app.services.indexes.vault import ServedVault
from clawmem.app.services.maintenance.verify import Verify
from clawmem.ports.records import Document, Grain, IndexRecord, IndexState, Role
from clawmem.ports.vault import Vault

NOBODY = 65534
LATER_MS = 2 * LEASE_MS  # by then, what a killed process held is free again


class World(NotesVault):
    """A folder, a vault over it, and everything that is done with the two."""

    @property
    def records(self) -> SqliteVault:
        """The records, by whomever they are served."""
        return self.vault

    def torn(self) -> list[str]:
        """Differences within the vault. Vectors that nobody uses any more are none: the next embedding clears them."""
        found = Verify(self.vault, DiskFiles(), (), parse_yaml, self.clock)()
        return [sentence for sentence in found if "clawmem embed takes them away" not in sentence]

    def body(self, path: str) -> str | None:
        """The stored body of a file."""
        return self.vault.documents.body(self.at(path).id)

    def paths(self) -> list[str]:
        """What is served."""
        return sorted(document.display_path for document in self.vault.documents.latest())

    def state(self) -> list[object]:
        """All that is kept, by what it says: neither numbers nor times of indexing."""
        return [*self.recorded(), *self.indexed()]

    def recorded(self) -> list[object]:
        """The records, in a form that only depends on the notes: two vaults over the same compare."""
        documents = self.vault.documents
        return [
            sorted(_told(self.vault, one) for one in (*documents.latest(), *documents.latest(active=False))),
            self.records._db.rows("select text_hash, hex(vector) from vectors order by 1"),
        ]

    def indexed(self) -> list[object]:
        """How much of the records the indexes hold, and what is said about the vectors."""
        embeddings = self.vault.embeddings
        return [
            {grain.value: self.vault.lexical.count(grain) for grain in Grain},
            self.vault.vectors.count(),
            embeddings.counts(),
            embeddings.fingerprint(),
        ]


def _told(vault: Vault, document: Document) -> tuple[str, ...]:
    facts = {name: getattr(document, name) for name in document.__slots__ if name not in ("id", "indexed_at")}
    fragments = [repr(part) for part in vault.documents.fragments(document.id)]
    return (document.display_path, repr(facts), str(vault.documents.body(document.id)), *fragments)


class ServedWorld(World):
    """A world whose vault can have its indexes outside, as every command opens it."""

    def open(self, *, read_only: bool = False, options: Mapping[str, str] | None = None) -> ServedVault:
        """Open the vault anew; what was open is closed."""
        self.close()
        self._records = SqliteVault(str(self.vault_file), read_only=read_only)
        engines = Engines(backend_named, f"{self.vault_file}.indexes", read_only=read_only, options=options)
        self.lease_clock = ManualClock(SystemClock().now_ms() + LATER_MS)
        self.indexer = Indexer(self._records, self.lease_clock, holder_id())
        self.vault = ServedVault(self._records, engines, self.indexer)
        return self.vault

    @property
    def records(self) -> SqliteVault:
        return self._records

    def serving(self, role: Role) -> IndexRecord:
        """The index outside that serves a role."""
        found = [r for r in self.vault.outbox.indexes() if r.role is role and r.state is IndexState.SERVING]
        assert found, role
        return found[0]

    def index_folder(self, role: Role) -> Path:
        """Where that index lies."""
        return Path(f"{self.vault_file}.indexes", f"{role}-{self.serving(role).generation}")

    def copy(self, name: str) -> ServedWorld:
        """Another vault of the same content, with indexes of its own, over the same notes."""
        self.vault.close()
        target = self.vault_file.with_name(f"{name}.sqlite")
        shutil.copy(self.vault_file, target)
        if Path(f"{self.vault_file}.indexes").exists():
            shutil.copytree(f"{self.vault_file}.indexes", f"{target}.indexes")
        self.open()
        return ServedWorld(self.root.parent, target)


@pytest.fixture
def vault_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the lanes of a process without local models find their vault."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CLAWMEM_NO_LOCAL_MODELS", "true")
    return tmp_path / "vault.sqlite"


@pytest.fixture(scope="session")
def served_world() -> type[ServedWorld]:
    """The class of such worlds, for those who need several or keep them for longer than a test."""
    return ServedWorld


@pytest.fixture
def served(tmp_path: Path) -> Iterator[ServedWorld]:
    """An empty folder and an empty vault, as every command opens it."""
    made = ServedWorld(tmp_path)
    yield made
    made.vault.close()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """An empty folder and an empty vault."""
    made = World(tmp_path)
    yield made
    made.vault.close()


@pytest.fixture
def worlds(tmp_path: Path) -> Iterator[Callable[..., World]]:
    """Makes worlds that share the folder ``notes``, each with a vault of its own name."""
    made: list[World] = []

    def make(name: str) -> World:
        made.append(World(tmp_path, tmp_path / f"{name}.sqlite"))
        return made[-1]

    yield make
    for one in made:
        one.vault.close()


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """What a process of clawmem sees: a home of its own, and no variable of this machine's user."""
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    return {**_environ_of(home), "INDEX_PATH": str(tmp_path / "vault.sqlite")}


def _environ_of(home: Path) -> dict[str, str]:
    return process_environ(home, USERPROFILE=str(home), NO_COLOR="1", CLAWMEM_NO_SERVER="1")


@pytest.fixture(scope="session")
def remembering_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a vault of a few notes and their vectors; to be copied."""
    home = tmp_path_factory.mktemp("home")
    for name, text in NOTES.items():
        (home / "notes").mkdir(exist_ok=True)
        (home / "notes" / name).write_text(text, "utf-8")
    run_process("bootstrap", "notes", environ=_environ_of(home), cwd=home, check=True)
    return home


@pytest.fixture
def client(remembering_home: Path, tmp_path: Path) -> Iterator[Client]:
    """A client over a vault of a few notes."""
    home = tmp_path / "home"
    shutil.copytree(remembering_home, home)
    made = Client(home, _environ_of(home))
    yield made
    made.close()


@pytest.fixture
def invoke(environ: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Run ``clawmem`` inside of this process over ``vault.sqlite``; the collection ``notes`` is configured."""
    from clawmem.app.interfaces.cli.command_line import cli

    for name in [name for name in os.environ if name.startswith(("CLAWMEM_", "XDG_"))]:
        monkeypatch.delenv(name)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    configure(tmp_path)
    monkeypatch.chdir(tmp_path / "home")

    def call(*args: object) -> Result:
        return CliRunner().invoke(cli, list(map(str, args)))

    return call


def configure(place: Path) -> None:
    """Write down the collection ``notes`` for a home next to it."""
    config = place / "home/.config/clawmem/config.yaml"
    config.parent.mkdir(parents=True, exist_ok=True)
    folder = str(place / "notes").replace("'", "''")
    config.write_text(f"collections:\n  notes:\n    path: '{folder}'\n", "utf-8")


@pytest.fixture
def unprivileged() -> Iterator[Path]:
    """A folder, and this process without the rights of a superuser, which permissions mean nothing to."""
    if sys.platform == "win32":
        pytest.skip("Windows has other permissions")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        was = os.geteuid()
        if was == 0:
            os.chown(folder, NOBODY, -1)
            try:
                os.seteuid(NOBODY)
            except OSError:
                pytest.skip("this superuser cannot step down")
        try:
            yield folder
        finally:
            os.seteuid(was)
            for path in [folder, *folder.rglob("*")]:
                path.chmod(0o700)
