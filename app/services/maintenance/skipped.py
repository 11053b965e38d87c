"""Files of a collection that are not indexed because they cannot be read as text."""

from __future__ import annotations

from clawmem.app.services.indexing.exclusions import Exclusions
from clawmem.app.services.indexing.folders import Folder, misnamed_sentence, scan_folder
from clawmem.app.services.indexing.source import check_readable
from clawmem.ports.errors import SourceUnreadable
from clawmem.ports.files import FileSource
from clawmem.ports.vault import Vault

SHOWN = 5  # files listed by name


def skipped_files(vault: Vault, files: FileSource, folder: Folder) -> list[str]:
    """Return a sentence for each file of *folder* that is not served because it, or a rule about it, is unreadable."""
    known = vault.documents.sources(folder.name)
    served = {path for path, document in known.items() if document.inactive is None}
    exclusions = Exclusions(files, folder)
    scan = scan_folder(files, folder, exclusions=exclusions)
    sentences = [f"{folder.name}/{misnamed_sentence(path)}" for path in scan.misnamed]
    sentences += [f"{folder.name}: {exclusions.why_unreadable(path)}." for path in exclusions.unreadable]
    for file in scan.files:
        if file.path not in served:
            try:
                check_readable(files.read(folder.root, file.path), file.path, folder.extract)
            except SourceUnreadable as error:
                sentences.append(f"{folder.name}/{error}")
    return sentences


def spelled_out(sentences: list[str]) -> str:
    """Return the number of skipped files, with the reasons of the first `SHOWN`."""
    count = "1 file is not indexed" if len(sentences) == 1 else f"{len(sentences)} files are not indexed"
    more = "" if len(sentences) <= SHOWN else f" And {len(sentences) - SHOWN} more."
    return f"{count}: {' '.join(sentences[:SHOWN])}{more}"
