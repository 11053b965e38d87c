"""Requests to a running server: the request of an operation, and its result."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypedDict

from clawmem.app.client.announcement import token_of
from clawmem.app.client.request import posted, server_of
from clawmem.app.environment.places import default_vault
from clawmem.ports.errors import ClawmemError

FIRST_S = 1.0  # time limit for the first byte: the command alone takes about half as long
ANSWER_S = 30.0  # time limit for the answer: slow models time out earlier


class ServerAnswer(TypedDict):
    """The result of an operation; ``refused`` is the error record if the operation raised an error."""

    result: dict[str, Any] | None
    refused: dict[str, Any] | None
    exit_code: int


class Refused(ClawmemError):
    """An error that a server reports, see `clawmem.app.operations.refusals.error_record`."""

    def __init__(self, record: Mapping[str, Any], exit_code: int) -> None:
        self.exit_code = exit_code
        self.code = record["code"]
        self.suggestions = record.get("suggestions", ())
        self.candidates = record.get("candidates", ())
        super().__init__(record["error"])


def result_from_server(name: str, request: Mapping[str, Any], vault: Path | None) -> dict[str, Any] | None:
    """
    Return the result of the operation *name* from a running server; ``None`` if the caller must run it.

    Args:
        request: The parameters as JSON.
        vault: The name or the file of a vault; by default the usual one.

    Raises:
        Refused: The server ran the operation, and it failed.
    """
    is_name = vault is not None and not (os.sep in str(vault) or "." in str(vault))
    file = default_vault(os.environ) if vault is None or is_name else vault.expanduser().absolute()
    server = server_of(file, os.environ, same_variables=True)
    if server is None:
        return None
    try:
        call = {"request": dict(request), "vault": str(vault) if is_name else None}
        body, token = json.dumps(call, ensure_ascii=False).encode(), token_of(file, os.environ)
        text = posted(server, f"/operations/{name}", token, body, first_s=FIRST_S, answer_s=ANSWER_S)
        answer: ServerAnswer = json.loads(text)
        if answer["refused"]:
            raise Refused(answer["refused"], answer["exit_code"])
        return answer["result"]
    except TimeoutError:
        sys.stderr.write(
            f"clawmem: the server (process {server.pid}) does not answer in time; asked without it. "
            "Look at it with: clawmem serve --status\n"
        )
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        pass  # no connection, a name that cannot be encoded, or the answer of another program
    return None
