"""The tool that forgets a document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from mcp.types import CallToolResult
from pydantic import Field

from clawmem.app.interfaces.mcp import schemas
from clawmem.app.interfaces.mcp.calling import answer
from clawmem.app.records.documents import place_of
from clawmem.app.records.forgetting import confirmed_target
from clawmem.app.records.parameters import Vault
from clawmem.app.serve.dispatcher import Dispatcher
from clawmem.domain.security.quoting import title_to_read
from clawmem.ports.records import Document, InactiveReason

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services

BY = "mcp"

Why = Annotated[str, Field(description="The reason, kept with the act.")]


class LifecycleTools:
    """Tools that write down who did what, when and why; `clawmem lifecycle undo` takes back all but forgetting."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher

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

        return _told(await self._dispatcher.write(work, vault))


def _kept(services: Services, target: Document, **became: Any) -> schemas.Kept:
    return schemas.Kept(**place_of(services, target), **became)


def _told(said: schemas.Kept) -> CallToolResult:
    named = f"{said.file} ({title_to_read(said.title, said.origin)})" if said.title else said.file
    head = f"{named}: {said.action}"
    as_before = [] if said.changed else ["it was so already"]
    elsewhere = [f"{path} says some of it as well" for path in said.said_in]
    left = [f"its bytes may still lie in free space: {said.left}"] if said.left else []
    return answer("; ".join([head, *as_before, *elsewhere, *left]), said)
