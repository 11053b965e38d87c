"""Removal of documents whose files are gone or excluded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace

from clawmem.app.services.indexing.exclusions import Exclusions
from clawmem.app.services.indexing.folders import Folder, scan_folder
from clawmem.app.services.indexing.moves import is_hidden, lost_choices
from clawmem.app.services.indexing.publish import apply_in_chunks, withdraw
from clawmem.domain.documents.ignoring import Exclusion
from clawmem.domain.documents.standing import version_of
from clawmem.domain.documents.times import iso_utc
from clawmem.ports.clock import Clock
from clawmem.ports.files import FileSource
from clawmem.ports.records import Document, InactiveReason, Scan
from clawmem.ports.stores import LifecycleStores

# A folder without any file may be an unmounted disk; more documents than this are then kept.
MOST_REMOVED_AT_ONCE = 10
NAMED = 5  # excluded documents that a sentence names


class Removal:
    """
    Removes the documents of *folder* whose files are gone or excluded.

    An empty folder keeps its documents if they are many, unless *allow_empty* says otherwise: its disk may not be mounted.
    """

    def __init__(
        self, vault: LifecycleStores, files: FileSource, clock: Clock, folder: Folder, *, allow_empty: bool
    ) -> None:
        self._vault = vault
        self._files = files
        self._clock = clock
        self._folder = folder
        self._allow_empty = allow_empty
        self.keeps_all = False  # whether the folder has no file any more, and its documents stay

    def __call__(
        self, scan: Scan, known: Mapping[str, Document], exclusions: Exclusions
    ) -> tuple[int, list[str]]:
        """Remove the documents of *known* that *scan* misses; return their number, and sentences about them."""
        missing = self.missing(scan, known, exclusions)
        reasons = {one.path: exclusions.explained(one.path) for one in missing}
        gone = [one for one in missing if reasons[one.path] is None]
        problems: list[str] = []
        if len(gone) > MOST_REMOVED_AT_ONCE and not self._allow_empty and self._is_empty(scan):
            problems.append(self._kept(len(gone)))
            self.keeps_all = True
            missing = [one for one in missing if reasons[one.path]]
        missing = self._still_missing(missing, exclusions)
        removed = apply_in_chunks(self._vault, missing, self._remove)
        served = [document for document, was_served in zip(missing, removed, strict=True) if was_served]
        excluded = [(one, found[1]) for one in served if (found := reasons[one.path])]
        problems += excluded_sentences(excluded)
        now, taken_over = iso_utc(self._clock.now_ms()), self._taken_over(served)
        lost = (
            lost_choices(one, now, is_excluded=reasons[one.path] is not None)
            for one in served
            if one.path not in taken_over
        )
        return len(served), [*problems, *filter(None, lost)]

    def missing(self, scan: Scan, known: Mapping[str, Document], exclusions: Exclusions) -> list[Document]:
        """Return the served documents of *known* without a file in *scan*, or with a template; none if unreadable."""
        here = {file.path for file in scan.files} - exclusions.templates.keys()
        return [
            document
            for path, document in known.items()
            if scan.root_exists
            and path not in here
            and document.inactive is None
            and document.stamp is not None
            and not is_hidden(path, scan.unreadable)
        ]

    def _still_missing(self, missing: list[Document], exclusions: Exclusions) -> list[Document]:
        """List the files of *missing* again, as the first listing is as old as the pass."""
        if not missing:
            return []
        paths = [document.path for document in missing]
        scan = scan_folder(self._files, self._folder, paths)
        return self.missing(scan, {one.path: one for one in missing}, exclusions)

    def _taken_over(self, documents: list[Document]) -> set[str]:
        """Return the paths of files that nested collections own now: their documents move there, with every choice."""
        if not (documents and self._folder.inside):
            return set()
        paths = [one.path for one in documents]
        return {file.path for file in scan_folder(self._files, replace(self._folder, inside=()), paths).files}

    def _is_empty(self, scan: Scan) -> bool:
        """Whether the folder has no matching file, not even one that a nested collection owns."""
        if scan.files or not self._folder.inside:
            return not scan.files
        return not scan_folder(self._files, replace(self._folder, inside=())).files

    def _kept(self, documents: int) -> str:
        return (
            f"{self._folder.root} has no file of this collection, so its {documents} documents are kept. "
            "Is its disk mounted? To remove them, repeat the command with --allow-empty, or run: "
            f"clawmem collection remove {self._folder.name}"
        )

    def _remove(self, document: Document) -> int:
        current = self._vault.documents.at(self._folder.name, document.path)
        if version_of(current) != version_of(document):
            return 0
        return withdraw(self._vault, [document.id], InactiveReason.REMOVED)


def excluded_sentences(excluded: Iterable[tuple[Document, Exclusion]]) -> list[str]:
    """Return a sentence for each rule that excludes documents that were served until now."""
    by_rule: dict[Exclusion, list[str]] = defaultdict(list)
    for document, rule in excluded:
        by_rule[rule].append(document.path)
    return [_excluded_sentence(rule, paths) for rule, paths in by_rule.items()]


def _excluded_sentence(rule: Exclusion, paths: list[str]) -> str:
    more = f" and {len(paths) - NAMED} more" if len(paths) > NAMED else ""
    names = f"{', '.join(paths[:NAMED])}{more}"
    return f"No longer found, because {rule} excludes it: {names}. Without the rule the next update brings it back."
