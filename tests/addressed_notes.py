"""Notes that are named, read and changed, and the rows of their vault."""

from __future__ import annotations

import asyncio
import json
from functools import cache
from typing import Any, NamedTuple

import apsw
from command_line import Invoke

from clawmem.app.client.request import ToolSet
from clawmem.app.interfaces.mcp.server import CODE, DETAILS, MemoryServer
from clawmem.app.operations.dispatch import Dispatcher
from clawmem.app.settings.model import load_settings

PRICING, QUEUE, PUMP = "work/2026-04-18-pricing.md", "work/queue.md", "work/observations/pump.md"
ACME, BETA, CAFE = "work/clients/Acme Rocketworks.md", "work/clients/Beta.md", "work/Café.md"

NOTES = {
    PRICING: "---\naliases: [Price list, PL]\n---\n# Pricing\n\nOne seat costs twelve euro.\n\nSeats are billed monthly.\n",
    QUEUE: "# Queue depth\n\nJobs wait for an hour at most.\n",
    "work/handoff.md": "# Handoff of Tuesday\n\nThe queue was repaired. Next: billing.\n",
    ACME: "# Kick-off\n\nThey want four engines.\n",
    BETA: "# Kick-off\n\nThey want two boats.\n",
    CAFE: "# Café\n\nOpen from eight.\n",
    PUMP: "# The pump leaks\n\nThe pump of hall two leaks at night.\n",
    "work/observations/pumps.md": "# Pumps leak\n\nBoth pumps of hall two leak at night.\n",
    "work/titled.md": f"# {QUEUE}\n\nIts title is the path of another note.\n",
}

AMBIGUOUS = ("Kick-off", "kick-OFF", "[[Kick-off]]", "[[kick-off#Plan|the meeting]]")


class Heard(NamedTuple):
    """The answer of an interface: whether it was refused, its code where it has one, and its details for programs."""

    refused: bool
    code: str
    details: dict[str, Any]
    text: str


def rows() -> dict[str, list[Any]]:
    """Every row of every table of the vault, telemetry of reading apart."""
    reader = apsw.Connection(str(load_settings().vault), flags=apsw.SQLITE_OPEN_READONLY)
    tables = [
        name
        for (name, sql) in reader.execute("select name, sql from sqlite_master where type = 'table'")
        if not sql.lower().startswith("create virtual")
    ]
    found = {name: list(reader.execute(f'select * from "{name}"')) for name in tables}
    reader.close()
    return found


def docid_of(invoke: Invoke, path: str) -> str:
    return str(json.loads(invoke("get", path, "--json").stdout)["docid"])


class Current:
    """Stand-in for the object that serves the present call, so that an interface is built once for all calls."""

    def __init__(self) -> None:
        self.served_by: Any = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.served_by, name)


@cache
def _tools() -> tuple[Current, Any]:
    current: Any = Current()
    return current, MemoryServer(current, ToolSet.ALL)


def by_tool(name: str, **arguments: Any) -> Heard:
    """Call an MCP tool."""
    current, server = _tools()
    current.served_by = Dispatcher(load_settings)
    try:
        found: Any = asyncio.run(server.call_tool(name, arguments))
    finally:
        current.served_by.close()
    text = " ".join(getattr(one, "text", "") for one in found.content)
    meta = found.meta or {}
    details = meta.get(DETAILS, {}) if found.is_error else found.structured_content
    return Heard(bool(found.is_error), str(meta.get(CODE, "")), details, text)


VERBS = ("pin", "unpin", "snooze", "unsnooze", "forget")


def change(invoke: Invoke, verb: str, text: str) -> Heard:
    """Ask the command line for a change, confirmed as far as it can be."""
    done = invoke(
        {"unpin": "pin --off", "unsnooze": "snooze --off"}.get(verb, verb),
        *(["--yes"] if verb == "forget" else []),
        "--",
        text,
    )
    assert done.exit_code in (0, 2, 3), done.output
    return Heard(done.exit_code != 0, str(done.exit_code), {}, done.output)
