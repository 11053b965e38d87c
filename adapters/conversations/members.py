"""Files that an export consists of, in a folder or in a ZIP file, which is read in place."""

from __future__ import annotations

import codecs
import io
import os
import stat
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import BinaryIO

from clawmem.adapters.conversations.listing import EXTENSIONS

SAMPLE = 1 << 18  # bytes from the start of a file that show its format
MAX_LINE = 64 << 20  # bytes of one line of a session
MAX_TEXT = 64 << 20  # bytes of a chat that is plain text
MAX_MEMBERS = 500_000
MAX_EXPANSION = 200  # text shrinks to a tenth, rarely to a fiftieth; a bomb to a thousandth
SMALL = 32 << 20  # bytes that may expand as they like
MAX_DEPTH = 2_000  # levels of JSON
BYTES_OF_OPEN_BRACKET = 10_000  # of text for each bracket that is never closed

UNKNOWN = "it has no known format of conversations"

_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))


class Unreadable(Exception):
    """A file, or the rest of one, that cannot be read; the text is the reason, ``place`` the path if it is known."""

    place = ""


class NotAConversation(Unreadable):
    """A sound file that holds no conversation."""


@dataclass(frozen=True)
class Member:
    """One file: its name relative to the export, and the absolute path that identifies it."""

    name: str
    place: str
    mtime_s: float
    archive: zipfile.ZipFile | None = None

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """
        Open the file for reading.

        Raises:
            Unreadable: also for an error while the caller reads.
        """
        try:
            with self._decompressed() as file:
                yield file
        except Unreadable as error:
            error.place = self.place
            raise

    @contextmanager
    def _decompressed(self) -> Iterator[BinaryIO]:
        try:
            with self._opened() as file:
                yield file
        except (zipfile.BadZipFile, zlib.error, EOFError) as error:
            raise Unreadable(f"its data is damaged ({error})") from error
        except NotImplementedError as error:
            raise Unreadable("it is compressed in a way that cannot be read") from error
        except RuntimeError as error:
            if "password" not in str(error) and "encrypted" not in str(error):
                raise
            raise Unreadable("it is encrypted; unpack it first") from error
        except OSError as error:
            raise Unreadable((error.strerror or str(error)).lower()) from error

    def _opened(self) -> BinaryIO:
        if self.archive is None:
            return open(self.place, "rb")  # noqa: PTH123
        info = self.archive.getinfo(self.name)
        if info.file_size > SMALL and info.file_size > MAX_EXPANSION * max(info.compress_size, 1):
            raise Unreadable(
                f"it would expand from {info.compress_size} to {info.file_size} bytes, as only a ZIP bomb does"
            )
        return self.archive.open(info)  # type: ignore[return-value]

    @cached_property
    def head(self) -> bytes:
        """The first bytes in UTF-8."""
        with self.open() as file:
            return Utf8Stream(file).read(SAMPLE)

    def lines(self) -> Iterator[bytes]:
        """Yield the complete lines, in UTF-8; a line above `MAX_LINE` is skipped."""
        with self.open() as file:
            is_wide = file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
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
    Byte stream in UTF-8 over a file in UTF-8 or UTF-16; damaged characters are replaced.

    JSON that is nested deeper than `MAX_DEPTH` raises `Unreadable`: a parser takes memory for every level. Brackets in
    texts are counted as well, which is no harm, because most of them are closed.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._depth, self._length = 0, 0
        start = file.read(3)
        mark, encoding = next(
            ((mark, name) for mark, name in _MARKS if start.startswith(mark)), (b"", "utf-8")
        )
        self._decoder = codecs.getincrementaldecoder(encoding)("replace")
        self._waiting = self._decoder.decode(start[len(mark) :]).encode("utf-8", "replace")

    def read(self, size: int = -1) -> bytes:
        """Return about *size* bytes; empty at the end."""
        waiting, self._waiting = self._waiting, b""
        if size == 0:
            self._waiting = waiting
            return b""
        while data := self._file.read(size):
            self._check_depth(data)
            found = waiting + self._decoder.decode(data).encode("utf-8", "replace")
            if found:
                return found
        return waiting + self._decoder.decode(b"", final=True).encode("utf-8", "replace")

    def _check_depth(self, data: bytes) -> None:
        self._length += len(data)
        self._depth += sum(map(data.count, (b"[", b"{"))) - sum(map(data.count, (b"]", b"}")))
        if self._depth > MAX_DEPTH + self._length // BYTES_OF_OPEN_BRACKET:
            raise Unreadable("it is nested too deeply")


Tree = Mapping[str, Member]
"""The files of an export by name, with forward slashes."""


def zip_tree(archive: zipfile.ZipFile, path: str, mtime_s: float) -> tuple[Tree, list[str]]:
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
        if _leads_out(info):
            refused.append(info.filename)
        else:
            tree[info.filename] = Member(info.filename, f"{path}/{info.filename}", mtime_s, archive)
    return tree, refused


def _leads_out(info: zipfile.ZipInfo) -> bool:
    name = info.orig_filename.replace("\\", "/")
    parts = PurePosixPath(name).parts
    is_absolute = name.startswith("/") or (len(name) > 1 and name[1] == ":")
    return is_absolute or ".." in parts or "\0" in name or stat.S_ISLNK(info.external_attr >> 16)


def folder_tree(root: str, places: Mapping[str, float]) -> Tree:
    """Return the files at *places*, absolute paths with their times, as the tree below *root*."""
    names = {place: os.path.relpath(place, root).replace(os.sep, "/") for place in places}
    return {name: Member(name, place, places[place]) for place, name in names.items()}
