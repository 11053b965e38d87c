"""A folder of notes in a home of its own, asked through every interface: command line, hooks, MCP and REST."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from command_process import run_process
from hook_process import ask
from mcp_home import over_http
from process_environ import process_environ
from server_process import ServerProcess, serving


class InterfaceWorld:
    """A home whose vault holds the notes of ``home/notes``, and its server."""

    def __init__(self, home: Path, environ: dict[str, str], server: ServerProcess) -> None:
        self.home = home
        self.environ = environ
        self._server = server

    def cli(self, *arguments: object) -> str:
        return self.process(*arguments).stdout

    def process(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        """Return a command that ended well."""
        return run_process(*arguments, environ=self.environ, cwd=self.home, check=True)

    def json(self, *arguments: object) -> Any:
        return json.loads(self.cli(*arguments, "--json"))

    def hook(self, name: str, event: str, **fields: Any) -> str:
        told = {"session_id": "s1", "hook_event_name": event, "cwd": str(self.home), **fields}
        return ask(self.environ, self.home, name, told).context

    def rest(self, method: str, path: str, **parameters: Any) -> Any:
        heard = self._server.ask(method, quote(path), parameters)
        assert heard.status == 200, heard
        return json.loads(heard.body)

    def mcp(self, tool: str, **arguments: Any) -> tuple[str, Any]:
        """Return the text, embedded resources included, and the structured content of a tool's answer."""
        return asyncio.run(self._call(tool, arguments))

    def refused_by_mcp(self, tool: str, **arguments: Any) -> tuple[str, Any]:
        result = asyncio.run(self._answered(tool, arguments))
        assert result.is_error, result
        return "\n".join(one.text for one in result.content), result.meta

    def refused_by_rest(self, path: str) -> tuple[int, Any]:
        """Return the status and the JSON of an error of the REST API for a GET request."""
        heard = self._server.ask("GET", quote(path))
        assert heard.status != 200, heard
        return heard.status, json.loads(heard.body)

    def refused_by_cli(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        done = run_process(*arguments, environ=self.environ, cwd=self.home)
        assert done.returncode, done
        return done

    def resource(self, uri: str) -> str:
        return asyncio.run(self._read(uri))

    async def _call(self, tool: str, arguments: dict[str, Any]) -> tuple[str, Any]:
        result = await self._answered(tool, arguments)
        assert not result.is_error, result
        texts = [one.resource if one.type == "resource" else one for one in result.content]
        return "\n".join(one.text for one in texts), result.structured_content

    async def _answered(self, tool: str, arguments: dict[str, Any]) -> Any:
        async with over_http(self._server) as client:
            return await client.call_tool(tool, arguments)

    async def _read(self, uri: str) -> str:
        async with over_http(self._server) as client:
            [content] = (await client.read_resource(uri)).contents
        return str(content.text)


@contextmanager
def interface_world(home: Path) -> Iterator[InterfaceWorld]:
    """Index ``home/notes`` and serve the vault; the server ends with the block."""
    environ = process_environ(home)
    run_process("bootstrap", home / "notes", environ=environ, cwd=home, check=True)
    with serving(environ, home) as server:
        yield InterfaceWorld(home, environ, server)
