"""Formats of listed documents: tables, JSON, lines of JSON, CSV, Markdown and paths."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from clawmem.app.interfaces.cli.rendering import json_part
from clawmem.app.interfaces.cli.session import one_of
from clawmem.app.operations.operation import record_of
from clawmem.app.operations.output import Part, Verbatim, confidence_text, printable, table
from clawmem.domain.security.quoting import lines_to_read, title_to_read
from clawmem.ports.errors import InvalidInput
from clawmem.ports.records import one_line

if TYPE_CHECKING:
    from clawmem.app.services.documents.records import DocumentReference

# The columns of CSV, as far as the documents have them.
COLUMNS = tuple(
    "file start_line end_line docid title collection path content_type authored_at modified_at age confidence likelihood"
    " score origin trusted superseded_by snippet body".split()
)
TEXT_FORMATS = ("json", "jsonl", "csv", "md")  # of these with room for the whole text
FORMATS = ("table", *TEXT_FORMATS, "paths")

Documents = Sequence["DocumentReference"]


def checked_format(shape: str, *, is_json: bool, is_full: bool) -> str:
    """
    Return the format *shape*; ``json`` for an empty one if *is_json*.

    Raises:
        InvalidInput: It is unknown, contradicts ``--json``, or has no room for the whole texts of *is_full*.
    """
    if not shape:
        return "json" if is_json else ""
    one_of("--format", shape, FORMATS)
    if is_json and shape != "json":
        raise InvalidInput("INVALID_INPUT", f"--json contradicts --format {shape}. Leave out one of them.")
    if is_full and shape not in TEXT_FORMATS:
        fitting = ", ".join(TEXT_FORMATS)
        raise InvalidInput("INVALID_INPUT", f"--format {shape} has no room for --full. Choose: {fitting}.")
    return shape


def parts_in(shape: str, documents: Documents, roots: Mapping[str, str]) -> tuple[list[Part], list[str]]:
    """
    Return *documents* in the format *shape*, and sentences for stderr.

    Args:
        roots: The folder of each collection by name.
    """
    if shape == "paths":
        files = {reference.file: file_of(_name(reference), roots) for reference in documents}
        lines = {name: file for name, file in files.items() if file and _is_line(file)}
        asides = [
            f"{name} is in no folder of the config file and was left out."
            if file is None
            else f"{name} was left out: a line cannot hold the control characters in the name of its file."
            for name, file in files.items()
            if name not in lines
        ]
        return [*map(Verbatim, lines.values())], asides
    written = _WRITERS[shape](documents)
    return written, [] if documents else ["Nothing found."]


def _name(one: DocumentReference) -> str:
    """Return the collection and path of a document; the name for display has no line breaks."""
    path = getattr(one, "path", None)
    return f"{getattr(one, 'collection', None)}/{path}" if path else one.file


def _is_line(file: str) -> bool:
    """Whether *file* can stand on a line, and was not changed for display, as in the records of a list."""
    is_shown = one_line(file) == file.replace("\t", " ")
    return is_shown and (Path(file).exists() or not {" ", "\ufffd"}.intersection(file))


def file_of(name: str, roots: Mapping[str, str]) -> str | None:
    """Return the absolute path of the file with the *name* ``collection/path``; ``None`` without a folder."""
    above = [root for root in roots if name.startswith(f"{root}/")]
    collection = max(above, key=len, default=None)
    return None if collection is None else f"{roots[collection]}/{name.removeprefix(f'{collection}/')}"


def _table(documents: Documents) -> list[Part]:
    names = _property_names(documents)
    columns = ("place", "docid", "confidence", "written", *names, "title")
    rows = [
        (
            _place(reference),
            reference.docid,
            confidence_text(getattr(reference, "confidence", None)),
            (getattr(reference, "authored_at", None) or "")[:10],
            *(_property(reference, name) for name in names),
            title_to_read(reference.title, reference.origin),
        )
        for reference in documents
    ]
    # documents listed without a question have no confidence
    used = [
        place for place, name in enumerate(columns) if name != "confidence" or any(row[place] for row in rows)
    ]
    shown = [[row[place] for place in used] for row in rows]
    return [table([columns[place] for place in used], shown)] if rows else []


def _property_names(documents: Documents) -> list[str]:
    return [*dict.fromkeys(name for reference in documents for name in getattr(reference, "properties", ()))]


def _property(one: DocumentReference, name: str) -> str:
    return ", ".join(getattr(one, "properties", {}).get(name, ()))


def _json_lines(documents: Documents) -> list[Part]:
    return [json_part(record_of(reference), indent=None) for reference in documents]


def _csv(documents: Documents) -> list[Part]:
    own = {
        f"property {name}": name for name in _property_names(documents)
    }  # may be called as another column is
    records = [
        {
            **_flat(record_of(reference)),
            **{column: _property(reference, name) for column, name in own.items()},
        }
        for reference in documents
    ]
    names = {name for record in records for name in record} or set(COLUMNS).difference(["body"])
    columns = [*(name for name in COLUMNS if name in names), *own]
    text = StringIO()
    writer = csv.DictWriter(text, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return [Verbatim(printable(text.getvalue().removesuffix("\n")))]


def _flat(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return *record* with the path of a successor instead of its record, and booleans as JSON has them."""
    newer = record.get("superseded_by")
    flat = {**record, "superseded_by": newer["file"]} if newer else record
    return {name: json.dumps(value) if isinstance(value, bool) else value for name, value in flat.items()}


def _markdown(documents: Documents) -> list[Part]:
    return [printable("\n".join(_item(reference))) for reference in documents]


def _item(one: DocumentReference) -> list[str]:
    """Return a list item with a link and the text as a quotation."""
    title = one_line(title_to_read(one.title, one.origin)).replace("[", "\\[").replace("]", "\\]")
    facts = (
        _place(one),
        one.docid,
        confidence_text(getattr(one, "confidence", None)),
        getattr(one, "age", ""),
        *(f"{name}: {_property(one, name)}" for name in getattr(one, "properties", ())),
    )
    target = "".join(map(_in_link, getattr(one, "path", None) or one.file))
    head = f"- [{title}](<{target}>) {one_line(', '.join(filter(None, facts)))}"
    text = getattr(one, "body", None) or getattr(one, "snippet", "")
    lines = lines_to_read(text.strip("\n"), one.origin) if text else []
    return [head, *(f"  > {line}".rstrip() for part in lines for line in part.split("\n"))]


def _in_link(character: str) -> str:
    """Return *character* as the target of a link can have it."""
    return (
        character
        if character.isprintable() and character not in "<>\\"
        else quote(character, errors="replace")
    )


def _place(one: DocumentReference) -> str:
    first, last = getattr(one, "start_line", None), getattr(one, "end_line", None)
    if not first:
        return one.file
    return f"{one.file}:{first}" if not last or last == first else f"{one.file}:{first}-{last}"


_WRITERS: Mapping[str, Callable[[Documents], list[Part]]] = {
    "table": _table,
    "jsonl": _json_lines,
    "csv": _csv,
    "md": _markdown,
}
