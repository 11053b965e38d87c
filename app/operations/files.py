"""The files of /memories: text files of one collection, with the commands that models know as their memory."""

from __future__ import annotations

import os
from inspect import signature
from typing import Annotated, Literal
from urllib.parse import unquote

from pydantic import Field

from clawmem.app.bootstrap.services import Services
from clawmem.app.environment.places import FILES_VARIABLE
from clawmem.app.operations.operation import Effect, Request, Result, operation
from clawmem.domain.security.quoting import lines_to_read, without_orders
from clawmem.ports.errors import ConfigError, InvalidInput

Lines = Annotated[list[int], Field(min_length=2, max_length=2)]


class FileCommand(Request):
    """A command, and the parameters that it needs."""

    command: Literal["view", "create", "str_replace", "insert", "delete", "rename"]
    path: Annotated[str | None, Field(description="Below /memories. For every command but rename.")] = None
    view_range: Annotated[Lines | None, Field(description="view: first and last line, -1: the end.")] = None
    file_text: Annotated[str | None, Field(description="create: the text of the file.")] = None
    old_str: Annotated[str | None, Field(description="str_replace: a text that occurs once.")] = None
    new_str: Annotated[str, Field(description="str_replace: the text that replaces it.")] = ""
    insert_line: Annotated[int | None, Field(description="insert: after this line, 0 is the top.")] = None
    insert_text: Annotated[str | None, Field(description="insert: the text.")] = None
    old_path: Annotated[str | None, Field(description="rename: from.")] = None
    new_path: Annotated[str | None, Field(description="rename: to.")] = None


class FileAnswer(Result):
    """The sentence or text that a command returns."""

    result: str


@operation(
    Effect.DESTROYS,
    text=lambda result: result.result,
    only_reads=lambda request: request.command == "view",
    any_vault=False,
    command="",
)
def memory(services: Services, request: FileCommand) -> FileAnswer:
    """View, create, edit, delete and rename the files of /memories, which outlive this conversation."""
    name = os.environ.get(FILES_VARIABLE, "memories")
    collection = next((folder for folder in services.folders if folder.name == name), None)
    if collection is None:
        remedy = f"Run: clawmem collection add PATH --name {name}  (or name another one by {FILES_VARIABLE}.)"
        raise ConfigError(f"No collection is called {name!r}. {remedy}")
    run = getattr(services.memory_files(collection.root), request.command)
    values = {name: getattr(request, name) for name in signature(run).parameters}
    if missing := [name for name, value in values.items() if value is None and name != "view_range"]:
        raise InvalidInput("INVALID_INPUT", f"The parameter {missing[0]} is missing.")
    answer = run(**values)
    if request.command == "view":
        answer = "\n".join(lines_to_read(without_orders(answer, collection.origin), collection.origin))
    else:
        services.update(collection)
        if place := {"create": request.path, "rename": request.new_path}.get(request.command):
            file = unquote(unquote(place)).removeprefix("/memories")
            status = services.explain_file(f"{collection.root}{file}")
            answer += (
                "" if status.state in ("indexed", "folder") else f". No search finds it: {status.reason}"
            )
    return FileAnswer(result=answer)
