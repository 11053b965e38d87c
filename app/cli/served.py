"""
The quick way of a question: to the server that has the vault open, before anything is imported for it.

The server reads the command line as well. What a question got wrong it says; whatever else goes wrong, and whatever
is out of the ordinary, is for the command itself.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

from clawmem.app.cli.leaving import in_order
from clawmem.app.cli.main import VERSION
from clawmem.app.cli.rendering import Said, part_of, show_said
from clawmem.app.hooks.thin_client import posted, serves
from clawmem.app.places import default_vault
from clawmem.app.serve.announcement import announced, token_of, variables_in
from clawmem.ports.errors import ClawmemError

OWN = frozenset({"--alone", "--backend", "--vault"})  # of what they choose a server knows nothing


class Refused(ClawmemError):
    """What the server says of a question that cannot be honoured."""

    def __init__(self, message: str, exit_code: int) -> None:
        self.exit_code = exit_code
        super().__init__(message)


def quickly_answered(arguments: Sequence[str]) -> bool:
    """Whether a server answered the command line, which begins with one of `QUESTIONS`."""
    with in_order():
        told = _told(arguments)
        if told is None:
            return False
        if told["refused"]:
            raise Refused(told["refused"], told["exit_code"])
        show_said(Said([part_of(one) for one in told["parts"]], told["degraded"]))
        return True


def _told(arguments: Sequence[str]) -> Any:
    """What the server of the usual vault says, if it would answer as this process; else ``None``."""
    verb, *rest = arguments
    if any(one.partition("=")[0] in OWN for one in rest):
        return None
    vault = default_vault(os.environ)
    server = announced(vault)
    if server is None or not serves(server, os.environ, VERSION):
        return None
    if server.variables != variables_in(os.environ):
        return None
    try:
        body = json.dumps({"arguments": rest}, ensure_ascii=False).encode()
        answer = posted(server, f"/cli/{verb}", token_of(vault, os.environ), body)
    except (OSError, UnicodeError):  # not there, or not a word of any language
        return None
    return json.loads(answer) if answer else None
