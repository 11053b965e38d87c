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
    The common marker of the indexes of all four granularities.

    Each granularity commits separately, so the marker cannot be part of these commits. It is replaced
    atomically after the last of them: if the process dies in between, some granularities are ahead of the
    marker and none is behind, and changes after the marker can safely be applied again. The marker file also
    records the commit number of each granularity, which reveals one that was restored or lost since.

    The file lies outside the folders of the granularities, where tantivy would count it as an entry.
    """

    names = ("marker.json", "marker.json.next")

    def __init__(self, folder: Path) -> None:
        self._path = folder / self.names[0]
        self._next = folder / self.names[1]

    def read(self) -> tuple[Marker, dict[Grain, int]] | None:
        """
        Return the marker and the commit number of each granularity, or ``None`` if there is none.

        Raises:
            IndexDamaged: the file is no marker.
        """
        try:
            return _parsed(json.loads(self._path.read_bytes()))
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            raise IndexDamaged(str(self._path.parent), "its marker makes no sense") from error

    def write(self, marker: Marker, commits: Mapping[Grain, int]) -> None:
        """Replace the marker durably."""
        text = json.dumps({"marker": marker._asdict(), "commits": dict(commits)})
        with self._next.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        self._next.replace(self._path)
        _keep_name(self._path.parent)

    def withdraw(self) -> None:
        """Delete the marker durably."""
        self._path.unlink(missing_ok=True)
        _keep_name(self._path.parent)


def _parsed(written: Any) -> tuple[Marker, dict[Grain, int]]:
    commits = {Grain(name): int(number) for name, number in written["commits"].items()}
    return Marker(**written["marker"]), commits


def _keep_name(folder: Path) -> None:
    # A new name survives a power failure only after its folder is synced; Windows does that automatically.
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
