"""Explanation whether a file is indexed, and why not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from os.path import abspath, lexists
from pathlib import Path

from clawmem.app.environment.places import below_home, real_path
from clawmem.app.services.indexing.folders import (
    BUILT_IN,
    MISSING_FOLDER,
    OWN,
    Exclusion,
    Exclusions,
    Folder,
    file_of_stub,
    scan_folder,
)
from clawmem.app.services.indexing.source import ParseFrontMatter, parse_source
from clawmem.app.services.indexing.update import is_forgotten_file
from clawmem.domain.documents.eligibility import compile_pattern
from clawmem.domain.documents.identity import is_current, is_forgotten, parse_virtual_path, source_hash
from clawmem.domain.documents.names import unicode_forms
from clawmem.domain.security.folders import restriction_of
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import NotFound, SourceUnreadable
from clawmem.ports.files import FileSource
from clawmem.ports.journal import ForgottenTexts
from clawmem.ports.records import SourceStamp

UPDATE = "Run: clawmem update"


@dataclass(frozen=True, slots=True)
class FileStatus:
    """
    The state of a file, a sentence with the reason, and the next step (empty if none is needed).

    ``state`` is indexed, waiting, excluded, other kind (for the pattern), outside (of all collections), link, folder,
    unreadable, forgotten, archived, or gone.
    """

    state: str
    reason: str
    remedy: str = ""
    path: str = ""
    collection: str | None = None
    rule: Exclusion | None = None

    @property
    def ok(self) -> bool:
        """Whether the file can be read."""
        return self.state != "unreadable"


@dataclass(frozen=True, slots=True)
class ExplainFile:
    """
    Explains the status of one file by the rules that an update follows.

    Args:
        documents, forgotten_texts: Those of the vault; ``None`` if there is none yet.
    """

    documents: DocumentStore | None
    forgotten_texts: ForgottenTexts | None
    files: FileSource
    folders: Sequence[Folder]
    parse_front_matter: ParseFrontMatter

    def __call__(self, name: str) -> FileStatus:
        """
        Return the status of the file *name*: its path, or its collection and path, such as ``notes/a.md``.

        Raises:
            NotFound: There is no such file, and there was none.
        """
        path = Path(abspath(below_home(name)))  # noqa: PTH100  resolves no links
        forms = [form for form in map(Path, unicode_forms(str(path))) if form.exists() or form.is_symlink()]
        collection, _, rest = name.partition("/")
        collection, rest = parse_virtual_path(name) or (collection, rest)
        root = next((folder.root for folder in self.folders if folder.name == collection), None)
        file = next(iter(forms), Path(root, rest) if root and rest else path)
        place = str(file).encode("utf-8", "backslashreplace").decode()
        folder = self._folder_of(file) or self._folder_of(real_path(file))
        if folder is None:
            if not lexists(file):
                raise NotFound("file", str(file))
            above = file if file.is_dir() else file.parent
            if why := restriction_of(str(above), str(Path.home())):
                return FileStatus("outside", f"It is outside all collections; its folder {why}.", "", place)
            remedy = f'To index its folder, run: clawmem collection add "{above}"'
            if not (file.is_dir() or compile_pattern(Folder("", "").pattern)(file.name)):
                ending = file.suffix and f"*.{{md,{file.suffix[1:]}}}"
                remedy += f" --pattern '**/{ending or file.name}'"
            return FileStatus("outside", "It is outside of all collections.", remedy, place)
        below = file if file.is_relative_to(folder.root) else real_path(file)
        status = self._status(folder, below.relative_to(folder.root).as_posix())
        return replace(status, collection=folder.name, path=place)

    def _folder_of(self, file: Path) -> Folder | None:
        """Return the innermost folder above *file* whose pattern matches; without one, the innermost."""
        above = [folder for folder in self.folders if file.is_relative_to(folder.root)]
        above.sort(key=lambda folder: len(Path(folder.root).parts), reverse=True)
        for folder in above:
            if compile_pattern(folder.pattern)(file.relative_to(folder.root).as_posix()):
                return folder
        return above[0] if above else None

    def _status(self, folder: Folder, path: str) -> FileStatus:
        root, path = Path(folder.root), file_of_stub(path)
        file, known = root / path, self.documents.at(folder.name, path) if self.documents else None
        parts = [path[:end] for end, sign in enumerate(f"{path}/") if sign == "/"]
        if link := next((part for part in parts if (root / part).is_symlink()), None):
            reason, remedy = f"{link} is a symbolic link", "Add the folder of its target as a collection."
            if not (root / link).exists():
                reason, remedy = f"{reason} without a target", "Correct or delete it."
            elif not file.exists():
                raise NotFound("file", str(file))
            return FileStatus("link", f"{reason}, and links are not followed.", remedy)
        exclusions = Exclusions(self.files, folder)
        scanned = f"{path}/x" if file.is_dir() else path
        scan = scan_folder(self.files, replace(folder, only=frozenset([scanned])), exclusions)
        if path in scan.evicted:
            return FileStatus("waiting", "iCloud has not downloaded it.", f"Open it to download it. {UPDATE}")
        if not file.exists():
            if known is None:
                raise NotFound("file", str(file))
            reason = f"Its file is gone; it was read last on {known.indexed_at[:10]}."
            remedy = f"Put the file back. {UPDATE}" if root.is_dir() else MISSING_FOLDER.format(folder.name)
            return FileStatus("gone", reason, remedy)
        if excluded := None if path == "." else exclusions.explained(path, is_folder=file.is_dir()):
            part, rule = excluded
            reason = f"{'It' if part == path else f'Its folder {part}'} is excluded by {rule}."
            remedy = f"Add the line !/{part} to the end of {OWN}. {UPDATE}"
            if rule.source == BUILT_IN:
                remedy = f"Add {part} to include: of the collection in the config file. {UPDATE}"
            return FileStatus("excluded", reason, remedy, rule=rule)
        for place in (*exclusions.unreadable, *scan.unreadable):
            if not place or f"{path}/".startswith(f"{place}/"):
                return FileStatus("unreadable", f"{exclusions.why_unreadable(place)}.", UPDATE)
        if file.is_dir():
            return FileStatus("folder", f"It is a folder that update reads ({folder.pattern}).")
        if not compile_pattern(folder.pattern)(path):
            reason = f"The pattern of the collection, {folder.pattern}, does not match it."
            remedy = f"Run: clawmem collection add {folder.root} --name {folder.name} --pattern PATTERN"
            return FileStatus("other kind", reason, remedy)
        if is_forgotten(known):
            remedy = "To index a new text, save it under another name."
            return FileStatus("forgotten", "It was forgotten on request.", remedy)
        try:
            data = self.files.read(folder.root, path)
            source = folder.name, path, SourceStamp(len(data), 0)
            parse = partial(parse_source, parse_front_matter=self.parse_front_matter)
            parsed = parse(data, *source, now_ms=0, extract=folder.extract)
        except SourceUnreadable as error:
            remedy = f"Correct the file. {UPDATE}"
            return FileStatus("unreadable", f"It cannot be indexed: {error.reason}.", remedy)
        if (
            self.documents
            and self.forgotten_texts
            and is_forgotten_file(self.documents, self.forgotten_texts, parsed.body, known)
        ):
            reason = "A note with the same text was forgotten on request."
            return FileStatus("forgotten", reason, "Edit it.")
        if known is None or not is_current(known, source_hash(data)):
            return FileStatus("waiting", "It waits for the next update.", UPDATE)
        if known.inactive is None:
            but = f", but: {parsed.complaint}" if parsed.complaint else ""
            return FileStatus("indexed", f"It is indexed{but}.")
        remedy = f"Run: clawmem restore {known.display_path}"
        return FileStatus("archived", f"It is {known.inactive} and not found by default.", remedy)
