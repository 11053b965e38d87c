"""One tool: a folder of text files, with the commands that models know as their memory."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from clawmem.app.interfaces.mcp.memory_folder import MemoryFolder, Refused
from clawmem.app.interfaces.mcp.sets import FILES_VARIABLE
from clawmem.app.serve.dispatcher import Dispatcher
from clawmem.app.services.indexing.folders import Folder
from clawmem.domain.security.quoting import lines_to_read, without_orders
from clawmem.ports.errors import ConfigError

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services

Command = Literal["view", "create", "str_replace", "insert", "delete", "rename"]
USUAL = "memories"

Place = Annotated[str | None, Field(description="Below /memories. For every command but rename.")]


class FilesTools:
    """Changes files of one collection; what was changed is found from then on."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher

    async def memory(
        self,
        command: Annotated[Command, Field(description="What to do.")],
        path: Place = None,
        view_range: Annotated[
            list[int] | None, Field(description="view: first and last line, -1 is the end.")
        ] = None,
        file_text: Annotated[str | None, Field(description="create: what stands in it.")] = None,
        old_str: Annotated[str | None, Field(description="str_replace: what stands there once.")] = None,
        new_str: Annotated[str, Field(description="str_replace: what stands there then.")] = "",
        insert_line: Annotated[
            int | None, Field(description="insert: after this line, 0 is the top.")
        ] = None,
        insert_text: Annotated[str | None, Field(description="insert: the text.")] = None,
        old_path: Annotated[str | None, Field(description="rename: from.")] = None,
        new_path: Annotated[str | None, Field(description="rename: to.")] = None,
    ) -> str:
        """View, create, edit, delete and rename the files of /memories, which outlive this conversation."""

        def do(folder: MemoryFolder) -> str:
            match command:
                case "view":
                    return folder.view(_given("path", path), view_range)
                case "create":
                    return folder.create(_given("path", path), _given("file_text", file_text))
                case "str_replace":
                    return folder.str_replace(_given("path", path), _given("old_str", old_str), new_str)
                case "insert":
                    line = int(_given("insert_line", None if insert_line is None else str(insert_line)))
                    return folder.insert(_given("path", path), line, _given("insert_text", insert_text))
                case "delete":
                    return folder.delete(_given("path", path))
                case "rename":
                    return folder.rename(_given("old_path", old_path), _given("new_path", new_path))

        if command == "view":
            return await self._dispatcher.read(lambda services: _viewed(_collection(services), do))
        return await self._dispatcher.write(lambda services: _indexed(services, do))


def _viewed(collection: Folder, view: Callable[[MemoryFolder], str]) -> str:
    text = without_orders(view(MemoryFolder(Path(collection.root))), collection.origin)
    return "\n".join(lines_to_read(text, collection.origin))


def _indexed(services: Services, do: Callable[[MemoryFolder], str]) -> str:
    collection = _collection(services)
    said = do(MemoryFolder(Path(collection.root)))
    services.update(collection)
    return said


def _given(name: str, value: str | None) -> str:
    if value is None:
        raise Refused(f"The parameter {name} is missing.")
    return value


def _collection(services: Services) -> Folder:
    name = os.environ.get(FILES_VARIABLE, USUAL)
    for folder in services.folders:
        if folder.name == name:
            return folder
    raise ConfigError(
        f"No collection is called {name!r}. Run: clawmem collection add PATH --name {name}  (or name another one "
        f"by {FILES_VARIABLE}.)"
    )
