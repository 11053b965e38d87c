"""Evaluation by the user's own cases: prompts, and notes that they should or should not have received."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from clawmem.ports.errors import InvalidInput


class Case(NamedTuple):
    """A prompt, and a note that its block should have (``wanted``) or should not have."""

    prompt: str
    file: str
    wanted: bool
    at: str


def cases_file(config_file: Path) -> Path:
    """Return the file of the cases, next to the config file."""
    return config_file.with_name("cases.jsonl")


def read_cases(file: Path) -> list[Case]:
    """Return the cases of *file*; none if it is missing. Raises `InvalidInput` for a line that is no case."""
    lines = file.read_text("utf-8").splitlines() if file.exists() else []
    cases = []
    for number, line in enumerate(lines, start=1):
        try:
            cases.append(Case(**json.loads(line)))
        except (ValueError, TypeError) as error:
            raise InvalidInput("INVALID_INPUT", f"{file}:{number} is no case: {error}") from error
    return cases
