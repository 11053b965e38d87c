"""
Forwarding of a question to the server that has the vault open, before any heavy import.

The server parses the command line too, and reports errors of the question, the vault or a model. The command answers
by itself if the server returns any other error, is busy, or exceeds the time limit.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from clawmem.app.client.announcement import Announcement, announced, token_of, variables_in
from clawmem.app.client.request import posted, serves
from clawmem.app.interfaces.cli.arguments import JSON, VAULT, is_own_work, parted, value_of
from clawmem.app.interfaces.cli.leaving import in_order
from clawmem.app.interfaces.cli.rendering import Said, part_of, show_said
from clawmem.app.places import below_home, default_vault
from clawmem.app.version import VERSION
from clawmem.ports.errors import ClawmemError

FIRST_S = 1.0  # time limit for the first byte: the command alone takes about half as long
_TOLD = {"refused", "parts", "degraded", "asides"}
ANSWER_S = 30.0  # time limit for the whole answer: slow models time out earlier


class Refused(ClawmemError):
    """An error that the server reports to a command, see `clawmem.app.interfaces.cli.leaving.error_record`."""

    def __init__(self, record: Mapping[str, Any], exit_code: int) -> None:
        self.exit_code = exit_code
        self.code = record["code"]
        self.suggestions = record.get("suggestions", ())
        self.candidates = record.get("candidates", ())
        super().__init__(record["error"])


def quickly_answered(arguments: Sequence[str]) -> bool:
    """Whether a server answered the command line, for which `is_question` is true."""
    with in_order(as_json=JSON in parted(arguments)[0]):
        told = _told(arguments)
        if told is None:
            return False
        if told["refused"]:
            raise Refused(told["refused"], told["exit_code"])
        show_said(Said([part_of(one) for one in told["parts"]], told["degraded"], told["asides"]))
        return True


def _told(arguments: Sequence[str]) -> Any:
    """Return the answer of a server of the chosen vault; ``None`` if it might differ from that of this process."""
    front, (verb, *rest) = parted(arguments)
    if is_own_work(front):
        return None
    file, name = _vault_of(value_of(VAULT, front))
    server = announced(file)
    if server is None or not serves(server, os.environ, VERSION):
        return None
    if server.variables != variables_in(os.environ):
        return None
    asked = {"arguments": [*([JSON] if JSON in front else []), *rest], "vault": name}
    return _asked_of(server, f"/cli/{verb}", token_of(file, os.environ), asked)


def _vault_of(said: str | None) -> tuple[Path, str | None]:
    """
    Return the vault file whose server to ask for the vault *said*, and the name of the vault in that server.

    A value with a slash or a dot is a path. Any other value is a name, which only the server of the usual vault can
    resolve.
    """
    if said is None or not (os.sep in said or "." in said):
        return default_vault(os.environ), said
    file = below_home(said, os.environ).absolute()
    return file, str(file)


def _asked_of(server: Announcement, path: str, token: str, asked: dict[str, Any]) -> Any:
    try:
        body = json.dumps(asked, ensure_ascii=False).encode()
        answer = posted(server, path, token, body, first_s=FIRST_S, answer_s=ANSWER_S)
    except TimeoutError:
        sys.stderr.write(
            f"clawmem: the server (process {server.pid}) does not answer in time; asked without it. "
            "Look at it with: clawmem serve --status\n"
        )
        return None
    except (OSError, UnicodeError):  # no connection, or a name that cannot be encoded
        return None
    return _read(answer) if answer else None


def _read(answer: str) -> Any:
    """Return the answer of a server; ``None`` if it is not an answer of clawmem."""
    try:
        told = json.loads(answer)
    except (ValueError, RecursionError):
        return None
    return told if isinstance(told, dict) and told.keys() >= _TOLD else None
