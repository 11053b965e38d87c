"""Tools about the vault itself: status, index_stats, list_vaults, vault_sync, reindex, embed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

from mcp.server.mcpserver import Context
from mcp.types import CallToolResult
from pydantic import Field

from clawmem.app.interfaces.mcp import schemas
from clawmem.app.interfaces.mcp.calling import answer
from clawmem.app.interfaces.mcp.instructions import GUIDE
from clawmem.app.interfaces.mcp.progress import steps_for
from clawmem.app.operations.answering import sessions_of
from clawmem.app.records.collections import collections_of
from clawmem.app.records.parameters import Vault
from clawmem.app.records.stats import stats_of
from clawmem.app.serve.dispatcher import Dispatcher
from clawmem.ports.errors import EmbeddingError

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services
    from clawmem.app.services.indexing.update import PassReport, Progress


class VaultTools:
    """What the vault holds, and keeping it up."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher

    async def guide(self) -> Annotated[CallToolResult, schemas.Guide]:
        """Which tool to use when. Read this before you look anything up."""
        return answer(GUIDE, schemas.Guide(guide=GUIDE))

    async def status(self, vault: Vault = None) -> Annotated[CallToolResult, schemas.Status]:
        """What the vault holds: documents, vectors, collections."""

        def work(services: Services) -> schemas.Status:
            report = services.status()
            return schemas.Status(
                vault=str(services.settings.vault),
                total_documents=report.documents,
                needs_embedding=report.embeddings.pending,
                has_vectors=report.embeddings.stored > 0,
                model=report.model,
                collections=[
                    schemas.Collection(**one)
                    for one in collections_of(services.settings, services.vault.documents)
                ],
                content_types=report.content_types,
                newest=report.newest,
            )

        said = await self._dispatcher.read(work, vault)
        lines = [
            f"{one.name}: {one.documents} documents {one.path or ''}".rstrip() for one in said.collections
        ]
        head = f"{said.total_documents} documents, {said.needs_embedding} texts wait for vectors"
        return answer("\n".join([head, *lines]), said)

    async def index_stats(self, vault: Vault = None) -> Annotated[CallToolResult, schemas.Stats]:
        """The vault in numbers, and its last sessions."""

        def work(services: Services) -> schemas.Stats:
            found = stats_of(services)
            sessions = sessions_of(found["recent_sessions"])
            return schemas.Stats.model_validate({**found, "recent_sessions": sessions})

        said = await self._dispatcher.read(work, vault)
        return answer("\n".join(f"{name}: {value}" for name, value in schemas.plain(said).items()), said)

    async def list_vaults(self) -> Annotated[CallToolResult, schemas.Vaults]:
        """Further vaults by name; their names are what the parameter vault takes."""
        said = schemas.Vaults(
            vaults={name: str(path) for name, path in self._dispatcher.settings.vaults.items()}
        )
        return answer("\n".join(f"{name}: {path}" for name, path in said.vaults.items()), said)

    async def reindex(
        self,
        ctx: Context[Any, Any],
        enrich: Annotated[
            bool, Field(description="Then find keywords, names and links of new and changed documents.")
        ] = False,
    ) -> Annotated[CallToolResult, schemas.Reread]:
        """Read the folders that are remembered again; makes no vectors, see embed."""
        step, enriching = steps_for(ctx, "reading the folders"), steps_for(ctx, "enriching")

        def work(services: Services) -> schemas.Reread:
            reports = [services.update(folder, progress=step) for folder in services.folders]
            report = services.enrich()(anew=True, progress=enriching) if enrich else None
            enriched = schemas.Enriched(**asdict(report)) if report else None
            return schemas.Reread(**_counted(services, reports, step), enriched=enriched)

        said = await self._dispatcher.write(work)
        return answer(_reread_text(said), said)

    async def vault_sync(
        self,
        ctx: Context[Any, Any],
        vault: Annotated[str, Field(description="Which vault, see list_vaults; made when it is not there.")],
        content_root: Annotated[str, Field(description="An absolute folder of notes.")],
        pattern: Annotated[str, Field(description="Which files below it are read.")] = "**/*.md",
        collection_name: Annotated[
            str | None, Field(description="Its collection; called as the vault, if not said.")
        ] = None,
    ) -> Annotated[CallToolResult, schemas.Synced]:
        """Read a folder below one of `collections:` or `sync_folders:` into a named vault; replaces what the collection had."""
        from clawmem.app.services.indexing.syncing import admitted

        step, collection = steps_for(ctx, "reading the folder"), collection_name or vault
        settings = self._dispatcher.settings
        allowed = settings.folders_for_programs
        # before a vault is made for nothing
        admitted(content_root, settings.home, own=settings.own_files, allowed=allowed)

        def work(services: Services) -> dict[str, Any]:
            report = services.sync(content_root, collection, pattern, allowed=allowed, progress=step)
            return _counted(services, [report], step)

        read = await self._dispatcher.write(work, vault, create=True)
        said = schemas.Synced(vault=vault, collection=collection, **read)
        return answer(_pass_text(said), said)

    async def embed(
        self, ctx: Context[Any, Any], vault: Vault = None
    ) -> Annotated[CallToolResult, schemas.Embedded]:
        """Make the vectors that are missing, so that things are found by meaning."""
        step = steps_for(ctx, "making vectors")

        def work(services: Services) -> schemas.Embedded:
            report = services.embed(progress=step)
            pending = services.vault.embeddings.counts().pending
            if report.stopped:
                raise EmbeddingError(f"{report.embedded} vectors were made, then it ended: {report.error}.")
            return schemas.Embedded(
                embedded=report.embedded, failed=report.failed, pending=pending, error=report.error
            )

        said = await self._dispatcher.write(work, vault)
        return answer(f"{said.embedded} vectors made, {said.failed} failed, {said.pending} wait.", said)


def _counted(services: Services, reports: Sequence[PassReport], step: Progress) -> dict[str, Any]:
    """What passes did together, once the indexes have caught up."""
    services.vault.keep_up(step)
    lagging = [f"the {role} index lags: {why}" for role, why in services.vault.lagging.items()]
    return {
        "added": sum(one.added for one in reports),
        "updated": sum(one.updated for one in reports),
        "unchanged": sum(one.unchanged for one in reports),
        "removed": sum(one.removed for one in reports),
        "problems": [problem for one in reports for problem in one.problems] + lagging,
    }


def _reread_text(said: schemas.Reread) -> str:
    if said.enriched is None:
        return _pass_text(said)
    done = f"enriched: {said.enriched.by_rules} documents by rules, {said.enriched.by_model} by a model"
    return "\n".join(filter(None, [_pass_text(said), done, said.enriched.stopped]))


def _pass_text(said: schemas.Pass) -> str:
    head = f"{said.added} added, {said.updated} updated, {said.unchanged} unchanged, {said.removed} removed"
    return "\n".join([head, *said.problems])
