"""Tools made from operations."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter
from typing import TYPE_CHECKING, Annotated, Any

from mcp.server.mcpserver import Context
from mcp.types import CallToolResult, ToolAnnotations

from clawmem.app.bootstrap.opening import unopened_services
from clawmem.app.interfaces.mcp.calling import ToolServer, answer
from clawmem.app.interfaces.mcp.progress import progress_for
from clawmem.app.operations.operation import Effect, Opening, Operation, Result, option_of
from clawmem.app.operations.output import as_lines
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

    has_own_vault = "vault" in operation.request.model_fields

    async def tool(ctx: Context[Any, Any], **given: Any) -> CallToolResult:
        vault = given.get("vault") if has_own_vault else given.pop("vault", None)
        request, progress = operation.request(**given), progress_for(ctx)

        def work(services: Services) -> Result:
            result: Result = operation.run(services.called_by(CALLER, progress), request)
            return result

        if operation.settings:
            operation.settings(dispatcher.settings, request, CALLER)
        result = await _run(dispatcher, operation, work, vault)
        return answer("\n".join([as_lines(operation.text(result)), *result.remarks]).strip(), result)

    tool.__name__ = operation.name
    fields = operation.request.model_fields.items()
    hidden = {name for name, field in fields if option_of(field).tool is None}
    parameters = parameters_of(operation.request, without=hidden)
    if operation.any_vault and operation.opens is not Opening.NOTHING and not has_own_vault:
        parameters.append(Parameter("vault", Parameter.KEYWORD_ONLY, default=None, annotation=Vault))
    with_signature(tool, parameters, Annotated[CallToolResult, operation.result])
    about = " ".join(operation.about.split())
    server.add_tool(tool, operation.name, description=about, annotations=ANNOTATIONS[operation.effect])


async def _run(
    dispatcher: Dispatcher,
    operation: Operation[Any, Any],
    work: Callable[[Services], Result],
    vault: str | None,
) -> Result:
    if operation.opens is Opening.NOTHING:
        return work(unopened_services(dispatcher.settings))
    if operation.reads:
        return await dispatcher.read(work, vault)
    return await dispatcher.write(work, vault, create=operation.opens is Opening.CREATED)
