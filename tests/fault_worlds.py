"""Vaults to which something happens, with everything that is compared before and after."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from notes_vault import NotesVault
from wired import verify

from clawmem.adapters.files.disk import DiskFiles
from clawmem.adapters.memory.clock import ManualClock
from clawmem.adapters.sqlite.records import stored_vectors
from clawmem.adapters.sqlite.vault import open_vault
from clawmem.adapters.system.clock import SystemClock
from clawmem.app.bootstrap.lazy import backend_named
from clawmem.app.environment.places import holder_id
from clawmem.app.services.indexing.external import ExternalIndexes
from clawmem.app.services.indexing.replication import LEASE_MS, Engines, Indexer
from clawmem.ports.records import Document, Grain, IndexRecord, IndexState, Role
from clawmem.ports.vault import Vault

LATER_MS = 2 * LEASE_MS  # by then, what a killed process held is free again


class World(NotesVault):
    """A folder, a vault over it, and everything that is done with the two."""

    @property
    def records(self) -> Vault:
        """The records, by whomever they are served."""
        return self.vault

    def fill(self, notes: int = 12) -> None:
        """Take in so many notes of one shape, with vectors."""
        for number in range(notes):
            text = f"Words of animal{number} in the zoo.\n\n" * 20
            self.write(f"n{number}.md", f"# Note {number}\n\n{text}")
        self.update()
        self.embed()

    def torn(self) -> list[str]:
        """Differences within the vault. Vectors that nobody uses any more are none: the next embedding clears them."""
        found = verify(self.vault, DiskFiles(), ())
        return [sentence for sentence in found if "clawmem embed takes them away" not in sentence]

    def body(self, path: str) -> str | None:
        return self.vault.documents.body(self.at(path).id)

    def paths(self) -> list[str]:
        return sorted(document.display_path for document in self.vault.documents.latest())

    def state(self) -> list[object]:
        """All that is kept, by what it says: neither numbers nor times of indexing."""
        return [*self.recorded(), *self.indexed()]

    def recorded(self) -> list[object]:
        """The records, in a form that only depends on the notes: two vaults over the same compare."""
        documents = self.vault.documents
        return [
            sorted(_told(self.vault, one) for one in (*documents.latest(), *documents.latest(active=False))),
            sorted(self.stored_vectors()),
        ]

    def stored_vectors(self) -> list[tuple[Any, Any]]:
        """The hash of each embedded text of the serving space, with its int8 vector."""
        tables = stored_vectors(self.records.storage.db)
        return [(row[2], row[3]) for table in tables if table.name == "texts" for row in table.rows]

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

    def open(self, *, read_only: bool = False, options: Mapping[str, str] | None = None) -> Vault:
        """Open the vault anew; what was open is closed."""
        self.close()
        self._records = open_vault(str(self.vault_file), read_only=read_only)
        engines = Engines(
            backend_named, f"{self.vault_file}.indexes", read_only=read_only, options=options or {}
        )
        self.lease_clock = ManualClock(SystemClock().now_ms() + LATER_MS)
        self.indexer = Indexer(self._records, self.lease_clock, holder_id())
        self.indexes = ExternalIndexes(self._records, engines, self.indexer)
        self.vault = self.indexes.vault
        return self.vault

    @property
    def records(self) -> Vault:
        return self._records

    def serving(self, role: Role) -> IndexRecord:
        found = [r for r in self.vault.outbox.indexes() if r.role is role and r.state is IndexState.SERVING]
        assert found, role
        return found[0]

    def index_folder(self, role: Role) -> Path:
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
