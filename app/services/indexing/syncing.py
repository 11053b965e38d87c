"""One-time indexing of a folder, for vaults whose folders are not listed in a config file."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from clawmem.app.environment.places import real_path
from clawmem.app.services.indexing.collections import fault_of_imports
from clawmem.app.services.indexing.folders import Exclusions, Folder, scan_folder, seems_unmounted
from clawmem.app.services.indexing.update import PassReport, UpdateCollection
from clawmem.app.services.progress import Progress
from clawmem.app.settings.config_file import existing_folder, fault_of_name
from clawmem.domain.briefing.blocks import few
from clawmem.domain.documents.eligibility import check_pattern, compile_pattern
from clawmem.domain.documents.identity import is_current, source_hash
from clawmem.domain.security.folders import Restriction, restriction_inside, restriction_of
from clawmem.domain.security.secrets import key_material_in
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import InvalidInput, SourceMissing, SourceUnreadable
from clawmem.ports.files import FileSource
from clawmem.ports.records import Document, Scan

PATTERN = "**/*.md"


class RestrictedFolder(InvalidInput):
    """A folder that must not be read into a vault, or not by a program."""

    def __init__(self, folder: str, why: str, remedy: str = "Choose a folder of notes.") -> None:
        super().__init__("RESTRICTED_PATH", f"{folder} {why}. Nothing of it was read. {remedy}")


def sync_folder(
    folder: str,
    collection: str,
    pattern: str = PATTERN,
    *,
    update_alone: Callable[..., UpdateCollection],
    documents: DocumentStore,
    files: FileSource,
    single_files: FileSource,
    home: Path,
    vault: str | None = None,
    own: Sequence[Path] = (),
    allowed: Sequence[Path] | None = None,
    allow_empty: bool = False,
    progress: Progress = lambda done, total: None,
) -> PassReport:
    """
    Synchronize *collection* with *folder*. Documents of the collection that are not in *folder* are removed.

    Credentials and clawmem's own files in the folder are skipped; the report names them. The folder may be mistyped, so
    that only *allow_empty* lets one empty a collection that has no file to read, or nearly none of its files, or that is
    another folder than before without most of its texts. Nor does the default *pattern* remove notes that were read with
    another one.

    Args:
        update_alone: Makes an `UpdateCollection` over ``files``.
        files: File source for persons.
        single_files: File source for programs, without files that have hard links, whose other names may be anywhere.
        home: The home folder of the user; folders below it may be read.
        vault: The name of the vault, if it has one.
        own: The files of clawmem itself: its vaults and its config file.
        allowed: For a program: the folders that it may read, with their subfolders. ``None`` for a person.

    Raises:
        RestrictedFolder: *folder*, or the target of its links, must not be read.
        InvalidInput: invalid folder, collection name or pattern, no file to read, or another folder.
        VaultError: earlier commits are kept.
    """
    if fault := fault_of_name(collection) or fault_of_imports(collection, documents, "--collection"):
        raise InvalidInput("INVALID_INPUT", fault)
    check_pattern(pattern)
    root = admitted(folder, home, own=own, allowed=allowed)
    fits = compile_pattern(pattern)
    known = {} if allow_empty else documents.sources(collection)
    served = {path: note for path, note in known.items() if note.inactive is None}
    left_out = [path for path in served if pattern == PATTERN and not fits(path)]
    if left_out := [path for path in left_out if (root / path).is_file()]:
        advice = "Repeat with the --pattern of the time before, or with --allow-empty to remove them."
        message = f"{few(left_out)} of collection {collection} would be removed, as {pattern} leaves them out. {advice}"
        raise InvalidInput("INVALID_PATTERN", message)
    guarded = GuardedFiles(
        files if allowed is None else single_files, home, [real_path(path) for path in own]
    )
    source = Folder(collection, str(root), pattern)
    rules = Exclusions(guarded, source)
    if (scan := scan_folder(guarded, source, rules)).files or allow_empty:
        lost = [path for path in served.keys() - {f.path for f in scan.files} if not rules.explained(path)]
        former = documents.folder(collection)
        _refuse_other_folder(guarded, source, served, len(lost), former or str(root), vault or collection)
        update = update_alone(files=guarded)
        if former != str(root):
            with update.transactions.writing():
                documents.set_folder(collection, str(root))
        report = update(source, allow_empty=allow_empty, progress=progress)
        report.problems.extend(guarded.skipped.values())
        if allow_empty or documents.collections().get(collection):
            return report
    remedy = "Give another folder or --pattern"
    remedy = rules.why_unreadable(scan.unreadable[0]) if scan.unreadable else remedy
    excluded = few([f"{count} by {rule}" for rule, count in rules.counts.items()], 5)
    remedy = f"Excluded: {excluded}. {remedy}" if excluded else remedy
    fault = f"No readable file of {root} matches {pattern}. {remedy}."
    if documents.collections().get(collection):
        fault += f" To remove all documents of {collection}, add --allow-empty."
    raise InvalidInput("NOTHING_INDEXED", fault)


def _refuse_other_folder(
    files: FileSource, folder: Folder, served: Mapping[str, Document], lost: int, former: str, vault: str
) -> None:
    """
    Refuse to replace the *served* notes, *lost* of which *folder* lacks.

    It is refused if it seems unmounted, or is not the *former* folder and has less than half of the texts.
    """
    same, is_other = 0, bool(served) and former != folder.root
    for path, note in served.items() if is_other else ():
        with suppress(SourceMissing, SourceUnreadable):
            same += is_current(note, source_hash(files.read(folder.root, path)))
    fault = f"{folder.root} lacks the files of {lost:,} documents of {folder.name}. Is its disk mounted?"
    if is_other and same < len(served) / 2:
        fault = f"{folder.root} has {same} of the {len(served):,} texts of collection {folder.name}, "
        fault += f"which was read from {former} until now."
    elif not seems_unmounted(files, folder, lost, len(served)):
        return
    named = [] if folder.name == vault else ["--collection", folder.name]
    named += [] if folder.pattern == PATTERN else ["--pattern", folder.pattern]
    command = shlex.join(["clawmem", "vault", "sync", vault, folder.root, *named, "--allow-empty"])
    remedy = f"For another folder choose another NAME. To replace the documents, run: {command}"
    raise InvalidInput("OTHER_FOLDER", f"{fault} Nothing was changed. {remedy}")


def admitted(
    folder: str, home: Path, *, own: Sequence[Path] = (), allowed: Sequence[Path] | None = None
) -> Path:
    """
    Return *folder* with links resolved, if both its name and the resolved path may be read, see `sync_folder`.

    Raises:
        RestrictedFolder: *folder* must not be read.
        InvalidInput: *folder* is not a folder.
    """
    called = f"{home}{folder[1:]}" if folder == "~" or folder.startswith("~/") else folder
    whole_home = real_path(home)  # if the home folder is a link, either of its names is accepted
    if why := restriction_of(called, str(home)) and restriction_of(called, str(whole_home)):
        raise RestrictedFolder(folder, why)
    root = existing_folder(Path(called))
    if why := restriction_of(str(root), str(whole_home)) or is_own(root, [real_path(path) for path in own]):
        raise RestrictedFolder(folder, why)
    if allowed is not None and not any(root.is_relative_to(real_path(path)) for path in allowed):
        # The message names no configured folder, because the folders of one vault must not be revealed to another.
        remedy = "The user can list it under 'sync_folders:' in the config file, or run: clawmem vault sync NAME FOLDER"
        raise RestrictedFolder(folder, "is not below a folder that programs may read", remedy)
    return root


@dataclass(eq=False, slots=True)
class GuardedFiles:
    """
    ``FileSource`` that leaves out credential stores by name, key material by content, and clawmem's own files.

    ``skipped`` are sentences about the files and folders that were left out by name since the last scan began. For the
    others see `sync_folder`.
    """

    files: FileSource
    home: Path
    own: Sequence[Path]
    skipped: dict[str, str] = field(default_factory=dict)

    def scan(self, root: str, *, enter: Callable[[str], bool], wanted: Callable[[str], bool]) -> Scan:
        def is_open(path: str) -> bool:
            why = restriction_inside(path, root, str(self.home)) or is_own(Path(root, path), self.own)
            if why:
                self.skipped[path] = f"{path} was skipped: it {why}."
            return not why

        return self.files.scan(
            root,
            enter=lambda path: enter(path) and is_open(path),
            wanted=lambda path: wanted(path) and is_open(path),
        )

    def read(self, root: str, path: str) -> bytes:
        data = self.files.read(root, path)
        if kind := key_material_in(data):
            raise SourceUnreadable(path, f"it is {kind}")
        return data


def is_own(path: Path, own: Sequence[Path]) -> Restriction | None:
    """Return a restriction if *path* is one of the files *own*, a file derived from one, or below such a folder."""
    for file in own:
        names = [f"{file.name}{ending}" for ending in ("", "-wal", "-shm", "-journal")]  # those of SQLite
        for place in (path, *path.parents):
            if place.parent == file.parent and (
                place.name in names or place.name.startswith(f"{file.name}.")
            ):
                return Restriction.OWN
        if file.parent.name == "clawmem" and path.is_relative_to(file.parent):
            return Restriction.OWN
    return None
