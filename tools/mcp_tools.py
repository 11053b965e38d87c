"""What every client is told of the tools."""

from __future__ import annotations

import asyncio
from typing import Any

from clawmem.app.client.request import ToolSet
from clawmem.app.interfaces.mcp.server import MemoryServer
from clawmem.app.operations.dispatch import Dispatcher
from clawmem.app.settings.model import load_settings


def told() -> dict[str, Any]:
    """Instructions, tools, prompts and templates of every set, as they go over the wire."""
    return {str(one): asyncio.run(_told(one)) for one in ToolSet}


async def _told(chosen: ToolSet) -> dict[str, Any]:
    server = MemoryServer(Dispatcher(load_settings), chosen)
    listed = {
        "tools": await server.list_tools(),
        "templates": await server.list_resource_templates(),
    }
    wire = {
        name: [one.model_dump(mode="json", by_alias=True, exclude_none=True) for one in ones]
        for name, ones in listed.items()
    }
    return {"instructions": server.instructions, **wire}
