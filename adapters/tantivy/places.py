from __future__ import annotations

from pathlib import Path

from clawmem.adapters.tantivy.grain import GrainIndex
from clawmem.adapters.tantivy.marker import MarkerFile
from clawmem.ports.errors import IndexDamaged
from clawmem.ports.records import Grain


def refuse_others(root: Path, *, may_make: bool) -> None:
    """Raise an error unless *root* is an index, a partly created index, or does not exist."""
    if not root.exists():
        if may_make:
            return
        raise IndexDamaged(str(root), "it is missing")
    if not root.is_dir():
        raise IndexDamaged(str(root), "it is not a folder")
    ours = {*Grain, *MarkerFile.names}
    others = sorted(path.name for path in root.iterdir() if path.name not in ours)
    if others:
        raise IndexDamaged(str(root), f"it contains other files ({others[0]})")


def open_grain(folder: Path, *, may_make: bool) -> GrainIndex:
    """Open the index in *folder*; create it if it does not exist and *may_make* is true."""
    is_made = (folder / "meta.json").exists()
    # A process that dies while creating an index leaves files whose names begin with a dot.
    if not is_made and not may_make:
        raise IndexDamaged(str(folder), "it is missing")
    if not is_made and folder.exists() and any(not path.name.startswith(".") for path in folder.iterdir()):
        raise IndexDamaged(str(folder), "its list of files is missing")
    folder.mkdir(parents=True, exist_ok=True)
    return GrainIndex(folder)
