"""The memory tool of the Anthropic SDK over the files that `clawmem mcp --tools files` serves."""

from __future__ import annotations

from typing import Any

from anthropic.tools import BetaAbstractMemoryTool, ToolError

from clawmem.app.interfaces.python.memory import Memory
from clawmem.app.operations.files import memory as memory_files
from clawmem.ports.errors import ClawmemError


class MemoryTool(BetaAbstractMemoryTool):
    """
    Memory of a model in the collection ``memories``, or the one that CLAWMEM_MCP_FILES names.

    Pass it to ``client.beta.messages.tool_runner(tools=[MemoryTool(memory)], ...)``. What the model writes is found by
    every search of the vault. A refused command raises a ``ToolError``, which the runner reports to the model.

    Args:
        memory: An opened vault, used in the thread that opened it.
        options: As for every memory tool of the SDK, such as ``cache_control``.
    """

    def __init__(self, memory: Memory, **options: Any) -> None:
        super().__init__(**options)
        self._memory = memory

    def _run(self, command: Any) -> str:
        parameters = command.to_dict()
        try:
            return str(self._memory.run(memory_files, parameters).result)
        except ClawmemError as error:
            raise ToolError(str(error)) from error

    view = create = str_replace = insert = delete = rename = _run
