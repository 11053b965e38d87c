"""Maintenance of the vault: its content, its problems, and indexing of files."""

from __future__ import annotations

import os
from typing import Any

from pydantic import Field
from typing_extensions import TypedDict

from clawmem.app.bootstrap.services import Services
from clawmem.app.interfaces.rest.health import Health, health
from clawmem.app.interfaces.rest.operation import Asked, Nothing, changing, reading
from clawmem.app.operations.fields import Names, listed
from clawmem.app.places import client_folder, client_servers
from clawmem.app.records.collections import Collection, collections_of
from clawmem.app.records.stats import IndexStats, stats_of, status_of
from clawmem.app.services.indexing.embed import EmbedReport
from clawmem.app.services.indexing.update import PassReport
from clawmem.app.services.knowledge.enriching import EnrichReport
from clawmem.app.services.maintenance.finding import CheckResult
from clawmem.app.services.maintenance.server_checks import client_findings
from clawmem.app.services.maintenance.status import StatusReport
from clawmem.ports.errors import NotFound


class Which(Asked):
    """The collections of the request."""

    collection: Names = Field([], description="Only these collections; all without.")


class Again(Which):
    """The collections, and how thoroughly they are read."""

    force: bool = Field(False, description="Also the files that look unchanged.")
    enrich: bool = Field(
        False, description="Then enrich new and changed documents, and those that another model described."
    )


class Update(Which):
    """The collections, and whether they are embedded."""

    embed: bool = Field(False, description="Then make the vectors that are missing.")


class Anew(Asked):
    """The texts to embed."""

    force: bool = Field(False, description="All of them anew, not only those that are missing.")


class Collections(TypedDict):
    """All collections."""

    count: int
    collections: list[Collection]


class Stats(Health):
    """Health, and the numbers of the vault."""

    documents: int
    needsEmbedding: int  # noqa: N815
    collections: list[Collection]


class Read(TypedDict):
    """
    The results of the passes over the files; ``lagging`` lists indexes that could not be updated.

    ``embed`` and ``enrich`` are the results of the work after the passes, null if it was not requested.
    """

    collections: list[PassReport]
    added: int
    updated: int
    removed: int
    embed: EmbedReport | None
    enrich: EnrichReport | None
    lagging: dict[str, str]


class Embedded(TypedDict):
    """The result of embedding; ``lagging`` lists indexes that could not be updated."""

    embed: EmbedReport
    lagging: dict[str, str]


def status(services: Services, asked: Nothing) -> StatusReport:
    """Return the content of the vault and the state of its vectors."""
    return status_of(services)


def stats(services: Services, asked: Nothing) -> Stats:
    """Return the health, and the number of documents in each collection."""
    return {
        **health(services, asked),
        "documents": sum(services.vault.documents.collections().values()),
        "needsEmbedding": services.vault.embeddings.counts().pending,
        "collections": collections_of(services.settings, services.vault.documents),
    }


def index_stats(services: Services, asked: Nothing) -> IndexStats:
    """The vault in numbers, and its last sessions."""
    return stats_of(services)


def collections(services: Services, asked: Nothing) -> Collections:
    """List the collections with their folders and numbers of documents."""
    found = collections_of(services.settings, services.vault.documents)
    return {"count": len(found), "collections": found}


def doctor(services: Services, asked: Nothing) -> list[CheckResult]:
    """Check the vault and its environment, and report remedies."""
    return [*services.doctor(), *client_findings(client_folder(os.environ), client_servers(os.environ))]


def verify(services: Services, asked: Nothing) -> list[str]:
    """List the differences between files, records and indexes, after updating the indexes."""
    return [*_kept_up(services).values(), *services.verify()]


def update(services: Services, asked: Update) -> dict[str, Any]:
    """Read new and changed files."""
    read = _read(services, asked)
    embedded = services.embed() if asked.embed else None
    return {**read, "embed": embedded, "enrich": None, "lagging": _kept_up(services)}


def reindex(services: Services, asked: Again) -> dict[str, Any]:
    """Read changed files again, or with force all files; on request, enrich them."""
    read = _read(services, asked, force=asked.force)
    enriched = services.enrich()(anew=True) if asked.enrich else None
    return {**read, "embed": None, "enrich": enriched, "lagging": _kept_up(services)}


def embed(services: Services, asked: Anew) -> Embedded:
    """Embed new and changed text; with force, embed everything again."""
    return {"embed": services.embed(force=asked.force), "lagging": _kept_up(services)}


def _read(services: Services, asked: Which, *, force: bool = False) -> dict[str, Any]:
    wanted, known = listed(asked.collection), [folder.name for folder in services.folders]
    for name in wanted:
        if name not in known:
            raise NotFound("collection", name, suggestions=known)
    folders = [folder for folder in services.folders if not wanted or folder.name in wanted]
    passes = [services.update(folder, force=force) for folder in folders]
    return {
        "collections": passes,
        "added": sum(one.added for one in passes),
        "updated": sum(one.updated for one in passes),
        "removed": sum(one.removed for one in passes),
    }


def _kept_up(services: Services) -> dict[str, str]:
    if not services.settings.read_only:
        services.vault.keep_up()
    return {str(role): reason for role, reason in services.vault.lagging.items()}


OPERATIONS = (
    reading("GET", "/status", Nothing, StatusReport, status),
    reading("GET", "/stats", Nothing, Stats, stats),
    reading("GET", "/index-stats", Nothing, IndexStats, index_stats),
    reading("GET", "/collections", Nothing, Collections, collections),
    changing("/doctor", Nothing, list[CheckResult], doctor),
    changing("/verify", Nothing, list[str], verify),
    changing("/update", Update, Read, update),
    changing("/reindex", Again, Read, reindex),
    changing("/embed", Anew, Embedded, embed),
)
