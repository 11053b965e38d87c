from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


class JsonFile:
    """One JSON object in a file, changed by one process at a time and never half."""

    def __init__(self, path: Path) -> None:
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True)

    def read(self) -> dict[str, Any]:
        """What was written last; empty at first."""
        try:
            content: dict[str, Any] = json.loads(self._path.read_text("utf-8"))
        except FileNotFoundError:
            return {}
        return content

    @contextmanager
    def changing(self) -> Iterator[dict[str, Any]]:
        """The content, to be changed in place; written when the block ends, dropped when it raises."""
        with self._path.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # given back when the file is closed, or its process ends
            content = self.read()
            yield content
            self._write(json.dumps(content))

    def _write(self, text: str) -> None:
        beside = self._path.with_suffix(".new")
        with beside.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(self._path)
