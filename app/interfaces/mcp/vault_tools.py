"""Tools about the vault itself: status, index_stats, list_vaults, vault_sync, reindex, embed."""

from __future__ import annotations

from typing import Annotated

from mcp.types import CallToolResult

from clawmem.app.interfaces.mcp import schemas
from clawmem.app.interfaces.mcp.calling import answer
from clawmem.app.interfaces.mcp.instructions import GUIDE
from clawmem.app.serve.dispatcher import Dispatcher


class VaultTools:
    """What the vault holds, and keeping it up."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher

    async def guide(self) -> Annotated[CallToolResult, schemas.Guide]:
        """Which tool to use when. Read this before you look anything up."""
        return answer(GUIDE, schemas.Guide(guide=GUIDE))
