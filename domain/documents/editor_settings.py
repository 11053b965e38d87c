"""Files that Obsidian and Logseq exclude in their settings: excluded files, templates and backups."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from contextlib import suppress

from clawmem.domain.documents.ignoring import MAX_RULE_LENGTH, IgnoreRule, composed

# The folder or file, below the folder of notes, that each program writes there; the first one that is found counts.
_MARKS = (
    (".obsidian", "Obsidian"),
    ("logseq/config.edn", "Logseq"),
    (".foam", "Foam"),
    (".vscode/foam.json", "Foam"),
)
MARKS = frozenset(mark for mark, _ in _MARKS)


def app_of(found: Collection[str]) -> str:
    """Return the program of a folder in which the marks *found* are; an empty string for plain Markdown."""
    return next((app for mark, app in _MARKS if mark in found), "")


OBSIDIAN = ".obsidian"
_LOGSEQ_FILE = "logseq/config.edn"
# Name of the setting for people, and its key.
_JSON = {
    f"{OBSIDIAN}/app.json": ("the setting 'Excluded files' of Obsidian", "userIgnoreFilters"),
    f"{OBSIDIAN}/templates.json": ("the template folder of Obsidian", "folder"),
    f"{OBSIDIAN}/plugins/templater-obsidian/data.json": (
        "the template folder of Templater",
        "templates_folder",
    ),
}
OBSIDIAN_FILES = tuple(_JSON)
SETTINGS_FILES = (*OBSIDIAN_FILES, _LOGSEQ_FILE)

_BACKUPS = ("/logseq/bak/", "/logseq/version-files/")
_HIDDEN = ":hidden"  # the key of a vector of strings
_BLANKS = " \t\r\n,"  # EDN counts commas as blanks
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_NESTED_REPETITION = re.compile(r"[*+}]\)\s*[*+{]")  # takes exponential time in a regular expression


def settings_rules(path: str, text: str) -> tuple[str, list[IgnoreRule]]:
    """
    Return the name of the setting in the file *path*, one of `SETTINGS_FILES`, and the rules that it contains.

    Obsidian excludes the beginnings of paths, without case, and regular expressions between slashes. Expressions that
    are invalid or repeat a repetition are skipped, as are values of other types.

    Raises:
        ValueError: *text* is no JSON, so its rules are unknown.
    """
    if path == _LOGSEQ_FILE:
        beginnings = [*_BACKUPS, *_STRING.findall(_hidden_vector(text))]
        return "the settings of Logseq", [_beginning(one) for one in beginnings if one.strip("/ ")]
    name, key = _JSON[path]
    try:
        settings = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise ValueError("it is no JSON") from error
    value = settings.get(key) if isinstance(settings, dict) else None
    if isinstance(value, str):
        return name, [_beginning(f"{value}/")] if value.strip("/ ") else []
    return name, list(_filters(value)) if isinstance(value, list) else []


def _hidden_vector(text: str) -> str:
    """Return the content of the vector after the first key `_HIDDEN` outside of comments; empty without one."""
    line_start = 0
    for line in text.splitlines(keepends=True):
        key = line.partition(";")[0].partition('"')[0].find(_HIDDEN)
        if key >= 0:
            after = line_start + key + len(_HIDDEN)
            opening, closing = text.find("[", after), text.find("]", after)
            is_vector = opening < closing and opening >= 0 and not text[after:opening].strip(_BLANKS)
            return text[opening + 1 : closing] if is_vector else ""
        line_start += len(line)
    return ""


def _filters(values: list[object]) -> Iterator[IgnoreRule]:
    for text in values:
        if not isinstance(text, str) or not text.strip("/ ") or len(text) > MAX_RULE_LENGTH:
            continue
        if not (len(text) > 2 and text.startswith("/") and text.endswith("/")):
            yield _beginning(text)
        elif not _NESTED_REPETITION.search(text):
            with suppress(re.error):
                yield _expression(text, re.compile(text[1:-1]))


def _expression(text: str, regex: re.Pattern[str]) -> IgnoreRule:
    return IgnoreRule(0, text, lambda path: regex.search(path) is not None)


def _beginning(text: str) -> IgnoreRule:
    """Return a rule for the outermost folders and files that begin so, and not for those below them."""
    beginning = composed(text.lstrip("/")).casefold()

    def matches(path: str) -> bool:
        folder = path.rpartition("/")[0]
        here, above = f"{path}/".casefold(), f"{folder}/".casefold()
        return here.startswith(beginning) and not above.startswith(beginning)

    return IgnoreRule(0, text.strip("/"), matches)
