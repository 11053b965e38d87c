"""A folder of notes, the vault that indexes it, and the use cases over both."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from vault_stores import retrieval_stores
from wired import embed_pending, publisher, update_collection, verify

from clawmem.adapters.files.disk import DiskFiles
from clawmem.adapters.files.front_matter import parse_front_matter
from clawmem.adapters.memory.clock import START_MS, ManualClock
from clawmem.adapters.memory.models import HashingEmbedder
from clawmem.adapters.sqlite.vault import open_vault
from clawmem.app.bootstrap.lazy import backend_named
from clawmem.app.services.indexing.embed import EmbedReport
from clawmem.app.services.indexing.external import ExternalIndexes
from clawmem.app.services.indexing.folders import Folder
from clawmem.app.services.indexing.replication import Engines, Indexer
from clawmem.app.services.indexing.update import PassReport
from clawmem.app.services.retrieval.pipelines import Pipeline, query, search, vsearch
from clawmem.app.services.retrieval.request import RetrievalRequest, read_request
from clawmem.ports.clock import Clock
from clawmem.ports.errors import EmbeddingError
from clawmem.ports.files import FileSource
from clawmem.ports.models import Embedder
from clawmem.ports.records import Document, InactiveReason, Vector
from clawmem.ports.vault import Vault

HOUR_NS = 3_600_000_000_000
VERBS = ("search", "vsearch", "query")
STORIES = {
    "kettle.md": "The kettle whistles in C sharp. Descale it with vinegar.\n",
    "ferry.md": "The ferry leaves at dawn and takes bicycles.\n",
    "orchard.md": "Pears ripen in the orchard behind the mill.\n",
    "lantern.md": "A lantern hangs in the harbour, green for starboard.\n",
    "quarry.md": "Granite from the quarry paves the market square.\n",
    "saddle.md": "The saddle was stitched by a cobbler in Lisbon.\n",
}
VECTORS = 2 * len(STORIES)  # of each the whole, and its only passage
ASKED = {
    "descale the kettle with vinegar": "kettle.md",
    "when does the ferry leave": "ferry.md",
    "pears in the orchard": "orchard.md",
    "a green lantern in the harbour": "lantern.md",
    "granite of the market square": "quarry.md",
    "a saddle stitched in Lisbon": "saddle.md",
}


class WideEmbedder(HashingEmbedder):
    """Another model, whose vectors are twice as long."""

    fingerprint = "hashing-twice"
    dimensions = 2 * HashingEmbedder.dimensions

    def embed_query(self, text: str) -> Vector:
        return super().embed_query(text) + bytes(4 * HashingEmbedder.dimensions)


class RenamedEmbedder(HashingEmbedder):
    """The same numbers under the name of another model."""

    fingerprint = "another-model"


class MuteEmbedder(HashingEmbedder):
    """An embedder whose service is down."""

    def embed_query(self, text: str) -> Vector:
        raise EmbeddingError("The embedding service does not answer.")


def paths(answer: Any) -> list[str]:
    return [result.document.path for result in answer.results]


class NotesVault:
    """The folder ``notes`` below *place*, and a vault over it."""

    def __init__(self, place: Path, vault_file: Path | None = None, **options: Any) -> None:
        self.place = place
        self.root = place / "notes"
        self.root.mkdir(parents=True, exist_ok=True)
        self.vault_file = vault_file or place / "vault.sqlite"
        self.clock: Clock = ManualClock()
        self.embedder: Embedder = HashingEmbedder()
        self.files: FileSource = DiskFiles()
        self.vault: Any = None
        self.vault = self.open(**options)

    def open(self, *, read_only: bool = False) -> Any:
        """Open the vault again; an open one is closed."""
        self.close()
        self.vault = open_vault(str(self.vault_file), read_only=read_only)
        return self.vault

    def close(self) -> None:
        if self.vault is not None:
            self.vault.close()

    # -- files --------------------------------------------------------------------------------------

    def write(self, path: str, text: str | bytes, *, collection: str = "notes", hours_ago: float = 2) -> Path:
        """Write a file that was changed *hours_ago*."""
        file = self.place / collection / path
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_name(f"{file.name}.part")
        part.write_bytes(text.encode() if isinstance(text, str) else text)
        changed_ns = START_MS * 1_000_000 - int(hours_ago * HOUR_NS)
        os.utime(part, ns=(changed_ns, changed_ns))
        # In one step: another process that reads the file in between would take the time of writing for its own.
        return part.replace(file)

    def folder(self, name: str = "notes", root: Path | None = None) -> Folder:
        return Folder(name, str(root or self.place / name))

    # -- use cases ----------------------------------------------------------------------------------

    def add(self, texts: Mapping[str, str], *, force: bool = False) -> PassReport:
        """Write *texts* by path and run a pass."""
        for path, text in texts.items():
            self.write(path, text)
        return self.update(force=force)

    def take_in(
        self,
        texts: Mapping[str, str],
        collection: str = "notes",
        *,
        vectors: bool = True,
        hours_ago: float = 2,
    ) -> Self:
        """Write *texts* by path, index them, and embed them."""
        for path, text in texts.items():
            self.write(path, text, collection=collection, hours_ago=hours_ago)
        self.update(self.folder(collection))
        if vectors:
            self.embed()
        return self

    def update(self, folder: Folder | None = None, *, force: bool = False) -> PassReport:
        run = update_collection(self.vault, self.files, self.clock, parse_front_matter)
        return run(folder or self.folder(), force=force)

    def embed(self, *, force: bool = False) -> EmbedReport:
        """Embed everything that waits for a vector."""
        return embed_pending(self.vault, self.embedder)(force=force)

    def remove(self, path: str) -> None:
        """Delete a file and run a pass."""
        (self.root / path).unlink()
        self.update()

    def withdraw(self, path: str, reason: InactiveReason = InactiveReason.FORGOTTEN) -> None:
        """Stop serving a file's document."""
        with self.vault.transactions.writing():
            publisher(self.vault).withdraw([self.id(path)], reason)

    def verify(self, *folders: Folder) -> list[str]:
        """Return the differences between disk, records and indexes."""
        return verify(self.vault, DiskFiles(), folders or (self.folder(),))

    # -- questions ----------------------------------------------------------------------------------

    def request(self, question: str, **options: Any) -> RetrievalRequest:
        """Return a request that hides no result unless *options* say so."""
        return read_request(question, now_ms=self.clock.now_ms(), **{"show_all": True, **options})

    def pipeline(self, verb: str) -> Pipeline:
        if verb == "search":
            return search(retrieval_stores(self.vault))
        return {"vsearch": vsearch, "query": query}[verb](retrieval_stores(self.vault), self.embedder)

    def ask(self, question: str, verb: str = "search", **options: Any) -> Any:
        return self.pipeline(verb)(self.request(question, **options))

    def found(self, question: str, verb: str = "search", **options: Any) -> list[str]:
        """Return the paths of the answer to *question*, best first."""
        return paths(self.ask(question, verb, **options))

    # -- records ------------------------------------------------------------------------------------

    def at(self, path: str, collection: str = "notes") -> Document:
        """Return the document of a file, served or not."""
        document = self.vault.documents.at(collection, path)
        assert document is not None, path
        return document  # type: ignore[no-any-return]

    def id(self, path: str, collection: str = "notes") -> int:
        """Return the number of a file's document."""
        return self.at(path, collection).id


class ServedNotesVault(NotesVault):
    """Notes whose indexes may lie outside of the vault; each `open` returns one more handle."""

    def __init__(self, place: Path) -> None:
        self._opened: list[ExternalIndexes] = []
        super().__init__(place)

    def open(self, *, read_only: bool = False) -> Vault:
        """Open one more handle; the records of the last one for writing are ``records``."""
        records = open_vault(str(self.vault_file), read_only=read_only)
        if not read_only:
            self.records = records
        engines = Engines(backend_named, f"{self.vault_file}.indexes", read_only=read_only)
        indexer = Indexer(records, self.clock, f"holder {len(self._opened)}")
        self._opened.append(ExternalIndexes(records, engines, indexer))
        return self._opened[-1].vault

    @property
    def indexes(self) -> ExternalIndexes:
        return next(indexes for indexes in self._opened if indexes.vault is self.vault)

    def close(self) -> None:
        for indexes in self._opened:
            indexes.vault.close()
