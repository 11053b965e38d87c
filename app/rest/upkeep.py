"""The vault itself: what is in it, what is wrong with it, and keeping up with the files."""

from __future__ import annotations

import os
from typing import Any

from pydantic import Field
from typing_extensions import TypedDict

from clawmem.app.opened import Services
from clawmem.app.places import client_folder, client_servers
from clawmem.app.records.collections import Collection, collections_of
from clawmem.app.records.stats import IndexStats, stats_of, status_of
from clawmem.app.rest.health import Health, health_record
from clawmem.app.rest.operation import Asked, Nothing, changing, reading
from clawmem.app.rest.questions import Names, listed
from clawmem.app.services.indexing.embed import EmbedReport
from clawmem.app.services.indexing.update import PassReport
from clawmem.app.services.knowledge.enriching import EnrichReport
from clawmem.app.services.maintenance.finding import CheckResult
from clawmem.app.services.maintenance.server_checks import client_findings
from clawmem.app.services.maintenance.status import StatusReport
from clawmem.ports.errors import NotFound


class Which(Asked):
    """Which collections."""

    collection: Names = Field([], description="Only these collections; all without.")


class Again(Which):
    """Which collections, and how thoroughly."""

    force: bool = Field(False, description="Also the files that look unchanged.")
    enrich: bool = Field(
        False, description="Then enrich new and changed documents, and those that another model described."
    )


class Update(Which):
    """Which collections, and whether for meaning too."""

    embed: bool = Field(False, description="Then make the vectors that are missing.")


class Anew(Asked):
    """Which vectors."""

    force: bool = Field(False, description="All of them anew, not only those that are missing.")


class Collections(TypedDict):
    """Every one of them."""

    count: int
    collections: list[Collection]


class Stats(Health):
    """Health, and the vault in numbers."""

    documents: int
    needsEmbedding: int  # noqa: N815
    collections: list[Collection]


class Read(TypedDict):
    """
    What passes over the files found; ``lagging`` says which index could not be brought up to date.

    ``embed`` and ``enrich`` are what was done after them, null where nobody asked for it.
    """

    collections: list[PassReport]
    added: int
    updated: int
    removed: int
    embed: EmbedReport | None
    enrich: EnrichReport | None
    lagging: dict[str, str]


class Embedded(TypedDict):
    """What was embedded; ``lagging`` as for a pass over the files."""

    embed: EmbedReport
    lagging: dict[str, str]


def status(services: Services, asked: Nothing) -> StatusReport:
    """What the vault holds and how far its vectors are."""
    return status_of(services)


def stats(services: Services, asked: Nothing) -> Stats:
    """Whether it answers, and how many documents of which collections there are."""
    return {
        **health_record(services.vault, str(services.settings.vault)),
        "documents": sum(services.vault.documents.collections().values()),
        "needsEmbedding": services.vault.embeddings.counts().pending,
        "collections": collections_of(services.settings, services.vault.documents),
    }


def index_stats(services: Services, asked: Nothing) -> IndexStats:
    """The vault in numbers, and its last sessions."""
    return stats_of(services)


def collections(services: Services, asked: Nothing) -> Collections:
    """Every collection, with its folder and how many documents of it are served."""
    found = collections_of(services.settings, services.vault.documents)
    return {"count": len(found), "collections": found}


def doctor(services: Services, asked: Nothing) -> list[CheckResult]:
    """Look for what is wrong around the vault, and say how to put it right."""
    return [*services.doctor(), *client_findings(client_folder(os.environ), client_servers(os.environ))]


def verify(services: Services, asked: Nothing) -> list[str]:
    """Every difference between files, records and indexes, after the indexes have caught up."""
    return [*_kept_up(services).values(), *services.verify()]


def update(services: Services, asked: Update) -> dict[str, Any]:
    """Read what is new and changed."""
    read = _read(services, asked)
    embedded = services.embed() if asked.embed else None
    return {**read, "embed": embedded, "enrich": None, "lagging": _kept_up(services)}


def reindex(services: Services, asked: Again) -> dict[str, Any]:
    """Read every file again that looks changed, or any; then, if asked for, enrich them."""
    read = _read(services, asked, force=asked.force)
    enriched = services.enrich()(anew=True) if asked.enrich else None
    return {**read, "embed": None, "enrich": enriched, "lagging": _kept_up(services)}


def embed(services: Services, asked: Anew) -> Embedded:
    """Make the vectors that are missing, or all of them anew."""
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
