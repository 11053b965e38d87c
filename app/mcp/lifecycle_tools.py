"""Tools about what becomes of documents: pin, snooze, forget, sweep, restore."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from mcp.types import CallToolResult
from pydantic import Field

from clawmem.app.mcp import schemas
from clawmem.app.mcp.calling import answer
from clawmem.app.records.documents import place_of
from clawmem.app.records.forgetting import confirmed_target
from clawmem.app.records.lifecycle import went_lines, went_of
from clawmem.app.records.parameters import ADDRESS, Vault
from clawmem.app.serve.desk import Desk
from clawmem.app.services.lifecycle.archiving import to_restore
from clawmem.app.services.lifecycle.status import lifecycle_status
from clawmem.domain.lifecycle.policy import read_policy
from clawmem.domain.security.quoting import title_to_read
from clawmem.ports.errors import ConfigError
from clawmem.ports.records import Document, InactiveReason

if TYPE_CHECKING:
    from clawmem.app.opened import Services
    from clawmem.app.services.lifecycle.sweeping import Swept

BY = "mcp"

Why = Annotated[str, Field(description="The reason, kept with the act.")]


class LifecycleTools:
    """Tools that write down who did what, when and why; `clawmem lifecycle undo` takes back all but forgetting."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def memory_forget(
        self,
        query: Annotated[
            str, Field(description="The docid of the document, such as #a1b2c3; no path or title.")
        ],
        confirm: Annotated[
            bool | None,
            Field(description="Must be true. Anything else changes nothing and describes the document."),
        ] = None,
        why: Why = "",
        vault: Vault = None,
    ) -> Annotated[CallToolResult, schemas.Kept]:
        """Forget a document for good, everywhere; only at the user's wish. Repeating it changes nothing."""

        def work(services: Services) -> schemas.Kept:
            target = confirmed_target(services, query, confirm=confirm)
            if target.inactive is InactiveReason.FORGOTTEN:
                place = {**place_of(services, target), "docid": "", "title": ""}
                return schemas.Kept.model_validate({**place, "action": "forgotten", "changed": False})
            kept = _kept(services, target, action="forgotten")
            done = services.forgetting([target], BY, why)
            return kept.model_copy(update={"said_in": list(done.traces.said_in), "left": done.left or None})

        return _told(await self._desk.write(work, vault))

    async def lifecycle_status(self, vault: Vault = None) -> Annotated[CallToolResult, schemas.Lifecycle]:
        """How many documents are served, pinned, snoozed, archived and forgotten."""

        def work(services: Services) -> schemas.Lifecycle:
            policy = read_policy(services.settings.lifecycle)
            counted = lifecycle_status(services.vault, services.clock, policy)
            names = schemas.Lifecycle.model_fields.keys() - {"has_policy"}
            return schemas.Lifecycle(
                **{name: getattr(counted, name) for name in names}, has_policy=policy is not None
            )

        said = await self._desk.read(work, vault)
        return answer("\n".join(f"{name}: {value}" for name, value in said.model_dump().items()), said)

    async def lifecycle_sweep(
        self,
        dry_run: Annotated[bool, Field(description="Name what would go, change nothing.")] = True,
        vault: Vault = None,
    ) -> Annotated[CallToolResult, schemas.Swept]:
        """Archive what is idle for long, and forget what was archived for long, by the user's policy."""

        def work(services: Services) -> Swept:
            policy = read_policy(services.settings.lifecycle)
            if policy is None:
                raise ConfigError(
                    "No lifecycle policy is configured. Say in the config file, for example: "
                    "lifecycle: {archive_after_days: 90}"
                )
            return services.sweep.preview(policy) if dry_run else services.sweep(policy, BY)

        swept = await (self._desk.read(work, vault) if dry_run else self._desk.write(work, vault))
        return answer("\n".join(went_lines(swept)), schemas.Swept.model_validate(went_of(swept)))

    async def lifecycle_restore(
        self,
        query: Annotated[str, Field(description=f"One archived document: {ADDRESS}")] = "",
        collection: Annotated[str, Field(description="Restore every archived document of it.")] = "",
        all: Annotated[bool, Field(description="Restore every archived document.")] = False,
        vault: Vault = None,
    ) -> Annotated[CallToolResult, schemas.Restored]:
        """Serve archived documents again: one, those of a collection, or all."""

        def work(services: Services) -> schemas.Restored:
            archiving = services.archiving
            resolve = partial(archiving.named, services.lookup)
            chosen = to_restore(archiving, resolve, query, collection, everything=all)
            report = services.restore(chosen, BY)
            restored = [one.display_path for one in report.restored]
            return schemas.Restored(documents=restored, problems=report.sentences())

        said = await self._desk.write(work, vault)
        return answer("\n".join([*said.documents, *said.problems]) or "Nothing of that is archived.", said)


def _kept(services: Services, target: Document, **became: Any) -> schemas.Kept:
    return schemas.Kept(**place_of(services, target), **became)


def _told(said: schemas.Kept) -> CallToolResult:
    named = f"{said.file} ({title_to_read(said.title, said.origin)})" if said.title else said.file
    head = f"{named}: {said.action}"
    as_before = [] if said.changed else ["it was so already"]
    elsewhere = [f"{path} says some of it as well" for path in said.said_in]
    left = [f"its bytes may still lie in free space: {said.left}"] if said.left else []
    return answer("; ".join([head, *as_before, *elsewhere, *left]), said)
