"""A home for the Model Context Protocol, and clients of its server."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
from command_process import run_process, write_program
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from process_environ import process_environ
from server_process import ServerProcess

REDIS, POSTGRES = "notes/decisions/2026-02-11-redis.md", "notes/decisions/2026-06-09-postgres.md"

NOTES = {
    REDIS: "# Keep sessions in Redis\n\nLogin sessions live in Redis for 14 days.\n",
    POSTGRES: "# Move sessions to Postgres\n\nOne database is enough, so login sessions move to Postgres.\n",
    "memories/readme.md": "# Read me\n\nThe lighthouse is painted green.\n",
}

QUESTION = {"query": "where do login sessions live?"}


class Home(NamedTuple):
    """A home with a vault over the notes."""

    folder: Path
    environ: dict[str, str]

    def run(self, *arguments: str) -> str:
        return str(run_process(*arguments, environ=self.environ, cwd=self.folder, check=True).stdout)

    def process(self, *options: str) -> StdioServerParameters:
        """What an assistant starts."""
        program = write_program(self.folder / ".bin" / "clawmem")
        return StdioServerParameters(
            command=str(program),
            args=["mcp", *(() if "--tools" in options else ("--tools", "all")), *options],
            env=self.environ,
            cwd=self.folder,
        )


def text_of(result: Any) -> str:
    return "\n".join(one.text for one in result.content if one.type == "text")


@asynccontextmanager
async def over_http(
    server: ServerProcess, tools: str = "/all", mode: str = "auto", **options: Any
) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {server.token}"}
    url = f"http://127.0.0.1:{server.port}/mcp{tools}"
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode, **options) as client,
    ):
        yield client


@asynccontextmanager
async def over_stdio(home: Home, *options: str, mode: str = "auto") -> AsyncIterator[Client]:
    async with Client(stdio_client(home.process(*options)), mode=mode) as client:
        yield client


def bootstrapped_home(folder: Path) -> Home:
    """Write the notes below *folder*, index them, and name another vault."""
    for name, text in NOTES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    environ = process_environ(folder)
    environ["CLAWMEM_VAULTS"] = json.dumps({"spare": str(folder / "spare.sqlite")})
    made = Home(folder, environ)
    made.run("bootstrap", "notes")
    made.run("bootstrap", "memories")
    config = folder / ".config" / "clawmem" / "config.yaml"
    config.write_text(
        config.read_text("utf-8")
        + f"\nlifecycle: {{archive_after_days: 90}}\nsync_folders: [{folder / 'other'}]\n",
        "utf-8",
    )
    return made
