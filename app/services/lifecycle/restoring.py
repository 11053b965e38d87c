"""Restoration of archived documents whose files still exist."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from clawmem.app.services.indexing.folders import Folder, scan_folder
from clawmem.app.services.lifecycle.archiving import Archiving
from clawmem.ports.files import FileSource
from clawmem.ports.records import Document


class RestoreReport(NamedTuple):
    """The documents that are served again, and those that stay archived because their files are gone."""

    restored: list[Document]
    without_file: list[Document]

    def sentences(self) -> list[str]:
        """Return a sentence with the remedy for each document that stays archived."""
        return [
            f"{document.display_path} stays archived: its file is gone, so the next update would remove it. "
            "Put the file back, then restore it again."
            for document in self.without_file
        ]


class RestoreArchived:
    """Restores archived documents, except those whose files are gone: the next pass would remove them."""

    def __init__(self, archiving: Archiving, files: FileSource, folders: Sequence[Folder]) -> None:
        self._archiving = archiving
        self._files = files
        self._folders = folders

    def __call__(self, documents: Sequence[Document], by: str) -> RestoreReport:
        """Serve *documents* again, in one transaction, and report those left archived."""
        gone = {number for folder in self._folders for number in self._without_file(folder, documents)}
        restored = self._archiving.restore([one.id for one in documents if one.id not in gone], by)
        return RestoreReport(restored, [one for one in documents if one.id in gone])

    def _without_file(self, folder: Folder, documents: Sequence[Document]) -> list[int]:
        """Return the documents of *folder* that the next pass over it would remove."""
        of_folder = {one.path: one.id for one in documents if one.collection == folder.name and one.stamp}
        if not of_folder:
            return []
        scan = scan_folder(self._files, folder, of_folder.keys())
        here = {file.path for file in scan.files}
        return [number for path, number in of_folder.items() if scan.root_exists and path not in here]
