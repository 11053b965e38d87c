"""Objects of JSON whose members may be missing or have another type, and streams of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from posixpath import normpath
from typing import Any

import ijson

from clawmem.adapters.conversations.members import READ_AT_ONCE, Member, Tree, Unreadable, Utf8Stream

MAX_NAMED = 20  # attachments of a message that are named


class Record(dict[str, Any]):
    """JSON object; empty for any other value."""

    def __init__(self, value: object = None) -> None:
        super().__init__(value if isinstance(value, dict) else {})

    def text(self, *keys: str) -> str:
        """Return the first text among the members *keys* that is not empty; empty if there is none."""
        return next((value for key in keys if isinstance(value := self.get(key), str) and value), "")

    def texts(self, key: str) -> list[str]:
        """Return the texts in a list."""
        value = self.get(key)
        return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []

    def object(self, key: str) -> Record:
        """Return an object."""
        return Record(self.get(key))

    def objects(self, key: str) -> list[Record]:
        """Return the objects in a list."""
        return records_in(self.get(key))

    def time(self, key: str) -> str | float | None:
        """Return a value that can be a time; ``None`` if it cannot."""
        value = self.get(key)
        return value if isinstance(value, (str, int, float)) and not isinstance(value, bool) else None


def records_in(value: object) -> list[Record]:
    """Return the objects in *value* if it is a list, else none."""
    return [Record(item) for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def parsed(text: str | bytes) -> Record:
    """Return the object in JSON *text*; empty for anything else."""
    with suppress(ValueError, RecursionError):
        return Record(json.loads(text))
    return Record()


def objects_in(member: Member) -> Iterator[Record]:
    """
    Yield the objects of a JSON file one after the other: the items of an array, one object, or those on its lines.

    Raises:
        Unreadable: the file is no JSON from some place on; the objects before it were yielded.
    """
    prefix = "item" if member.head(1)[0].lstrip().startswith(b"[") else ""
    count = 0
    with member.open() as file:
        try:
            stream = Utf8Stream(file)
            for value in ijson.items(
                stream, prefix, buf_size=READ_AT_ONCE, use_float=True, multiple_values=True
            ):
                count += 1
                if isinstance(value, dict):
                    yield Record(value)
        except (ijson.JSONError, ValueError, OverflowError) as error:
            entries = "entry" if count == 1 else f"{count} entries"
            after = f" after its first {entries}" if count else ""
            raise Unreadable(f"it is no valid JSON{after} ({reason_of(error)})") from error


def reason_of(error: Exception) -> str:
    """Return the first line of the message of a parser."""
    return str(error).strip().partition("\n")[0][:120]


def objects_next_to(member: Member, tree: Tree, name: str) -> list[Record]:
    """Return the objects of the small file *name*, relative to the folder of *member*; none if it cannot be read."""
    with suppress(Unreadable):
        if found := tree.get(normpath(f"{member.name.rpartition('/')[0]}/{name}").removeprefix("/")):
            return list(objects_in(found))
    return []


def paragraphs(*texts: str) -> str:
    """Return the texts that are not empty, with blank lines between them."""
    return "\n\n".join(filter(None, texts))


def labels(**values: str) -> tuple[tuple[str, str], ...]:
    """Return the named values that are not empty."""
    return tuple((name, value) for name, value in values.items() if value)


def with_attachments(text: str, files: list[Record], key: str) -> str:
    """Return *text* with the names of attached *files*, their members *key*."""
    names = list(dict.fromkeys(filter(None, (file.text(key) for file in files))))[:MAX_NAMED]
    return paragraphs(text, f"[attached: {', '.join(names)}]" if names else "")
