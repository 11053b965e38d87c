"""Formats of listed documents: JSON, lines of JSON, CSV, Markdown and paths."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from clawmem.app.interfaces.cli.rendering import json_text
from clawmem.app.interfaces.cli.session import one_of
from clawmem.app.operations.operation import record_of
from clawmem.app.operations.output import Part, Verbatim, confidence_text, printable
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
FORMATS = (*TEXT_FORMATS, "paths")


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


def parts_in(
    shape: str, documents: Sequence[DocumentReference], roots: Mapping[str, str]
) -> tuple[list[Part], list[str]]:
    """
    Return *documents* in the format *shape*, and sentences for stderr.

    Args:
        roots: The folder of each collection by name.
    """
    if shape == "paths":
        files = {document.file: _path_of(document, roots) for document in documents}
        left_out = [
            f"{name} was left out: it is no readable file." for name, path in files.items() if not path
        ]
        return [Verbatim(path) for path in files.values() if path], left_out
    parts: list[Part]
    if shape == "jsonl":
        parts = [json_text(record_of(document), indent=None) for document in documents]
    elif shape == "md":
        parts = [printable("\n".join(_markdown(document))) for document in documents]
    else:
        parts = [_csv(documents)]
    return parts, [] if documents else ["Nothing found."]


def _path_of(document: DocumentReference, roots: Mapping[str, str]) -> str:
    """Return the absolute path of an existing file that can stand on a line; empty if there is none."""
    path = getattr(document, "path", None)  # the name for display has no line breaks
    name = f"{getattr(document, 'collection', None)}/{path}" if path else document.file
    above = [root for root in roots if name.startswith(f"{root}/")]
    if not above:
        return ""
    collection = max(above, key=len)
    file = f"{roots[collection]}/{name.removeprefix(f'{collection}/')}"
    return file if one_line(file) == file.replace("\t", " ") and Path(file).exists() else ""


def _properties(document: DocumentReference) -> dict[str, str]:
    return {name: ", ".join(values) for name, values in getattr(document, "properties", {}).items()}


def _place(document: DocumentReference) -> str:
    first, last = getattr(document, "start_line", None), getattr(document, "end_line", None)
    if not first:
        return document.file
    return f"{document.file}:{first}" if last in (None, first) else f"{document.file}:{first}-{last}"


def _csv(documents: Sequence[DocumentReference]) -> Part:
    records = []
    for document in documents:
        record: dict[str, Any] = record_of(document)
        if newer := record.get("superseded_by"):
            record["superseded_by"] = newer["file"]
        record = {
            name: json.dumps(value) if isinstance(value, bool) else value for name, value in record.items()
        }
        properties = {f"property {name}": value for name, value in _properties(document).items()}
        records.append({**record, **properties})
    used = {name for record in records for name in record} or {*COLUMNS} - {"body"}
    own = dict.fromkeys(name for record in records for name in record if name.startswith("property "))
    columns = [*(name for name in COLUMNS if name in used), *own]
    text = StringIO()
    writer = csv.DictWriter(text, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return Verbatim(printable(text.getvalue().removesuffix("\n")))


def _markdown(document: DocumentReference) -> Iterator[str]:
    """Yield a list item with a link, and the text as a quotation."""
    title = one_line(title_to_read(document.title, document.origin))
    facts = (
        _place(document),
        document.docid,
        confidence_text(getattr(document, "confidence", None)),
        getattr(document, "age", ""),
        *(f"{name}: {values}" for name, values in _properties(document).items()),
    )
    target = "".join(
        character
        if character.isprintable() and character not in "<>\\"
        else quote(character, errors="replace")
        for character in getattr(document, "path", None) or document.file
    )
    label = title.replace("[", "\\[").replace("]", "\\]")
    yield f"- [{label}](<{target}>) {one_line(', '.join(filter(None, facts)))}"
    text = getattr(document, "body", None) or getattr(document, "snippet", "")
    for part in lines_to_read(text.strip("\n"), document.origin) if text else ():
        yield from (f"  > {line}".rstrip() for line in part.split("\n"))
