"""Files that may hold conversations, on the disk or in a ZIP file that is read in place, and the JSON in them."""

from __future__ import annotations

import gzip
import io
import json
import os
import stat
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from posixpath import normpath
from shutil import get_unpack_formats
from typing import Any, BinaryIO, TextIO

from clawmem.ports.errors import SourceUnreadable
from clawmem.ports.imports import ReadFault
from clawmem.ports.json_text import read_json, whole_text
from clawmem.ports.records import SourceFile, SourceStamp

EXTENSIONS = (".json", ".jsonl", ".markdown", ".md", ".txt")
ZIP, GZIP = ".zip", ".gz"
TRANSCRIPT = ".jsonl.gz"  # in the archive of clawmem
ARCHIVES = tuple(ending for _, endings, _ in get_unpack_formats() for ending in endings if ending != ZIP)
DATABASES = ("openclaw-agent.sqlite", "opencode.db", "state.db")  # of agents; state.db is that of Hermes
SKIPPED = frozenset(".git node_modules __pycache__ .venv venv dist build tool-results subagents".split())

MAX_TEXT = 64 << 20  # bytes of a chat that is plain text
MAX_EXPANSION = 200  # text shrinks to a tenth, rarely to a fiftieth; a bomb to a thousandth
SMALL = 32 << 20  # bytes that may expand as they like
_SPOKEN = (None, "text", "input_text", "output_text")  # of parts; the last two in early sessions of Codex
_CHUNK = 1 << 16  # characters
_JSON = json.JSONDecoder()  # reads NaN, Infinity and half a character


class Unreadable(Exception):
    """A file, or the rest of one, that cannot be read; the message is the reason."""


class NotAConversation(Unreadable):
    """A sound file that holds no conversation."""


class Record(dict[str, Any]):
    """JSON object whose members may be missing or have another type; empty for any other value."""

    def __init__(self, value: object = None) -> None:
        super().__init__(value if isinstance(value, dict) else {})

    def text(self, *keys: str) -> str:
        """Return the first text among the members *keys* that is not empty; empty if there is none."""
        values = map(self.get, keys)
        return whole_text(next((value for value in values if isinstance(value, str) and value), ""))

    def object(self, key: str) -> Record:
        """Return an object."""
        return Record(self.get(key))

    def objects(self, key: str) -> list[Record]:
        """Return the objects in a list."""
        return records_in(self.get(key))

    def texts(self, key: str) -> list[str]:
        """Return the texts in a list."""
        values = self.get(key)
        return [value for value in values if isinstance(value, str)] if isinstance(values, list) else []

    def time(self, *keys: str) -> str | float | None:
        """Return the first value among the members *keys* that can be a time; ``None`` if there is none."""
        values = (value for value in map(self.get, keys) if value and not isinstance(value, bool))
        return next((value for value in values if isinstance(value, (str, int, float))), None)


def records_in(value: object) -> list[Record]:
    """Return the objects in *value* if it is a list, else none."""
    return [Record(item) for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text_of_parts(parts: object) -> str:
    """Return the texts in *parts* of a message, without tool calls and what the agent inserted."""
    shown = (part for part in records_in(parts) if not (part.get("synthetic") or part.get("ignored")))
    return paragraphs(*(part.text("text") for part in shown if part.get("type") in _SPOKEN))


def parsed(text: str | bytes) -> Record:
    """Return the object in JSON *text*; empty for anything else."""
    with suppress(ValueError, RecursionError):
        return Record(read_json(text))
    return Record()


def paragraphs(*texts: str) -> str:
    """Return the texts that are not empty, with blank lines between them."""
    return "\n\n".join(filter(None, texts))


def with_attachments(text: str, files: list[Record]) -> str:
    """Return *text* with the names of attached *files*."""
    names = list(dict.fromkeys(filter(None, (file.text("file_name", "name") for file in files))))[:20]
    return paragraphs(text, f"[attached: {', '.join(names)}]" if names else "")


def branch(leaf: str, parents: Mapping[str, str]) -> list[str]:
    """Return the ids of the messages from the root to *leaf*; a cycle ends the walk."""
    path: dict[str, None] = {}
    while leaf and leaf not in path:
        path[leaf] = None
        leaf = parents.get(leaf, "")
    return [*reversed(path)]


@dataclass(frozen=True, eq=False)
class Member:
    """
    One file: its name relative to the export, with forward slashes, and its ``file``, whose absolute path identifies it.

    The path of a file in a ZIP file follows that of the ZIP file. ``tree`` are all files of the export by name.
    """

    name: str
    file: SourceFile
    tree: Mapping[str, Member] = field(default_factory=dict)
    archive: zipfile.ZipFile | None = None

    @property
    def folder(self) -> str:
        """The name of the folder, relative to the export."""
        return self.name.rpartition("/")[0]

    @property
    def stem(self) -> str:
        """The name of the file without folders and ending."""
        return self.name.rpartition("/")[2].removesuffix(GZIP).rpartition(".")[0]

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open the file for reading; raise `Unreadable` if that fails, also while the caller reads."""
        try:
            if self.archive is None and self.file.path.endswith(TRANSCRIPT):
                with gzip.open(self.file.path) as packed:
                    while packed.read(_CHUNK):
                        _refuse_bomb(self.file.stamp.size, packed.tell())
                    packed.seek(0)
                    yield packed  # type: ignore[misc]
                return
            if self.archive is None:
                with Path(self.file.path).open("rb") as file:
                    yield file
                return
            info = self.archive.getinfo(self.name)
            _refuse_bomb(info.compress_size, info.file_size)
            with self.archive.open(info) as packed:
                yield packed  # type: ignore[misc]
        except OSError as error:
            raise Unreadable(reason_of_os(error)) from error
        except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
            raise Unreadable(f"its data is damaged, encrypted or of unknown compression ({error})") from error

    @contextmanager
    def open_text(self) -> Iterator[TextIO]:
        """Open the file, in UTF-8 or UTF-16; damaged characters become ``U+FFFD``. Raises `Unreadable` as `open`."""
        with self.open() as file:
            start = file.peek(2)[:2]  # type: ignore[attr-defined]
            encoding = "utf-16" if start in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
            yield io.TextIOWrapper(file, encoding, "replace", newline="\n")

    def head(self, most: int) -> str:
        """Return about the first *most* characters, with long texts such as pasted images cut short."""
        head = ""
        with self.open_text() as file:
            for _ in range(8):
                if len(head) < most:
                    head += '"'.join(text[:1_000] for text in file.read(most).split('"'))
        return head

    def lines(self) -> Iterator[bytes]:
        """Yield the lines in UTF-8. Raises `Unreadable` as `open`."""
        with self.open_text() as text:
            yield from map(str.encode, text)

    def objects(self) -> Iterator[Record]:
        """
        Yield the objects of JSON one after the other: the items of an array, one object, or those on its lines.

        Memory is bounded by the longest object. Raises `Unreadable` where an array is no JSON any more, and after the last
        of lines of which some are none.
        """
        with self.open_text() as file:
            text = file.read(_CHUNK).lstrip()
            is_list = is_open = text.startswith("[")
            at, count, broken, line = int(is_list), 0, 0, 1 + text.count("\n")
            while True:
                while at < len(text) and text[at] in " \t\r\n,]":
                    is_open &= text[at] != "]"
                    at += 1
                try:
                    value, end = _JSON.raw_decode(text, at)
                except (ValueError, RecursionError) as error:
                    reason, place = getattr(error, "msg", str(error)), getattr(error, "pos", 0)
                    is_cut = place > len(text) - len("-Infinity") or reason.startswith("Unterminated string")
                    if is_cut and (more := file.read(max(_CHUNK, len(text) - at))):
                        text, at, line = text[at:] + more, 0, line + more.count("\n")
                        continue
                    if at == len(text) and not (is_open or broken):
                        return
                    if not is_list and (end := text.find("\n", place)) > 0:
                        at, broken = end, broken + 1
                        continue
                    damage, line = "cut off" if is_cut else "invalid", line - text.count("\n", place)
                    reason = f"its JSON is {damage} at line {line}, after {count} entries ({reason})"
                    raise Unreadable(f"unreadable lines: {broken}" if broken else reason) from error
                if isinstance(value, dict):
                    yield Record(read_json(text[at:end]))
                at, count = end, count + 1

    def objects_next_to(self, name: str) -> list[Record]:
        """Return the objects of the small file *name*, relative to the folder; none if it cannot be read."""
        member = self.tree.get(normpath(f"{self.folder}/{name}").removeprefix("/"))
        with suppress(Unreadable):
            return list(member.objects()) if member else []
        return []


def _refuse_bomb(packed: int, size: int) -> None:
    if size > max(SMALL, MAX_EXPANSION * packed):
        raise Unreadable(f"it would expand from {packed} to {size} bytes, as only a ZIP bomb does")


def members_of(files: Mapping[str, SourceFile], archive: zipfile.ZipFile | None = None) -> list[Member]:
    """Return the members of an export from its *files* by name."""
    tree: dict[str, Member] = {}
    tree.update((name, Member(name, file, tree, archive)) for name, file in files.items())
    return [*tree.values()]


def export_files(paths: Sequence[str]) -> tuple[list[SourceFile], list[ReadFault]]:
    """See `clawmem.ports.imports.ConversationExports.files`."""
    files: dict[str, SourceFile] = {}
    faults: list[ReadFault] = []

    def complain(error: OSError) -> None:
        reason = "it does not exist" if isinstance(error, FileNotFoundError) else reason_of_os(error)
        faults.append(ReadFault(os.fsencode(error.filename).decode("utf-8", "backslashreplace"), reason))

    def is_named_in_utf_8(*place: str) -> bool:
        data = os.fsencode(os.path.join(*place))  # noqa: PTH118
        name = data.decode("utf-8", "backslashreplace")
        if name.encode() != data:
            faults.append(ReadFault(name, "its name is not UTF-8; rename it"))
        return name.encode() == data

    for path in map(os.path.abspath, paths):
        places = [] if os.path.isdir(path) else [path]  # noqa: PTH112
        for folder, folders, names in os.walk(path, onerror=complain) if not places else ():
            folders[:] = [name for name in set(folders) - SKIPPED if is_named_in_utf_8(folder, name)]
            names = [
                name
                for name in names
                if (name.lower().endswith((*EXTENSIONS, ZIP, TRANSCRIPT)) or name in DATABASES)
                and not name.startswith("._")  # of macOS
            ]
            places += [os.path.join(folder, name) for name in names]  # noqa: PTH118
        for place in places:
            if not is_named_in_utf_8(place):
                continue
            try:
                status = os.stat(place, follow_symlinks=place == path)  # noqa: PTH116
            except OSError as error:
                complain(error)
                continue
            if stat.S_ISREG(status.st_mode):
                size, mtime_ns = status.st_size, status.st_mtime_ns
                if place.endswith(DATABASES):
                    with suppress(OSError):  # a database grows in its log
                        log = os.stat(f"{place}-wal")  # noqa: PTH116
                        size, mtime_ns = size + log.st_size, max(mtime_ns, log.st_mtime_ns)
                files[place] = SourceFile(place, SourceStamp(size, mtime_ns))
            else:
                is_link = stat.S_ISLNK(status.st_mode)
                reason = "it is a symbolic link; name its target" if is_link else "it is not a regular file"
                faults.append(ReadFault(place, reason))
    if faults and not files:
        raise SourceUnreadable(faults[0].file, faults[0].reason)
    return [files[place] for place in sorted(files)], faults


def reason_of_os(error: OSError) -> str:
    """Return the message of *error* for a sentence."""
    return (error.strerror or str(error)).lower()
