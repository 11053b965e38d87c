from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clawmem.ports.errors import IndexDamaged
from clawmem.ports.records import Grain, Marker


class MarkerFile:
    """
    The marker of an index that is four, one a grain.

    Their commits are four as well, so no marker can be part of them all. It is written after the last of
    them and replaced at once, as a whole: a process that dies in between leaves some grains ahead of the
    marker and none behind, and what comes after the marker can be applied a second time. With it goes how
    far each grain was, so that one which was put back or lost since is noticed.

    It lies beside the grains and not in them, where tantivy would count it as an entry.
    """

    names = ("marker.json", "marker.json.next")

    def __init__(self, folder: Path) -> None:
        self._path = folder / self.names[0]
        self._next = folder / self.names[1]

    def read(self) -> tuple[Marker, dict[Grain, int]] | None:
        """
        The marker and how far each grain was, or ``None`` if there is none.

        Raises:
            IndexDamaged: it is no such file.
        """
        try:
            return _parsed(json.loads(self._path.read_bytes()))
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            raise IndexDamaged(str(self._path.parent), "its marker makes no sense") from error

    def write(self, marker: Marker, commits: Mapping[Grain, int]) -> None:
        """Replace the marker, durably."""
        text = json.dumps({"marker": marker._asdict(), "commits": dict(commits)})
        with self._next.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        self._next.replace(self._path)
        _keep_name(self._path.parent)

    def withdraw(self) -> None:
        """Delete the marker, durably."""
        self._path.unlink(missing_ok=True)
        _keep_name(self._path.parent)


def _parsed(written: Any) -> tuple[Marker, dict[Grain, int]]:
    commits = {Grain(name): int(number) for name, number in written["commits"].items()}
    return Marker(**written["marker"]), commits


def _keep_name(folder: Path) -> None:
    # A new name survives a loss of power only once its folder has been written; Windows does that by itself.
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
