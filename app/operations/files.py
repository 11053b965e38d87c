"""The files of /memories: text files of one collection, with the commands that models know as their memory."""

from __future__ import annotations

import os
from typing import Annotated, Literal

from pydantic import Field

from clawmem.app.bootstrap.services import Services
from clawmem.app.environment.places import FILES_VARIABLE
from clawmem.app.operations.operation import Effect, Request, Result, operation
from clawmem.app.services.indexing.folders import Folder
from clawmem.domain.security.quoting import lines_to_read, without_orders
from clawmem.ports.errors import ConfigError, InvalidInput
from clawmem.ports.files import MemoryFiles

DEFAULT_COLLECTION = "memories"


class FileCommand(Request):
    """A command, and the parameters that it needs."""

    command: Annotated[
        Literal["view", "create", "str_replace", "insert", "delete", "rename"], Field(description="Action.")
    ]
    path: Annotated[str | None, Field(description="Below /memories. For every command but rename.")] = None
    view_range: Annotated[
        list[int] | None, Field(description="view: first and last line, -1 is the end.")
    ] = None
    file_text: Annotated[str | None, Field(description="create: the text of the file.")] = None
    old_str: Annotated[str | None, Field(description="str_replace: a text that occurs once.")] = None
    new_str: Annotated[str, Field(description="str_replace: the text that replaces it.")] = ""
    insert_line: Annotated[int | None, Field(description="insert: after this line, 0 is the top.")] = None
    insert_text: Annotated[str | None, Field(description="insert: the text.")] = None
    old_path: Annotated[str | None, Field(description="rename: from.")] = None
    new_path: Annotated[str | None, Field(description="rename: to.")] = None

    def text(self, name: str) -> str:
        """
        Return the parameter *name*.

        Raises:
            InvalidInput: The parameter is missing.
        """
        value = getattr(self, name)
        if value is None:
            raise InvalidInput("INVALID_INPUT", f"The parameter {name} is missing.")
        return str(value)


class FileAnswer(Result):
    """The sentence or text that a command returns."""

    result: str


def _execute(files: MemoryFiles, request: FileCommand) -> str:
    text = request.text
    match request.command:
        case "view":
            return files.view(text("path"), request.view_range)
        case "create":
            return files.create(text("path"), text("file_text"))
        case "str_replace":
            return files.str_replace(text("path"), text("old_str"), request.new_str)
        case "insert":
            return files.insert(text("path"), int(text("insert_line")), text("insert_text"))
        case "delete":
            return files.delete(text("path"))
        case "rename":
            return files.rename(text("old_path"), text("new_path"))


def _only_views(request: FileCommand) -> bool:
    return request.command == "view"


def _collection(services: Services) -> Folder:
    name = os.environ.get(FILES_VARIABLE, DEFAULT_COLLECTION)
    for folder in services.folders:
        if folder.name == name:
            return folder
    raise ConfigError(
        f"No collection is called {name!r}. Run: clawmem collection add PATH --name {name}  (or name another one "
        f"by {FILES_VARIABLE}.)"
    )


@operation(
    Effect.DESTROYS, text=lambda result: result.result, only_reads=_only_views, any_vault=False, commands=()
)
def memory(services: Services, request: FileCommand) -> FileAnswer:
    """View, create, edit, delete and rename the files of /memories, which outlive this conversation."""
    collection = _collection(services)
    answer = _execute(services.memory_files(collection.root), request)
    if _only_views(request):
        text = without_orders(answer, collection.origin)
        return FileAnswer(result="\n".join(lines_to_read(text, collection.origin)))
    services.update(collection)
    return FileAnswer(result=answer)
