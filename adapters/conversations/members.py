"""Files that may hold conversations, on the disk or in a ZIP file that is read in place."""

from __future__ import annotations

import codecs
import io
import os
import re
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import BinaryIO, NamedTuple

from clawmem.ports.errors import SourceUnreadable
from clawmem.ports.imports import ImportedConversation, ReadFault
from clawmem.ports.records import SourceFile, SourceStamp

EXTENSIONS = (".json", ".jsonl", ".markdown", ".md", ".txt")
ZIP = ".zip"
PACKED = (".tgz", ".gz", ".tar", ".bz2", ".xz", ".7z", ".rar")
DATABASES = ("openclaw-agent.sqlite", "opencode.db", "state.db")  # of agents; state.db is that of Hermes
LOG = "-wal"  # suffix of the file in which a database keeps its latest changes
SKIPPED = frozenset(
    ".git node_modules __pycache__ .venv venv dist build .next .mempalace .grepai tool-results subagents".split()
)

MAX_LINE = 64 << 20  # bytes of one line of a session
MAX_TEXT = 64 << 20  # bytes of a chat that is plain text
MAX_MEMBERS = 500_000
MAX_EXPANSION = 200  # text shrinks to a tenth, rarely to a fiftieth; a bomb to a thousandth
SMALL = 32 << 20  # bytes that may expand as they like
MAX_DEPTH = 2_000  # levels of JSON
BYTES_OF_OPEN_BRACKET = 10_000  # of text for each bracket that is never closed
# The parser reads a text from its start again with each buffer: with 64 kB, one of 100 MB takes over a minute.
READ_AT_ONCE = 1 << 21

_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# Half a character: the first half without a second one, or the second without a first one. An escaped backslash
# begins no escape.
_HALF = re.compile(
    r"(?<!\\)((?:\\\\)*)\\u(?:[dD][89abAB]HH(?!\\u[dD][c-fC-F]HH)|(?<!\\u[dD][89abAB]HH\\u)[dD][c-fC-F]HH)".replace(
        "HH", "[0-9a-fA-F]{2}"
    )
)
_OUTSIDE_OF_ESCAPES = (" ", ",", ":", "\n")


class Unreadable(Exception):
    """A file, or the rest of one, that cannot be read; the text is the reason, ``place`` the path if it is known."""

    place = ""


class NotAConversation(Unreadable):
    """A sound file that holds no conversation."""


@dataclass(frozen=True)
class Member:
    """One file: its name relative to the export, and the absolute path that identifies it."""

    name: str
    file: SourceFile
    archive: zipfile.ZipFile | None = None

    @property
    def place(self) -> str:
        """The absolute path; that of a file in a ZIP file follows the path of the ZIP file."""
        return self.file.path

    @property
    def stem(self) -> str:
        """The name of the file without folders and ending."""
        return self.name.rpartition("/")[2].rpartition(".")[0]

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """
        Open the file for reading.

        Raises:
            Unreadable: also for an error while the caller reads.
        """
        try:
            with self._opened() as file:
                yield file
        except Unreadable as error:
            error.place = self.place
            raise
        except OSError as error:
            raise self._unreadable(reason_of_os(error)) from error
        except (zipfile.BadZipFile, zlib.error, EOFError) as error:
            raise self._unreadable(f"its data is damaged ({error})") from error
        except NotImplementedError as error:
            raise self._unreadable("it is compressed in a way that cannot be read") from error
        except RuntimeError as error:
            if "password" not in str(error) and "encrypted" not in str(error):
                raise
            raise self._unreadable("it is encrypted; unpack it first") from error

    def _unreadable(self, reason: str) -> Unreadable:
        error = Unreadable(reason)
        error.place = self.place
        return error

    def _opened(self) -> BinaryIO:
        if self.archive is None:
            return open(self.place, "rb")  # noqa: PTH123
        info = self.archive.getinfo(self.name)
        if info.file_size > SMALL and info.file_size > MAX_EXPANSION * max(info.compress_size, 1):
            raise Unreadable(
                f"it would expand from {info.compress_size} to {info.file_size} bytes, as only a ZIP bomb does"
            )
        return self.archive.open(info)  # type: ignore[return-value]

    def head(self, size: int) -> tuple[bytes, bool]:
        """Return about the first *size* bytes in UTF-8, and whether they are the whole file."""
        data = b""
        with self.open() as file:
            stream = Utf8Stream(file)
            while len(data) < size:
                if not (more := stream.read(max(size - len(data), 1 << 16))):
                    return data, True
                data += more
        return data, False

    def lines(self) -> Iterator[bytes]:
        """Yield the complete lines, in UTF-8; a line above `MAX_LINE` is skipped."""
        with self.open() as file:
            is_wide = file.read(2) in _UTF_16
        with self.open() as file:
            if is_wide:
                wide = io.TextIOWrapper(file, "utf-16", "replace", newline="\n")
                yield from (line.encode("utf-8", "replace") for line in wide)
                return
            while line := file.readline(MAX_LINE):
                if line.endswith(b"\n") or len(line) < MAX_LINE:
                    yield line
                    continue
                while line and not line.endswith(b"\n"):
                    line = file.readline(MAX_LINE)

    def content(self) -> bytes:
        """Return the whole file. Raises `Unreadable` above `MAX_TEXT`."""
        with self.open() as file:
            data = file.read(MAX_TEXT + 1)
        if len(data) > MAX_TEXT:
            raise Unreadable(f"it has more than {MAX_TEXT} bytes, too many for a chat in plain text")
        return data


class Utf8Stream:
    """
    Byte stream in UTF-8 over JSON in UTF-8 or UTF-16.

    Damaged characters, and escaped halves of characters, which the parser does not accept, become ``U+FFFD``. JSON that
    is nested deeper than `MAX_DEPTH` raises `Unreadable`: a parser takes memory for every level. Brackets in texts are
    counted as well, which is no harm, because most of them are closed.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._depth, self._length = 0, 0
        start = file.read(4)
        encoding = "utf-16" if start[:2] in _UTF_16 else "utf-8-sig"
        self._decoder = codecs.getincrementaldecoder(encoding)("replace")
        self._check_depth(start)
        self._rest = self._decoder.decode(start)  # ends in an escape, perhaps

    def read(self, size: int = -1) -> bytes:
        """Return about *size* bytes; empty at the end."""
        if size == 0:
            return b""
        text, end = self._rest, 0
        while not end and (data := self._file.read(size)):
            self._check_depth(data)
            text += self._decoder.decode(data)
            end = max(map(text.rfind, _OUTSIDE_OF_ESCAPES)) + 1
            if not end and len(text) > READ_AT_ONCE:
                end = len(text)
        if not end:
            text += self._decoder.decode(b"", final=True)
            end = len(text)
        self._rest = text[end:]
        text = text[:end]
        if "\\ud" in text or "\\uD" in text:
            text = _HALF.sub(r"\1\\ufffd", text)
        return text.encode("utf-8", "replace")

    def _check_depth(self, data: bytes) -> None:
        self._length += len(data)
        self._depth += sum(map(data.count, (b"[", b"{"))) - sum(map(data.count, (b"]", b"}")))
        if self._depth > MAX_DEPTH + self._length // BYTES_OF_OPEN_BRACKET:
            raise Unreadable("it is nested too deeply")


def export_files(paths: Sequence[str]) -> tuple[list[SourceFile], list[ReadFault]]:
    """See `clawmem.ports.imports.ConversationExports.files`."""
    files: dict[str, SourceFile] = {}
    faults: list[ReadFault] = []

    def complain(error: OSError) -> None:
        reason = "it does not exist" if isinstance(error, FileNotFoundError) else reason_of_os(error)
        faults.append(ReadFault(os.fsdecode(error.filename), reason))

    for path in map(os.path.abspath, paths):
        for place in _places(path, complain):
            try:
                status = os.lstat(place) if place != path else os.stat(place)  # noqa: PTH116  a link keeps its name
            except OSError as error:
                complain(error)
                continue
            if not stat.S_ISREG(status.st_mode):
                if place == path:
                    faults.append(ReadFault(path, "it is not a regular file"))
                continue
            size, mtime_ns = status.st_size, status.st_mtime_ns
            if not place.lower().endswith((*EXTENSIONS, ZIP)):
                with suppress(OSError):  # a database grows in its log
                    log = os.stat(place + LOG)  # noqa: PTH116
                    size, mtime_ns = size + log.st_size, max(mtime_ns, log.st_mtime_ns)
            files[place] = SourceFile(place, SourceStamp(size, mtime_ns))
    if faults and not files:
        raise SourceUnreadable(faults[0].file, faults[0].reason)
    return [files[place] for place in sorted(files)], faults


def reason_of_os(error: OSError) -> str:
    """Return the message of *error* for a sentence."""
    return (error.strerror or str(error)).lower()


def _places(path: str, complain: Callable[[OSError], None]) -> Iterator[str]:
    if not os.path.isdir(path):  # noqa: PTH112
        yield path
        return
    for folder, folders, names in os.walk(path, onerror=complain):
        folders[:] = sorted(set(folders) - SKIPPED)
        yield from (
            os.path.join(folder, name)  # noqa: PTH118
            for name in sorted(names)
            if name.lower().endswith((*EXTENSIONS, ZIP)) or name in DATABASES
        )


Tree = Mapping[str, Member]
"""The files of an export by name, with forward slashes."""


def zip_tree(archive: zipfile.ZipFile, file: SourceFile) -> tuple[Tree, list[str]]:
    """
    Return the text files in a ZIP file, and the names that are refused: links, and paths out of the archive.

    Raises:
        Unreadable: it has too many files.
    """
    entries = archive.infolist()
    if len(entries) > MAX_MEMBERS:
        raise Unreadable(f"it has {len(entries)} files, {MAX_MEMBERS} are the most")
    tree: dict[str, Member] = {}
    refused = []
    for info in entries:
        if info.is_dir() or not info.filename.lower().endswith(EXTENSIONS):
            continue
        name = info.orig_filename.replace("\\", "/")
        is_absolute = name.startswith("/") or name[1:2] == ":"
        if (
            is_absolute
            or ".." in PurePosixPath(name).parts
            or "\0" in name
            or stat.S_ISLNK(info.external_attr >> 16)
        ):
            refused.append(info.filename)
        else:
            place = f"{file.path}/{info.filename}"
            tree[info.filename] = Member(info.filename, SourceFile(place, file.stamp), archive)
    return tree, refused


def folder_tree(files: Iterable[SourceFile]) -> Tree:
    """Return *files* as the tree below the folder that they share."""
    listed = list(files)
    root = os.path.commonpath([os.path.dirname(file.path) for file in listed])  # noqa: PTH120
    names = (os.path.relpath(file.path, root).replace(os.sep, "/") for file in listed)
    return {name: Member(name, file) for name, file in zip(names, listed, strict=True)}


Read = Callable[[Sequence[Member], Tree], Iterator[ImportedConversation | ReadFault]]


class Reader(NamedTuple):
    """
    Reader of the files of one format.

    ``group`` maps the name of a file to a key: the files of one key are read together; without it, each file alone. A
    reader without a ``source`` is for files of an export that hold no conversation.
    """

    source: str
    read: Read
    group: Callable[[str], str] | None = None
