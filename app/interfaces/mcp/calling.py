"""MCP server with readable errors: a sentence with the next step, and records for programs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any

from mcp.server import MCPServer
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    CallToolResult,
    ContentBlock,
    GetPromptResult,
    InputRequiredResult,
    SubscriptionsListenRequestParams,
    TextContent,
    Tool,
)
from pydantic import ValidationError

from clawmem.app.client.tool_sets import IN_ORDER_S
from clawmem.app.operations.refusals import refusal_of
from clawmem.app.version import VERSION
from clawmem.ports.errors import ClawmemError, InvalidInput

DETAILS = "clawmem/details"  # key of further details of an error: candidates, documents that would be removed
NO_DETAILS: Mapping[str, Any] = MappingProxyType({})
CODE = "clawmem/code"  # key of the code of an error
UNEXPECTED = "Something went wrong in clawmem itself; what it was stands in the log of the server."


class ToolServer(MCPServer[Any]):
    """
    The official server with errors of clawmem; `hang_up` ends subscriptions.

    With ``is_one_connection`` a tool starts after the earlier call, for which it waits a limited time.
    """

    def __init__(self, name: str, title: str, instructions: str) -> None:
        bus = InMemorySubscriptionBus()
        super().__init__(
            name, title, instructions=instructions, version=VERSION, log_level="ERROR", subscriptions=bus
        )
        self.is_one_connection = False
        self._last_call: asyncio.Future[None] | None = None
        self._listening = ListenHandler(bus)
        self.protocol.add_request_handler(
            "subscriptions/listen", SubscriptionsListenRequestParams, self._listening
        )

    @property
    def protocol(self) -> Server[Any]:
        """Protocol server, which communicates with a transport."""
        return self._lowlevel_server

    async def list_tools(self) -> list[Tool]:
        """Return the tools; titles that repeat the name of a parameter are left out, as clients send every schema."""
        tools = await super().list_tools()
        return [tool.model_copy(update={"input_schema": _untitled(tool.input_schema)}) for tool in tools]

    def hang_up(self) -> None:
        """End all subscriptions, which never end on their own."""
        self._listening.close()

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call the tool and return its result; an error is a result that is marked as one."""
        try:
            async with self._in_turn():
                await self._refuse_wrong(name, arguments)
                return await super().call_tool(name, arguments, context)
        except InvalidInput as error:
            return refusal(error.code, str(error), error.details)
        except ToolError as error:
            if isinstance(error.__cause__, ClawmemError):
                return refusal(error.__cause__.code, str(error.__cause__), error.__cause__.details)
            asked_wrongly = not isinstance(error, UnexpectedToolError)
            if asked_wrongly and isinstance(error.__cause__, ValidationError):
                wrong = refusal_of(error.__cause__)
                return refusal(wrong.code, str(wrong))
            raise UnexpectedToolError(UNEXPECTED) from error.__cause__

    @asynccontextmanager
    async def _in_turn(self) -> AsyncIterator[None]:
        """On one connection, wait a limited time for the earlier call, so that this one sees its changes."""
        earlier, self._last_call = self._last_call, asyncio.get_running_loop().create_future()
        done = self._last_call
        try:
            if earlier and self.is_one_connection:
                await asyncio.wait([earlier], timeout=IN_ORDER_S)
            yield
        finally:
            done.cancel()

    async def get_prompt(
        self, name: str, arguments: dict[str, Any] | None = None, context: Context[Any, Any] | None = None
    ) -> GetPromptResult | InputRequiredResult:
        """
        Return the messages of a prompt.

        Raises:
            MCPError: ``INVALID_PARAMS`` for an unknown prompt, and for arguments that are missing, blank or unknown.
        """
        try:
            await self._refuse_wrong_prompt(name, arguments or {})
        except InvalidInput as error:
            raise MCPError(INVALID_PARAMS, str(error), {CODE: error.code}) from error
        return await super().get_prompt(name, arguments, context)

    async def _refuse_wrong_prompt(self, name: str, arguments: Mapping[str, Any]) -> None:
        prompts = {prompt.name: prompt.arguments or [] for prompt in await self.list_prompts()}
        if name not in prompts:
            raise InvalidInput("NOT_FOUND", f"There is no prompt {name!r}. {_near(name, list(prompts))}")
        known = [one.name for one in prompts[name]]
        for argument in arguments:
            if argument not in known:
                raise InvalidInput(
                    "INVALID_INPUT", f"{name} has no argument {argument!r}. {_near(argument, known)}"
                )
        missing = [one.name for one in prompts[name] if one.required and not _is_given(arguments, one.name)]
        if missing:
            raise InvalidInput("INVALID_INPUT", f"The prompt {name!r} needs: {', '.join(missing)}.")

    async def _refuse_wrong(self, name: str, arguments: dict[str, Any]) -> None:
        tools = {tool.name: tool.input_schema for tool in await self.list_tools()}
        if name not in tools:
            raise InvalidInput("NOT_FOUND", f"There is no tool {name!r}. {_near(name, list(tools))}")
        known = list(tools[name].get("properties", {}))
        for argument, value in arguments.items():
            if argument not in known:
                raise InvalidInput(
                    "INVALID_INPUT", f"{name} has no parameter {argument!r}. {_near(argument, known)}"
                )
            if _is_no_boolean(tools[name]["properties"][argument], value):
                raise InvalidInput(
                    "INVALID_INPUT", f"{argument}: must be true or false, not a text or number."
                )


def answer(text: str, record: dict[str, Any], *more: ContentBlock) -> CallToolResult:
    """Return a result: *text* for people, and *record* as structured content for programs."""
    return CallToolResult(content=[_text(text), *more], structured_content=record)


def refusal(code: str, message: str, details: Mapping[str, Any] = NO_DETAILS) -> CallToolResult:
    """Return an error: *message* for people, its code and *details*, such as candidates, for programs."""
    meta = {CODE: code, **({DETAILS: dict(details)} if details else {})}
    return CallToolResult(content=[_text(message)], is_error=True, _meta=meta)


def _untitled(schema: Any) -> Any:
    """Return *schema* without the titles that pydantic adds."""
    if isinstance(schema, dict):
        return {
            key: _untitled(value)
            for key, value in schema.items()
            if key != "title" or not isinstance(value, str)
        }
    return [_untitled(part) for part in schema] if isinstance(schema, list) else schema


def _text(text: str) -> TextContent:
    return TextContent(type="text", text=text.encode("utf-8", "replace").decode())


def _is_no_boolean(schema: Mapping[str, Any], value: object) -> bool:
    """Whether *schema* allows only booleans and null, and *value* is neither; the library would convert ``"yes"``."""
    types = {item.get("type") for item in schema.get("anyOf", [schema])}
    return "boolean" in types <= {"boolean", "null"} and not (value is None or isinstance(value, bool))


def _is_given(arguments: Mapping[str, Any], name: str) -> bool:
    return bool(str(arguments.get(name, "")).strip())


def _near(name: str, known: Sequence[str]) -> str:
    near = get_close_matches(name, known)
    return f"Did you mean: {', '.join(near)}?" if near else f"There is: {', '.join(known) or 'none'}."
