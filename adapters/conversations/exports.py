"""Exports and sessions on disk: folders, files and ZIP files that may hold conversations."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence

from clawmem.adapters.conversations.chats import Decode
from clawmem.adapters.conversations.detection import Detection
from clawmem.adapters.conversations.members import (
    PACKED,
    ZIP,
    NotAConversation,
    Tree,
    Unreadable,
    export_files,
    folder_tree,
    reason_of_os,
    zip_tree,
)
from clawmem.adapters.conversations.sessions import ReadMessages
from clawmem.ports.imports import (
    ConversationExports,
    ExportPart,
    FileFinished,
    ImportedConversation,
    ReadFault,
)
from clawmem.ports.records import SourceFile

UNKNOWN = "it has no known format of conversations"


class DiskExports(ConversationExports):
    """``ConversationExports`` in files, folders and ZIP files; for the arguments see `Detection`."""

    def __init__(self, read_messages: ReadMessages, decode: Decode) -> None:
        self._detection = Detection(read_messages, decode)

    def files(self, paths: Sequence[str]) -> tuple[list[SourceFile], list[ReadFault]]:
        return export_files(paths)

    def read(self, changed: Sequence[SourceFile], every: Sequence[SourceFile]) -> Iterator[ExportPart]:
        plain = {file for file in changed if not _is_zip(file)}
        for file in changed:
            if _is_zip(file):
                yield from self._in_archive(file)
        if plain:
            tree = folder_tree(file for file in every if not _is_zip(file))
            names = [name for name, member in tree.items() if member.file in plain]
            for part in self._in_tree(tree, names):
                if not isinstance(part, FileFinished) or part.file in plain:
                    yield part

    def _in_archive(self, file: SourceFile) -> Iterator[ExportPart]:
        """Yield the parts of a ZIP file, which is finished if every file in it could be read."""
        try:
            with zipfile.ZipFile(file.path) as archive:
                tree, refused = zip_tree(archive, file)
                sources, is_whole, is_silent = [""], True, not refused
                for name in refused:
                    reason = "its name leads out of the ZIP file, so it is left out"
                    yield ReadFault(f"{file.path}/{name}", reason)
                for part in self._in_tree(tree, list(tree)):
                    if isinstance(part, FileFinished):
                        sources.append(part.source)
                    else:
                        is_silent = False
                        is_whole &= not isinstance(part, ReadFault) or part.is_foreign
                        yield part
                inner = [name for name in archive.namelist() if name.lower().endswith(ZIP)]
                if inner and not any(sources):
                    raise Unreadable(f"it has ZIP files in it, such as {inner[0]}; unpack it, and name them")
                if is_silent:
                    yield ReadFault(file.path, UNKNOWN, is_foreign=True)
                if is_whole:
                    yield FileFinished(file, next(filter(None, sources), ""))
        except (zipfile.BadZipFile, EOFError, ValueError) as error:
            yield ReadFault(file.path, f"it is no complete ZIP file ({error}); download it again")
        except Unreadable as error:
            yield ReadFault(file.path, str(error))
        except OSError as error:
            yield ReadFault(file.path, reason_of_os(error))

    def _in_tree(self, tree: Tree, names: Sequence[str]) -> Iterator[ExportPart]:
        """Yield what the files *names* hold; a file brings the other files of its group along."""
        seen: set[str] = set()
        for name in names:
            if name in seen:
                continue
            seen.add(name)
            member = tree[name]
            try:
                if member.name.lower().endswith(PACKED):
                    raise Unreadable("of archives, ZIP files alone are read; unpack it, and name its folder")
                if (reader := self._detection.of_member(member)) is None:
                    raise NotAConversation(UNKNOWN)
                group = [member]
                if reader.group and (key := reader.group(name)) != name:
                    group = [
                        tree[other]
                        for other in sorted(tree)
                        if reader.group(other) == key and other.endswith(".json")
                    ]
                    seen |= {member.name for member in group}
                damaged = set()
                for part in reader.read(group, tree):
                    if isinstance(part, ReadFault):
                        damaged |= {part.file} if part.is_partial else set()
                        yield part
                    else:
                        yield _dated(part, max(member.file.stamp.mtime_ns for member in group) / 1e9)
                yield from (
                    FileFinished(read.file, reader.source) for read in group if read.place not in damaged
                )
            except NotAConversation as error:
                yield ReadFault(member.place, str(error), is_foreign=True)
                yield FileFinished(member.file)
            except Unreadable as error:
                yield ReadFault(error.place or member.place, str(error))
            except Exception as error:  # noqa: BLE001  whatever one file has in it, the others are read
                reason = f"it has an unexpected form ({type(error).__name__}: {error})"
                yield ReadFault(member.place, reason)


def _is_zip(file: SourceFile) -> bool:
    return file.path.lower().endswith(ZIP)


def _dated(conversation: ImportedConversation, written: float) -> ImportedConversation:
    """Return *conversation* with the time of its file in the place of missing times."""
    is_timed = conversation.updated is not None or any(
        message.at is not None for message in conversation.messages
    )
    return conversation._replace(
        started=written if conversation.started is None else conversation.started,
        updated=conversation.updated if is_timed else written,
    )
