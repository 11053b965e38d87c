"""Files that Obsidian and Logseq exclude in their settings: excluded files, templates and backups."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
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


def app_of(marks: Collection[str]) -> str:
    """Return the program of a folder in which the *marks* are; an empty string for plain Markdown."""
    return next((app for mark, app in _MARKS if mark in marks), "")


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
_HIDDEN = re.compile(
    r":hidden[\s,]{0,20}\[([^][]{0,10000})\]"
)  # a vector of strings; EDN counts commas as blanks
_COMMENT = re.compile(r"^[ \t]*;.*$", re.MULTILINE)
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
        hidden = _HIDDEN.search(_COMMENT.sub("", text))
        beginnings = [*_BACKUPS, *(_STRING.findall(hidden[1]) if hidden else ())]
        return "the settings of Logseq", [_beginning(text) for text in beginnings if text.strip("/ ")]
    name, key = _JSON[path]
    try:
        settings = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise ValueError("it is no JSON") from error
    value = settings.get(key) if isinstance(settings, dict) else None
    if isinstance(value, str):
        return name, [_beginning(f"{value}/")] if value.strip("/ ") else []
    filters = [text for text in value if isinstance(text, str)] if isinstance(value, list) else []
    return name, [rule for text in filters if (rule := _filter(text))]


def _filter(text: str) -> IgnoreRule | None:
    if not text.strip("/ ") or len(text) > MAX_RULE_LENGTH:
        return None
    if not (len(text) > 2 and text.startswith("/") and text.endswith("/")):
        return _beginning(text)
    if not _NESTED_REPETITION.search(text):
        with suppress(re.error):
            return IgnoreRule(0, text, re.compile(text[1:-1]))
    return None


def _beginning(text: str) -> IgnoreRule:
    """Return a rule for the outermost folders and files that begin so, and not for those below them."""
    beginning = re.escape(composed(text.lstrip("/")))
    end = "" if beginning.endswith("/") else "[^/]*/?"
    return IgnoreRule(0, text.strip("/"), re.compile(rf"\A{beginning}{end}\Z", re.IGNORECASE))
