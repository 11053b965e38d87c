from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote

from clawmem.ports.errors import InvalidInput, NotFound

ROOT = "/memories"
MOST_SHOWN = 16_000  # characters of a view
MOST_LINES = 999_999
DEPTH = 2
AROUND = 2  # lines beside a change that are shown with it

_UNITS = "BKMG"
_HIDDEN = frozenset({"node_modules"})


class Refused(InvalidInput):
    """A command that cannot be executed, with the message that models know."""

    def __init__(self, message: str) -> None:
        super().__init__("INVALID_INPUT", message)


class Missing(NotFound):
    """There is no file or folder at a path."""

    def __init__(self, path: str, sentence: str = "does not exist. Please provide a valid path.") -> None:
        super().__init__("path", path)
        self.args = (f"The path {path} {sentence}",)


class MemoryFolder:
    """``MemoryFiles`` below *folder* of this machine."""

    def __init__(self, folder: str) -> None:
        self._root = Path(folder).resolve()

    def view(self, path: str, view_range: Sequence[int] | None = None) -> str:
        place = self._existing(path)
        if place.is_dir():
            shown = [place, *self._below(place, DEPTH)]
            lines = [f"{_size(one)}\t{self._name(path, place, one)}" for one in shown]
            head = "Here're the files and directories up to 2 levels deep in "
            return "\n".join([f"{head}{path}, excluding hidden items and node_modules:", *lines])
        lines = self._text(path, place).split("\n")
        if len(lines) > MOST_LINES:
            raise Refused(f"File {path} exceeds maximum line limit of 999,999 lines.")
        first, last = _range(view_range, len(lines))
        shown_lines = _numbered(lines[first - 1 : last], first)
        return f"Here's the content of {path} with line numbers:\n{shown_lines}"[:MOST_SHOWN]

    def create(self, path: str, text: str) -> str:
        place = self._place(path)
        if place.exists():
            raise Refused(f"Error: File {path} already exists")
        self._make_folder(path, place)
        self._write(place, text)
        return f"File created successfully at: {path}"

    def str_replace(self, path: str, old: str, new: str) -> str:
        place = self._file(path)
        text = self._text(path, place)
        lines = [text[:at].count("\n") + 1 for at in _occurrences(text, old)]
        if not lines:
            raise Refused(f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}.")
        if len(lines) > 1:
            where = ", ".join(map(str, lines))
            raise Refused(
                f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {where}. "
                "Please ensure it is unique"
            )
        changed = text.replace(old, new)
        self._write(place, changed)
        first = max(1, lines[0] - AROUND)
        snippet = changed.split("\n")[first - 1 : lines[0] + new.count("\n") + AROUND]
        return f"The memory file has been edited.\n{_numbered(snippet, first)}"

    def insert(self, path: str, line: int, text: str) -> str:
        place = self._file(path)
        lines = self._text(path, place).splitlines(keepends=True)
        if not 0 <= line <= len(lines):
            raise Refused(
                f"Error: Invalid `insert_line` parameter: {line}. "
                f"It should be within the range of lines of the file: [0, {len(lines)}]"
            )
        if line and not lines[line - 1].endswith("\n"):
            lines[line - 1] += "\n"
        lines.insert(line, text if text.endswith("\n") else f"{text}\n")
        self._write(place, "".join(lines))
        return f"The file {path} has been edited."

    def delete(self, path: str) -> str:
        place = self._existing(path, "does not exist")
        self._refuse_root(path, place, "delete")
        if place.is_dir():
            shutil.rmtree(place)
        else:
            place.unlink()
        return f"Successfully deleted {path}"

    def rename(self, old: str, new: str) -> str:
        source, target = self._existing(old, "does not exist"), self._place(new)
        self._refuse_root(old, source, "rename")
        if target.exists():
            raise Refused(f"Error: The destination {new} already exists")
        if target.is_relative_to(source):
            raise Refused(f"{new} lies inside of {old}")
        self._make_folder(new, target)
        source.rename(target)
        return f"Successfully renamed {old} to {new}"

    def _place(self, path: str) -> Path:
        told = unquote(unquote(path))  # a name that hides dots twice is no name
        if "\0" in told or "\\" in told or not f"{told}/".startswith(f"{ROOT}/"):
            raise Refused(f"Path must start with {ROOT}, got: {path}")
        parts = [part for part in told.removeprefix(ROOT).split("/") if part]
        place = self._root.joinpath(*parts)
        if ".." in parts or not place.resolve().is_relative_to(self._root):
            raise Refused(f"Path {path} would escape {ROOT} directory")
        return place

    def _existing(self, path: str, sentence: str = "does not exist. Please provide a valid path.") -> Path:
        place = self._place(path)
        if not place.exists():
            raise Missing(path, sentence)
        return place

    def _file(self, path: str) -> Path:
        place = self._existing(path)
        if not place.is_file():
            raise Refused(f"The path {path} is not a file.")
        return place

    def _refuse_root(self, path: str, place: Path, what: str) -> None:
        if place == self._root:
            raise Refused(f"Cannot {what} the {ROOT} directory itself")

    def _make_folder(self, path: str, place: Path) -> None:
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Refused(f"{path} cannot be created: {error.strerror}") from error

    def _below(self, folder: Path, depth: int) -> Iterator[Path]:
        for one in sorted(folder.iterdir()):
            if (
                one.name.startswith(".")
                or one.name in _HIDDEN
                or not one.resolve().is_relative_to(self._root)
            ):
                continue
            yield one
            if depth > 1 and one.is_dir():
                yield from self._below(one, depth - 1)

    def _name(self, path: str, asked: Path, one: Path) -> str:
        below = one.relative_to(asked).as_posix()
        return path if below == "." else f"{path.rstrip('/')}/{below}{'/' if one.is_dir() else ''}"

    def _text(self, path: str, place: Path) -> str:
        try:
            return place.read_bytes().decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise Refused(f"The file {path} cannot be read as text.") from error

    def _write(self, place: Path, text: str) -> None:
        draft = place.with_name(f".{place.name}.{os.getpid()}.part")
        try:
            draft.write_bytes(text.encode("utf-8"))
            draft.replace(place)
        except (OSError, UnicodeEncodeError) as error:
            raise Refused(f"The file {place.name} cannot be written: {error}") from error
        finally:
            draft.unlink(missing_ok=True)


def _occurrences(text: str, old: str) -> Iterator[int]:
    at = text.find(old) if old else -1
    while at >= 0:
        yield at
        at = text.find(old, at + 1)


def _range(asked: Sequence[int] | None, count: int) -> tuple[int, int]:
    if asked is None:
        return 1, count
    if len(asked) != 2 or asked[0] < 1 or (asked[1] != -1 and asked[1] < asked[0]):
        raise Refused(
            f"Invalid `view_range` parameter: {list(asked)}. It is two lines, [first, last]; last may be -1."
        )
    return asked[0], count if asked[1] == -1 else asked[1]


def _numbered(lines: Sequence[str], first: int) -> str:
    return "\n".join(f"{number:6d}\t{line}" for number, line in enumerate(lines, first))


def _size(place: Path) -> str:
    size, unit = float(place.stat().st_size), 0
    while size >= 1024 and unit < len(_UNITS) - 1:
        size, unit = size / 1024, unit + 1
    return f"{size:.1f}".removesuffix(".0") + _UNITS[unit]
