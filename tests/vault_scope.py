"""Three vaults that hold the same words and one word of their own each, and who looks after whom is opened."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from clawmem.adapters.sqlite.database import Database
from clawmem.app.bootstrap.opening import open_services
from clawmem.app.settings.model import Settings, load_settings
from clawmem.app.settings.vaults import of_vault
from clawmem.domain.knowledge.entities import entity_id
from clawmem.ports.knowledge import Entity, Triple
from clawmem.ports.sessions import Session

USUAL, OPEN, CLOSED = "usual", "open", "closed"
OWN = {USUAL: "quokka", OPEN: "numbat", CLOSED: "bilby"}  # a word, and the name of the folder
NOTE, OTHER = "den.md", "burrow.md"
QUESTION = "why does the animal sleep by day?"


class World:
    """
    The vaults *USUAL*, *OPEN* and *CLOSED* below *home*, the last two by name, and what a process of theirs sees.

    Each has a note called ``notes/den.md``, where only the word of its own says which animal is meant.
    """

    def __init__(self, home: Path) -> None:
        self.home = home
        self.places = {name: home / name / f"{name}.sqlite" for name in OWN}
        self.environ = {
            "HOME": str(home),
            "INDEX_PATH": str(self.places[USUAL]),
            "CLAWMEM_CONFIG_DIR": str(home / "config"),
            "CLAWMEM_NO_LOCAL_MODELS": "true",
        }
        self._configure()
        self._fill(self.settings(), USUAL)
        for name in (OPEN, CLOSED):
            self._fill(of_vault(self.settings(), name), name)
        self.before = self.closed()

    def settings(self) -> Settings:
        """Those of the usual vault."""
        return load_settings(environ=self.environ)

    def folder(self, name: str) -> Path:
        """The notes of a vault, in a folder called by its word."""
        return self.home / OWN[name]

    def closed(self) -> dict[str, tuple[bytes, int]]:
        """Every file of the vault that nobody asks: bytes, and when it was changed."""
        files = sorted(self.places[CLOSED].parent.rglob("*"))
        return {str(one): (one.read_bytes(), one.stat().st_mtime_ns) for one in files if one.is_file()}

    @contextmanager
    def opening(self, *allowed: str) -> Iterator[None]:
        """Fails when a vault is opened that is none of *allowed*, or another than those is changed."""
        opened: list[str] = []
        really = Database.__init__

        def spy(self: Database, path: str, **options: Any) -> None:
            opened.append(path)
            really(self, path, **options)

        with patch.object(Database, "__init__", spy):
            yield
        assert {*opened} - {":memory:"} <= {str(self.places[name]) for name in allowed}
        assert self.closed() == self.before

    def told(self, answer: str, *allowed: str) -> None:
        """Fails when *answer* says anything of a vault that is none of *allowed*."""
        assert [word for name, word in OWN.items() if name not in allowed and word in answer.lower()] == []

    def _configure(self) -> None:
        named = "".join(f"  {name}: {self.places[name]}\n" for name in (OPEN, CLOSED))
        folder = (
            f"collections: {{notes: {{path: {self.folder(USUAL)}}}}}\nsync_folders: [{self.folder(OPEN)}]\n"
        )
        (self.home / "config").mkdir()
        (self.home / "config/config.yaml").write_text(f"{folder}vaults:\n{named}", "utf-8")

    def _fill(self, settings: Settings, name: str) -> None:
        word = OWN[name]
        self.folder(name).mkdir()
        den, burrow = (
            f"# Den\n\nThe {word} sleeps by day.\n",
            f"# Burrow\n\nAn animal, the {word}, digs it.\n",
        )
        (self.folder(name) / NOTE).write_text(den, "utf-8")
        (self.folder(name) / OTHER).write_text(burrow, "utf-8")
        with open_services(settings) as services:
            services.sync(str(self.folder(name)), "notes")
            services.embed()
            animal, box = (Entity(entity_id(one, "concept"), one, "concept") for one in ("Animal", word))
            with services.vault.transactions.writing():
                said = services.lookup.find(f"notes/{NOTE}").id
                services.vault.sessions.save(Session(word, "2026-01-02T09:00:00.000Z", summary=word))
                services.vault.entities.set_mentions(said, [animal, box])
                services.vault.triples.add([Triple(animal, "is", box, said, "2026-01-02", said=word)])
