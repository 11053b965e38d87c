"""Bringing a collection's records in line with its folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from clawmem.app.services.indexing.ownership import Ownership, root_of
from clawmem.app.services.indexing.publish import publish, withdraw
from clawmem.app.services.indexing.source import ParsedSource, ParseYaml, parse_source, settled
from clawmem.domain.documents.eligibility import compile_pattern, is_excluded
from clawmem.domain.documents.identity import source_hash
from clawmem.ports.clock import Clock
from clawmem.ports.errors import SourceUnreadable
from clawmem.ports.files import FileSource
from clawmem.ports.records import Document, InactiveReason, Scan, SourceFile
from clawmem.ports.vault import Vault

Progress = Callable[[int, int], None]  # done, all


@dataclass(frozen=True, slots=True)
class Folder:
    """
    What a collection is made of: a name, an absolute folder and a pattern of paths below it.

    ``inside`` are folders of other collections that lie in it: what they want is theirs.
    """

    name: str
    root: str
    pattern: str = "**/*.md"
    inside: tuple[Folder, ...] = ()


def scan_folder(files: FileSource, folder: Folder) -> Scan:
    """The files of *folder* that are its own: its pattern says so, no exclusion forbids it, no folder in it has them."""
    wanted, root, inside = compile_pattern(folder.pattern), root_of(folder), Ownership(folder.inside)
    return files.scan(
        folder.root,
        enter=lambda path: not is_excluded(path),
        wanted=lambda path: wanted(path) and not is_excluded(path) and inside.owner(f"{root}/{path}") is None,
    )


@dataclass(slots=True)
class PassReport:
    """What one pass found and did; ``problems`` are sentences about files that were left as they are."""

    collection: str
    added: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    problems: list[str] = field(default_factory=list)


class UpdateCollection:
    """
    One pass over one folder, in one transaction, which begins before the folder is listed: by an older
    listing, files that another process has just taken in would look as if they were gone.

    An unchanged file costs its stat. A file that cannot be read keeps what the vault has of it; a folder
    that is gone, or a part of it that cannot be listed, deactivates nothing.
    """

    def __init__(self, vault: Vault, files: FileSource, clock: Clock, parse_yaml: ParseYaml) -> None:
        self._vault = vault
        self._files = files
        self._clock = clock
        self._parse_yaml = parse_yaml

    def __call__(
        self, folder: Folder, *, force: bool = False, progress: Progress = lambda done, total: None
    ) -> PassReport:
        """
        Index *folder*; with *force* every file is read again, whatever its stamp and hash say.

        Raises:
            VaultError: the pass was rolled back whole.
        """
        report = PassReport(folder.name)
        with self._vault.writing():
            scan = scan_folder(self._files, folder)
            if scan.root_exists:
                self._compare(folder, scan, report, force, progress)
            else:
                report.problems.append(f"{folder.root} is not there; its documents are kept as they are.")
        return report

    def _compare(
        self, folder: Folder, scan: Scan, report: PassReport, force: bool, progress: Progress
    ) -> None:
        report.problems += [f"{path} could not be listed; what is below is kept." for path in scan.unreadable]
        known = self._vault.documents.sources(folder.name)
        for done, file in enumerate(scan.files, start=1):
            self._visit(folder, file, known.get(file.path), report, force)
            progress(done, len(scan.files))
        self._remove_missing(scan, known, report)

    def _visit(
        self, folder: Folder, file: SourceFile, known: Document | None, report: PassReport, force: bool
    ) -> None:
        if known and known.inactive not in (None, InactiveReason.REMOVED):
            return  # somebody decided that; a file that is still there does not undo it
        served = known is not None and known.inactive is None
        if known and served and known.stamp == file.stamp and not force:
            report.unchanged += 1
            return
        try:
            data = self._files.read(folder.root, file.path)
            if known and served and known.source_hash == source_hash(data) and not force:
                self._vault.documents.touch(known.id, settled(file.stamp, self._clock.now_ms()))
                report.unchanged += 1
                return
            parsed = self._parse(folder, file, data)
        except SourceUnreadable as error:
            report.problems.append(str(error))
            return
        self._publish(parsed, known, report)

    def _parse(self, folder: Folder, file: SourceFile, data: bytes) -> ParsedSource:
        return parse_source(
            data,
            folder.name,
            file.path,
            file.stamp,
            now_ms=self._clock.now_ms(),
            parse_yaml=self._parse_yaml,
        )

    def _publish(self, parsed: ParsedSource, known: Document | None, report: PassReport) -> None:
        publish(self._vault, parsed.document, parsed.body, parsed.fragments, parsed.claims)
        if parsed.complaint:
            report.problems.append(f"{parsed.document.display_path}: {parsed.complaint}.")
        if known and known.inactive is None:
            report.updated += 1
        else:
            report.added += 1

    def _remove_missing(self, scan: Scan, known: dict[str, Document], report: PassReport) -> None:
        here = {file.path for file in scan.files}
        gone = [
            document.id
            for path, document in known.items()
            if path not in here and _comes_from_file(document) and not _hidden(path, scan.unreadable)
        ]
        report.removed = withdraw(self._vault, gone, InactiveReason.REMOVED)


def _comes_from_file(document: Document) -> bool:
    return document.inactive is None and document.stamp is not None


def _hidden(path: str, unreadable: tuple[str, ...]) -> bool:
    return any(folder in ("", ".", path) or path.startswith(f"{folder}/") for folder in unreadable)
