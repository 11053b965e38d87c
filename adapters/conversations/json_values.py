"""Values of JSON of unknown form, and streams of its objects."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from posixpath import normpath
from typing import Any

import ijson

from clawmem.adapters.conversations.members import READ_AT_ONCE, Member, Tree, Unreadable, Utf8Stream


def objects_in(member: Member) -> Iterator[dict[str, Any]]:
    """
    Yield the objects of a JSON file one after the other: the items of an array, one object, or those on its lines.

    Raises:
        Unreadable: the file is no JSON from some place on; the objects before it were yielded.
    """
    prefix = "item" if member.head(1)[0].lstrip().startswith(b"[") else ""
    count = 0
    with member.open() as file:
        try:
            for value in ijson.items(
                Utf8Stream(file), prefix, buf_size=READ_AT_ONCE, use_float=True, multiple_values=True
            ):
                count += 1
                if isinstance(value, dict):
                    yield value
        except (ijson.JSONError, ValueError, OverflowError) as error:
            entries = "entry" if count == 1 else f"{count} entries"
            after = f" after its first {entries}" if count else ""
            raise Unreadable(f"it is no valid JSON{after} ({reason_of(error)})") from error


def reason_of(error: Exception) -> str:
    """Return the first line of the message of a parser."""
    return str(error).strip().partition("\n")[0][:120]


def objects_next_to(member: Member, tree: Tree, name: str) -> list[dict[str, Any]]:
    """Return the objects of the small file *name*, relative to the folder of *member*; none if it cannot be read."""
    with suppress(Unreadable):
        if found := tree.get(normpath(f"{member.name.rpartition('/')[0]}/{name}").removeprefix("/")):
            return list(objects_in(found))
    return []


def text_in(value: object) -> str:
    """Return *value* if it is a text, else an empty one."""
    return value if isinstance(value, str) else ""


def first_text(values: dict[str, Any], *keys: str) -> str:
    """Return the first text among the values of *keys* that is not empty."""
    return next(filter(None, (text_in(values.get(key)) for key in keys)), "")


def dicts_in(value: object) -> list[dict[str, Any]]:
    """Return the objects in *value* if it is a list, else none."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def texts_in(value: object) -> list[str]:
    """Return the texts in *value* if it is a list, else none."""
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def object_in(value: object) -> dict[str, Any]:
    """Return *value* if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def time_in(value: object) -> str | float | None:
    """Return *value* if it can be a time, else ``None``."""
    return value if isinstance(value, (str, int, float)) and not isinstance(value, bool) else None


def paragraphs(*texts: str) -> str:
    """Return the texts that are not empty, with blank lines between them."""
    return "\n\n".join(filter(None, texts))


def with_attachments(text: str, files: list[dict[str, Any]], *keys: str) -> str:
    """Return *text* with the names of attached files, the value of the first of *keys* that each has."""
    names = list(dict.fromkeys(filter(None, (first_text(file, *keys) for file in files))))[:MAX_NAMED]
    return paragraphs(text, f"[attached: {', '.join(names)}]" if names else "")


MAX_NAMED = 20  # attachments of a message that are named
