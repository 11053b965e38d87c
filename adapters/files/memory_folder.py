import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from urllib.parse import unquote

from clawmem.adapters.files.disk import replace_file
from clawmem.ports.errors import InvalidInput

ROOT = "/memories"
MOST_SHOWN = 16_000  # characters of a view
AROUND = 2  # lines before and after a change that are shown with it
_HIDDEN = re.compile(r"(?:^|/)(?:\.|node_modules(?:/|$))")
refusal = partial(InvalidInput, "INVALID_INPUT")  # of a command, with the message that models know


class MemoryFolder:
    """
    Text files below *folder*, which callers name ``/memories``, with a method for each command of ``memory_20250818``.

    No path leads out of the folder: neither ``..``, plain or encoded, nor a link. Each method returns the sentence that
    models know, and changes nothing if it raises `InvalidInput`.
    """

    def __init__(self, folder: str) -> None:
        self._root = Path(os.path.realpath(folder))

    def view(self, path: str, view_range: Sequence[int] | None = None) -> str:
        location = self._existing(path)
        if location.is_dir():
            lines = [f"{_size(location)}\t{path}"]
            for entry in sorted([*location.glob("*"), *location.glob("*/*")]):
                name = entry.relative_to(location).as_posix()
                if not _HIDDEN.search(name) and Path(os.path.realpath(entry)).is_relative_to(self._root):
                    lines.append(f"{_size(entry)}\t{path.rstrip('/')}/{name}{'/' if entry.is_dir() else ''}")
            head = "Here're the files and directories up to 2 levels deep in "
            return "\n".join([f"{head}{path}, excluding hidden items and node_modules:", *lines])
        lines = self._text(path).split("\n")
        first, last = view_range or (1, -1)
        if first < 1 or (last != -1 and last < first):
            raise refusal(f"Invalid `view_range` parameter: {[first, last]}. The last line may be -1.")
        shown = _numbered(lines[first - 1 : None if last == -1 else last], first)
        return f"Here's the content of {path} with line numbers:\n{shown}"[:MOST_SHOWN]

    def create(self, path: str, file_text: str) -> str:
        if self._location(path).exists():
            raise refusal(f"Error: File {path} already exists")
        self._write(path, file_text)
        return f"File created successfully at: {path}"

    def str_replace(self, path: str, old_str: str, new_str: str) -> str:
        text, missed = self._text(path), "No replacement was performed"
        matches = re.finditer(f"(?={re.escape(old_str)})", text) if old_str else ()
        lines = [text.count("\n", 0, match.start()) + 1 for match in matches]
        if not lines:
            raise refusal(f"{missed}, old_str `{old_str}` did not appear verbatim in {path}.")
        if len(lines) > 1:
            places = f"in lines: {', '.join(map(str, lines))}. Please ensure it is unique"
            raise refusal(f"{missed}. Multiple occurrences of old_str `{old_str}` {places}")
        changed, first = text.replace(old_str, new_str), max(1, lines[0] - AROUND)
        self._write(path, changed)
        snippet = changed.split("\n")[first - 1 : lines[0] + new_str.count("\n") + AROUND]
        return f"The memory file has been edited.\n{_numbered(snippet, first)}"

    def insert(self, path: str, insert_line: int, insert_text: str) -> str:
        lines = self._text(path).split("\n")
        most = len(lines) - (not lines[-1])
        if not 0 <= insert_line <= most:
            rule = f"It should be within the range of lines of the file: [0, {most}]"
            raise refusal(f"Error: Invalid `insert_line` parameter: {insert_line}. {rule}")
        lines.insert(insert_line, insert_text.removesuffix("\n"))
        self._write(path, "\n".join(lines))
        return f"The file {path} has been edited."

    def delete(self, path: str) -> str:
        location = self._existing(path, changes=True)
        (shutil.rmtree if location.is_dir() else Path.unlink)(location)
        return f"Successfully deleted {path}"

    def rename(self, old_path: str, new_path: str) -> str:
        source, target = self._existing(old_path, changes=True), self._location(new_path)
        if target.exists():
            raise refusal(f"Error: The destination {new_path} already exists")
        with _refusing(f"{new_path} cannot be created"):
            target.parent.mkdir(parents=True, exist_ok=True)
            source.rename(target)
        return f"Successfully renamed {old_path} to {new_path}"

    def _location(self, path: str) -> Path:
        decoded = unquote(unquote(path))  # a name that hides dots twice is no name
        if "\0" in decoded or "\\" in decoded or not f"{decoded}/".startswith(f"{ROOT}/"):
            raise refusal(f"Path must start with {ROOT}, got: {path}")
        location = self._root / decoded.removeprefix(ROOT).lstrip("/")
        if ".." in location.parts or not Path(os.path.realpath(location)).is_relative_to(self._root):
            raise refusal(f"Path {path} would escape {ROOT} directory")
        return location

    def _existing(self, path: str, *, changes: bool = False) -> Path:
        location = self._location(path)
        if not location.exists():
            raise refusal(f"The path {path} does not exist. Please provide a valid path.")
        if changes and location == self._root:
            raise refusal(f"Cannot delete or rename the {ROOT} directory itself")
        return location

    def _text(self, path: str) -> str:
        with _refusing(f"The file {path} cannot be read as text"):
            return self._existing(path).read_bytes().decode("utf-8")

    def _write(self, path: str, text: str) -> None:
        location = self._location(path)
        with _refusing(f"{path} cannot be written"):
            location.parent.mkdir(parents=True, exist_ok=True)
            replace_file(location, text.encode("utf-8"))


@contextmanager
def _refusing(sentence: str) -> Iterator[None]:
    try:
        yield
    except (OSError, UnicodeError) as error:
        raise refusal(f"{sentence}: {getattr(error, 'strerror', None) or error}") from error


def _numbered(lines: Sequence[str], first: int) -> str:
    return "\n".join(f"{number:6d}\t{line}" for number, line in enumerate(lines, first))


def _size(path: Path) -> str:
    size = path.stat().st_size
    unit = min(3, max(0, size.bit_length() - 1) // 10)
    return f"{size / 1024**unit:.1f}".removesuffix(".0") + "BKMG"[unit]
