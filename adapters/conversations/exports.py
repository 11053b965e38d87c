"""Exports and sessions on disk: the files that may hold conversations, and the table of their formats."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterable, Iterator, Sequence

from clawmem.adapters.conversations import (
    agents,
    chatgpt,
    chats,
    claude_ai,
    databases,
    gemini,
    slack,
)
from clawmem.adapters.conversations.agents import ReadMessages
from clawmem.adapters.conversations.chats import Decode
from clawmem.adapters.conversations.format import Format
from clawmem.adapters.conversations.listing import PACKED, PAGE, ZIP, export_files, reason_of
from clawmem.adapters.conversations.members import (
    UNKNOWN,
    Member,
    NotAConversation,
    Tree,
    Unreadable,
    folder_tree,
    zip_tree,
)
from clawmem.adapters.conversations.shapes import Kind, Shape, shape_of
from clawmem.ports.conversations import (
    ConversationExports,
    ExportFile,
    ExportPart,
    FileFinished,
    ImportedConversation,
    ReadFault,
)


class DiskExports(ConversationExports):
    """
    ``ConversationExports`` in files, folders and ZIP files.

    Args:
        read_messages: Parses the lines of a session of Claude Code, Codex or Gemini CLI.
        decode: Returns the text of a file of any encoding.
    """

    def __init__(self, read_messages: ReadMessages, decode: Decode) -> None:
        self._formats = (
            *chatgpt.FORMATS,
            *claude_ai.FORMATS,
            *gemini.FORMATS,
            *agents.formats(read_messages),
            *databases.FORMATS,
            *slack.FORMATS,
            *chats.formats(decode),
        )

    def files(self, paths: Sequence[str]) -> tuple[list[ExportFile], list[ReadFault]]:
        return export_files(paths)

    def read(self, changed: Sequence[ExportFile], every: Sequence[ExportFile]) -> Iterator[ExportPart]:
        archives = [file for file in changed if file.path.lower().endswith(ZIP)]
        plain = {file.path: file for file in changed if not file.path.lower().endswith(ZIP)}
        for file in archives:
            yield from _of_archive(self._formats, file)
        if plain:
            around = {
                file.path: file.stamp.mtime_ns / 1e9 for file in every if not file.path.lower().endswith(ZIP)
            }
            root = os.path.commonpath([os.path.dirname(path) for path in around])  # noqa: PTH120
            tree = folder_tree(root, around)
            by_place = {member.place: name for name, member in tree.items()}
            for part in _of_tree(self._formats, tree, [by_place[path] for path in plain]):
                yield from _finished(part, plain)


def _finished(part: ExportPart | _FinishedGroup, files: dict[str, ExportFile]) -> Iterator[ExportPart]:
    if not isinstance(part, _FinishedGroup):
        yield part
        return
    for place in part.places:
        if place in files:
            yield FileFinished(files[place], part.source)


class _FinishedGroup:
    """The end of a group of files."""

    def __init__(self, places: Iterable[str], source: str) -> None:
        self.places, self.source = list(places), source


def _of_archive(formats: Sequence[Format], file: ExportFile) -> Iterator[ExportPart]:
    try:
        with zipfile.ZipFile(file.path) as archive:
            tree, refused = zip_tree(archive, file.path, file.stamp.mtime_ns / 1e9)
            for name in refused:
                yield ReadFault(
                    f"{file.path}/{name}", "its name leads out of the ZIP file, so it is left out"
                )
            sources, is_whole, is_silent = [], True, not refused
            for part in _of_tree(formats, tree, list(tree)):
                if isinstance(part, _FinishedGroup):
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
    except (zipfile.BadZipFile, EOFError, ValueError) as error:
        yield ReadFault(file.path, f"it is no complete ZIP file ({error}); download it again")
        return
    except Unreadable as error:
        yield ReadFault(file.path, str(error))
        return
    except OSError as error:
        yield ReadFault(file.path, reason_of(error))
        return
    if is_whole:
        yield FileFinished(file, next(filter(None, sources), ""))


def _of_tree(
    formats: Sequence[Format], tree: Tree, changed: Sequence[str]
) -> Iterator[ExportPart | _FinishedGroup]:
    """Yield what *changed* files hold, group by group; a changed file brings the other files of its group along."""
    read: set[str] = set()
    for name in changed:
        if name in read:
            continue
        read.add(name)
        try:
            format_ = _format_of(formats, tree[name])
            if format_ is None:
                raise NotAConversation(UNKNOWN)
            group = _group(format_, tree, name)
            read |= {member.name for member in group}
            damaged = set()
            for said in format_.read(group, tree):
                if isinstance(said, ReadFault):
                    damaged |= {said.file} if said.is_partial else set()
                    yield said
                else:
                    yield _dated(said, max(member.mtime_s for member in group))
            yield _FinishedGroup({member.place for member in group} - damaged, format_.source)
        except NotAConversation as error:
            yield ReadFault(tree[name].place, str(error), is_foreign=True)
            yield _FinishedGroup([tree[name].place], "")
        except Unreadable as error:
            yield ReadFault(error.place or tree[name].place, str(error))
        except Exception as error:  # noqa: BLE001  whatever one file has in it, the others are read
            yield ReadFault(tree[name].place, f"it has an unexpected form ({type(error).__name__}: {error})")


def _dated(said: ImportedConversation, written: float) -> ImportedConversation:
    """Return *said* with the time of its file in the place of missing times."""
    is_timed = said.updated is not None or any(one.at is not None for one in said.messages)
    return said._replace(
        started=written if said.started is None else said.started,
        updated=said.updated if is_timed else written,
    )


def _format_of(formats: Sequence[Format], member: Member) -> Format | None:
    if member.name.lower().endswith(PACKED):
        raise Unreadable("of archives, ZIP files alone are read; unpack it, and name its folder")
    head = member.head
    if not head.strip():
        raise Unreadable("it is empty")
    shape = shape_of(head)
    if member.name.lower().endswith(PAGE) and shape.kind is Kind.TEXT:
        shape = Shape(Kind.PAGE)  # a part of a page
    found = next((one for one in formats if one.recognises(shape)), None)
    if shape.damage and shape.keys and not (found and found.source):
        raise Unreadable(f"it is no valid JSON ({shape.damage})")
    return found


def _group(format_: Format, tree: Tree, name: str) -> list[Member]:
    key = format_.group(name)
    if key == name:
        return [tree[name]]
    return [tree[one] for one in sorted(tree) if format_.group(one) == key and one.endswith(".json")]
