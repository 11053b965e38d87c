"""Settings of clients as JSON text: members are changed without touching the rest."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from clawmem.ports.errors import ConfigError

_BLANK = re.compile(r"[ \t\r\n]*")
_INDENT = re.compile(r"\n([ \t]+)\S")
_DEFAULT_INDENT = "  "


class Member(NamedTuple):
    """A member of the outermost object: its name, and the positions of name and value in the text."""

    name: str
    start: int
    value_start: int
    end: int


def read_object(text: str) -> dict[str, Any]:
    """
    Return the object in *text*; empty for blank text.

    Raises:
        ValueError: no JSON object, or a duplicate member; the message says where.
    """
    found = json.loads(text, object_pairs_hook=_unique) if text.strip() else {}
    if not isinstance(found, dict):
        raise ValueError("it is no JSON object")  # noqa: TRY004  the file is wrong, not the program
    return found


def with_member(text: str, name: str, value: Any) -> str:
    """
    Return *text* with the member *name* of the outermost object set to *value*, in the existing indentation.

    Other bytes are unchanged. A new member is added at the end.
    """
    if not text.strip():
        return f"{_dumped({name: value}, _DEFAULT_INDENT)}\n"
    members = list(_members(text))
    indent = _indent_of(text)
    written = _dumped(value, indent).replace("\n", f"\n{indent}")
    for member in members:
        if member.name == name:
            return _with_ends_of(text, text[: member.value_start], written, text[member.end :])
    at = members[-1].end if members else text.index("{") + 1
    comma, rest = ("," if members else ""), text[at:]
    after = rest if members and rest.lstrip(" \t\r")[:1] == "\n" else f"\n{rest.lstrip()}"
    return _with_ends_of(text, text[:at], f"{comma}\n{indent}{json.dumps(name)}: {written}", after)


def without_member(text: str, name: str) -> str:
    """Return *text* without the member *name* and one adjacent comma; unchanged if there is no such member."""
    members = list(_members(text))
    names = [member.name for member in members]
    if name not in names:
        return text
    if len(members) == 1:
        return text[: text.index("{") + 1] + text[text.rindex("}") :]
    index = names.index(name)
    if index == 0:
        return text[: members[0].start] + text[members[1].start :]
    return text[: members[index - 1].end] + text[members[index].end :]


def _members(text: str) -> Iterator[Member]:
    """Yield the members of the outermost object of *text*, which must be valid."""
    decoder = json.JSONDecoder()
    at = _after_blanks(text, text.index("{") + 1)
    while text[at] != "}":
        start = at
        name, at = decoder.raw_decode(text, at)
        value_start = _after_blanks(text, _after_blanks(text, at) + 1)
        _, end = decoder.raw_decode(text, value_start)
        yield Member(name, start, value_start, end)
        at = _after_blanks(text, end)
        at = _after_blanks(text, at + 1) if text[at] == "," else at


def _after_blanks(text: str, at: int) -> int:
    blanks = _BLANK.match(text, at)
    return blanks.end() if blanks else at


def _indent_of(text: str) -> str:
    found = _INDENT.search(text)
    return found[1] if found else _DEFAULT_INDENT


def _dumped(value: Any, indent: str) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _with_ends_of(text: str, before: str, written: str, after: str) -> str:
    """Join the three parts, converting *written* to the line ends of *text*."""
    if "\r\n" in text:
        written = written.replace("\n", "\r\n")
        after = after.replace("\n", "\r\n", 1) if after.startswith("\n") else after
    return before + written + after


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"it names {twice!r} twice")
    return found


BACKUP = "before-clawmem"  # suffix of the backup file
HOOKS, PLUGINS = "hooks", "enabledPlugins"
OUR_PLUGIN = "clawmem"

_MARK = "\ufeff"  # byte order mark that some editors write before UTF-8


def _faults(hooks: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the path of each member of *hooks* with an invalid shape, and the expected shape."""
    for event, groups in hooks.items():
        if not isinstance(groups, list):
            yield f"{HOOKS}.{event}", "a list"
            continue
        for number, group in enumerate(groups):
            place = f"{HOOKS}.{event}[{number}]"
            if not isinstance(group, dict):
                yield place, "an object"
            elif not isinstance(group.get("hooks", []), list):
                yield f"{place}.hooks", "a list"


class ClientSettings:
    """
    ``settings.json`` of Claude Code, or another file of its folder that contains a JSON object.

    Raises:
        ConfigError: the file is no plain JSON object; it is left unchanged.
    """

    def __init__(self, folder: Path, name: str = "settings.json") -> None:
        self.file = (folder / name).resolve()  # a link is kept, and its target is changed
        self._before = self._read()
        self._text = self._decoded(self._before or b"")
        self._object = self._parsed()

    @property
    def text(self) -> str:
        """The text of the file; empty if it does not exist."""
        return self._text

    @property
    def hooks(self) -> dict[str, Any]:
        """
        The hooks of all programs: see `clawmem.app.services.setup.hooks.Hooks`.

        Raises:
            ConfigError: they have a shape that the client does not read either; editing would damage it.
        """
        hooks = self.member(HOOKS)
        for key, expected in _faults(hooks):
            raise ConfigError(
                f"{self.file}: {key} must be {expected}. The file was not changed. Correct it, then try again."
            )
        return hooks

    def member(self, name: str) -> dict[str, Any]:
        """Return the object *name*; empty if it does not exist. Raises `ConfigError` if it is no object."""
        found = self._object.get(name, {})
        if not isinstance(found, dict):
            raise ConfigError(f"{self.file}: {name!r} is no object. Correct it, then try again.")
        return found

    @property
    def has_plugin(self) -> bool:
        """Whether the clawmem plugin is enabled, which includes the hooks."""
        plugins = self._object.get(PLUGINS)
        switched_on = [name for name, on in plugins.items() if on] if isinstance(plugins, dict) else []
        return any(name.split("@")[0] == OUR_PLUGIN for name in switched_on)

    def changed(self, hooks: dict[str, Any]) -> str:
        """Return the text of the file with *hooks* as its hooks."""
        return self.with_other(HOOKS, hooks)

    def with_other(self, name: str, value: dict[str, Any]) -> str:
        """Return the text with the member *name* set to *value*, or removed if empty; other bytes are unchanged."""
        if value == self.member(name):
            return self._text
        text = with_member(self._text, name, value) if value else without_member(self._text, name)
        rest = {other: kept for other, kept in self._object.items() if other != name}
        assert read_object(text) == {**rest, **({name: value} if value else {})}
        return text

    def write(self, text: str) -> str:
        """
        Replace the file with *text*, atomically.

        The first time, the original file is copied; later calls keep that copy.

        Returns:
            The path of the copy if it was written now, else an empty text.

        Raises:
            ConfigError: the file cannot be written, or another program changed it in the meantime.
        """
        marked = self._before is not None and self._before.startswith(_MARK.encode())
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            backup = self._back_up()
            self._replace(f"{_MARK if marked else ''}{text}".encode())
        except OSError as error:
            raise ConfigError(f"{self.file} cannot be written: {error.strerror}. It is as it was.") from error
        return backup

    def _read(self) -> bytes | None:
        try:
            return self.file.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ConfigError(f"{self.file} cannot be read: {error.strerror}.") from error

    def _decoded(self, content: bytes) -> str:
        try:
            return content.decode("utf-8").removeprefix(_MARK)
        except UnicodeDecodeError as error:
            raise ConfigError(f"{self.file} is not UTF-8. It was left as it is.") from error

    def _parsed(self) -> dict[str, Any]:
        try:
            return read_object(self._text)
        except (ValueError, RecursionError) as error:
            raise ConfigError(
                f"{self.file} is not plain JSON: {error}. It was left as it is: "
                "take out comments and trailing commas, then try again."
            ) from error

    def _back_up(self) -> str:
        copy = self.file.with_name(f"{self.file.name}.{BACKUP}")
        if self._before is None or copy.exists():
            return ""
        copy.write_bytes(self._before)
        copy.chmod(stat.S_IMODE(self.file.stat().st_mode))
        return str(copy)

    def _replace(self, content: bytes) -> None:
        mode = stat.S_IMODE(self.file.stat().st_mode) if self._before is not None else 0o600
        draft = self.file.with_name(f".{self.file.name}.{os.getpid()}.part")
        try:
            with draft.open("wb") as out:
                draft.chmod(mode)
                out.write(content)
                out.flush()
                os.fsync(out.fileno())
            if self._read() != self._before:
                raise ConfigError(f"{self.file} was changed by another program in the meantime. Try again.")
            draft.replace(self.file)
        finally:
            draft.unlink(missing_ok=True)
