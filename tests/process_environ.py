"""The environment of a process of clawmem that a test starts."""

from __future__ import annotations

import os
from pathlib import Path

import clawmem

# Where a process finds the packages of this one; read before any test changes the variables.
PYTHON_PATH = os.pathsep.join(
    filter(None, [str(Path(str(clawmem.__file__)).parent.parent), os.environ.get("PYTHONPATH")])
)


def process_environ(home: Path, **extra: str) -> dict[str, str]:
    """Return the variables of a process with *home*, which starts no server: no variable of this machine's user."""
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    return {**kept, "HOME": str(home), "PYTHONPATH": PYTHON_PATH, "CLAWMEM_NO_SERVER": "1", **extra}
