"""Tools made from operations."""

from __future__ import annotations

from inspect import Parameter
from typing import TYPE_CHECKING, Annotated, Any

from mcp.server.mcpserver import Context
from mcp.types import CallToolResult, ToolAnnotations

from clawmem.app.interfaces.mcp.calling import ToolServer, answer
from clawmem.app.interfaces.mcp.progress import progress_for
from clawmem.app.operations.operation import Effect, Operation, Result
from clawmem.app.operations.signatures import parameters_of, with_signature
from clawmem.app.records.parameters import Vault
from clawmem.app.serve.dispatcher import Dispatcher

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services

CALLER = "mcp"

ANNOTATIONS = {
    effect: ToolAnnotations(
        read_only_hint=effect is Effect.READS,
        destructive_hint=None if effect is Effect.READS else effect is Effect.DESTROYS,
        idempotent_hint=effect is not Effect.ADDS,
        open_world_hint=False,
    )
    for effect in Effect
}


def add_operation(server: ToolServer, dispatcher: Dispatcher, operation: Operation[Any, Any]) -> None:
    """Register the tool of *operation*; ``vault`` chooses another vault than the usual one."""

    async def tool(*, ctx: Context[Any, Any], vault: str | None = None, **given: Any) -> CallToolResult:
        request, progress = operation.request(**given), progress_for(ctx)

        def work(services: Services) -> Result:
            result: Result = operation.run(services.called_by(CALLER, progress), request)
            return result

        result = await (dispatcher.read if operation.reads else dispatcher.write)(work, vault)
        return answer("\n".join([operation.text(result), *result.remarks]).strip(), result)

    tool.__name__ = operation.name
    parameters = parameters_of(operation.request)
    vault = Parameter("vault", Parameter.KEYWORD_ONLY, default=None, annotation=Vault)
    with_signature(tool, [*parameters, vault], Annotated[CallToolResult, operation.result])
    about = " ".join(operation.about.split())
    server.add_tool(tool, operation.name, description=about, annotations=ANNOTATIONS[operation.effect])
