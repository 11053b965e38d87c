"""Tools made from operations."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from inspect import Parameter
from time import monotonic
from typing import Annotated, Any

from mcp.server.mcpserver import Context
from mcp.types import CallToolResult, EmbeddedResource, TextResourceContents, ToolAnnotations
from pydantic import AliasChoices, Field
from pydantic.fields import FieldInfo

from clawmem.app.interfaces.mcp.calling import ToolServer, answer
from clawmem.app.operations.dispatch import Dispatcher, run
from clawmem.app.operations.fields import Names
from clawmem.app.operations.operation import Attachment, Effect, Opening, Operation, option_of
from clawmem.app.operations.output import as_lines
from clawmem.app.operations.signatures import parameters_of, with_signature
from clawmem.app.services.progress import Progress, ProgressOf

AT_MOST_EVERY_S = 0.25


def progress_for(ctx: Context[Any, Any]) -> ProgressOf:
    """Return a function for the thread that works: it yields a callback for each phase, which never waits."""
    loop = asyncio.get_running_loop()

    @contextmanager
    def progress(label: str) -> Iterator[Progress]:
        yield _steps(ctx, label, loop)

    return progress


def _steps(ctx: Context[Any, Any], label: str, loop: asyncio.AbstractEventLoop) -> Progress:
    reported_at = -AT_MOST_EVERY_S

    def step(done: int, total: int) -> None:
        nonlocal reported_at
        if monotonic() - reported_at >= AT_MOST_EVERY_S:
            reported_at = monotonic()
            asyncio.run_coroutine_threadsafe(ctx.report_progress(done, total, label), loop)

    return step


CALLER = "mcp"
Vault = Annotated[str | None, Field(description="Another vault than the usual one; see list_vaults.")]

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

    fields = {
        option_of(field).tool or name: name
        for name, field in operation.request.model_fields.items()
        if option_of(field).tool is not None
    }
    has_own_vault = "vault" in fields

    async def tool(*, ctx: Context[Any, Any], **given: Any) -> CallToolResult:
        vault = None if has_own_vault else given.pop("vault", None)
        request = operation.request(**{fields[name]: value for name, value in given.items()})
        result = await run(
            dispatcher, operation, request, caller=CALLER, vault=vault, progress=progress_for(ctx)
        )
        attached = operation.attachments(result) if operation.attachments else ()
        text = "\n".join([as_lines(operation.text(result)), *result.remarks]).strip()
        return answer(text, result, *map(_resource, attached))

    tool.__name__ = operation.name
    names = {name: tool_name for tool_name, name in fields.items()}
    parameters = [
        one.replace(name=names[one.name])
        for one in parameters_of(operation.request, _annotated)
        if one.name in names
    ]
    if operation.any_vault and operation.opens is not Opening.NOTHING and not has_own_vault:
        parameters.append(Parameter("vault", Parameter.KEYWORD_ONLY, default=None, annotation=Vault))
    with_signature(tool, parameters, Annotated[CallToolResult, operation.result])
    about = " ".join(operation.about.split())
    server.add_tool(tool, operation.name, description=about, annotations=ANNOTATIONS[operation.effect])
    server.add_older_names(operation.name, _older_names(operation))


def _resource(attached: Attachment) -> EmbeddedResource:
    contents = TextResourceContents(uri=attached.uri, mime_type=attached.media_type, text=attached.text)
    return EmbeddedResource(type="resource", resource=contents)


def _annotated(name: str, field: FieldInfo) -> Any:
    """Return the annotation of a parameter. In tools it has one name, and several names are a text with commas."""
    described = copy(field)
    described.validation_alias = None
    return Annotated[str if field.annotation == Names else field.annotation, described]


def _older_names(operation: Operation[Any, Any]) -> dict[str, str]:
    """Return the older names of parameters, which are understood and not published, with the current ones."""
    fields = operation.request.model_fields.items()
    choices = {name: field.validation_alias for name, field in fields}
    return {
        str(older): name
        for name, several in choices.items()
        if isinstance(several, AliasChoices)
        for older in several.choices
        if older != name
    }
