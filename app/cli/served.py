"""
The quick way of a question: to the server that has the vault open, before anything is imported for it.

The server reads the command line as well. What is wrong with a question, the vault or a model it says. What is out of
the ordinary is for the command itself, and so is a question that the server has no time for, or takes too long over.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from clawmem.app.cli.arguments import JSON, VAULT, is_own_work, parted, value_of
from clawmem.app.cli.leaving import in_order
from clawmem.app.cli.main import VERSION
from clawmem.app.cli.rendering import Said, part_of, show_said
from clawmem.app.hooks.thin_client import posted, serves
from clawmem.app.places import below_home, default_vault
from clawmem.app.serve.announcement import Announcement, announced, token_of, variables_in
from clawmem.ports.errors import ClawmemError

FIRST_S = 1.0  # for the server's first word: a person waits for what takes the command itself half as long
_TOLD = {"refused", "parts", "degraded", "asides"}
ANSWER_S = 30.0  # for the answer: with models that are slow, and give up in time, no question takes longer


class Refused(ClawmemError):
    """An error that the server reports for a command, see `clawmem.app.cli.leaving.error_record`."""

    def __init__(self, record: Mapping[str, Any], exit_code: int) -> None:
        self.exit_code = exit_code
        self.code = record["code"]
        self.suggestions = record.get("suggestions", ())
        self.candidates = record.get("candidates", ())
        super().__init__(record["error"])


def quickly_answered(arguments: Sequence[str]) -> bool:
    """Whether a server answered the command line, which `is_question`."""
    with in_order(as_json=JSON in parted(arguments)[0]):
        told = _told(arguments)
        if told is None:
            return False
        if told["refused"]:
            raise Refused(told["refused"], told["exit_code"])
        show_said(Said([part_of(one) for one in told["parts"]], told["degraded"], told["asides"]))
        return True


def _told(arguments: Sequence[str]) -> Any:
    """What a server of the chosen vault says, if it would answer as this process; else ``None``."""
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
    The file whose server to ask for the vault that is *said*, and how to call the vault there.

    What holds a slash or a dot is no name; any other the server of the usual vault knows, or nobody does.
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
    except (OSError, UnicodeError):  # not there, or not a word of any language
        return None
    return _read(answer) if answer else None


def _read(answer: str) -> Any:
    """What a server answered; ``None`` if no server of ours can have written it."""
    try:
        told = json.loads(answer)
    except (ValueError, RecursionError):
        return None
    return told if isinstance(told, dict) and told.keys() >= _TOLD else None
