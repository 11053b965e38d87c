"""Checks for damage of an index that opens and answers queries."""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from itertools import chain
from mmap import ACCESS_READ, mmap
from pathlib import Path
from struct import Struct
from tempfile import TemporaryDirectory
from typing import Any

from tantivy import Query

from clawmem.adapters.tantivy.entries import WORDS, open_index, schema, to_document
from clawmem.adapters.tantivy.grain import HEAP_BYTES
from clawmem.ports.records import FragmentKey, Grain, LexicalEntry

# Every file ends with a JSON footer that holds its checksum, the length of the footer, and this number.
_END = Struct("<II")
_MAGIC = 1337
_DELETED = ".del"
_META = "meta.json"
_SEGMENT = {"segment_id", "max_doc", "deletes"}
_FILES = ".managed.json"  # tantivy's list of the files that it may delete


def ranking_faults() -> list[str]:
    """Test the ranking in memory: of three texts two contain a word, and the shorter one must come first."""
    index = open_index()
    writer = index.writer(HEAP_BYTES, num_threads=1)
    for number, text in enumerate(["one two three", "two", "four"]):
        entry = LexicalEntry(FragmentKey(number, 0), Grain.LINE, "", "", text)
        writer.add_document(to_document(entry, keep=False))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    found = index.searcher().search(Query.term_query(schema(), WORDS, "two")).hits
    scores = [score for score, _ in found]
    sound = len(scores) == 2 and scores[0] > scores[1] > 0 and found[0][1].doc == 1
    return [] if sound else ["full-text ranking does not work in this tantivy"]


def file_faults(folder: Path) -> list[str]:
    """Return a sentence for each damaged file of one granularity in *folder*."""
    meta = json.loads((folder / _META).read_bytes())
    if not _is_written_so(meta):
        return [f"{folder.name}/{_META} is not as it was written"]
    if not (folder / _FILES).exists():
        return [f"{folder.name}/{_FILES} is missing"]
    names = [segment["segment_id"].replace("-", "") for segment in meta["segments"]]
    segments = [sorted(folder.glob(f"{name}.*")) for name in names]
    managed = {_META, *chain.from_iterable([file.name for file in files] for files in segments)}
    # Read last, because tantivy lists a file before creating it.
    if managed - set(json.loads((folder / _FILES).read_bytes())):
        return [f"{folder.name}/{_FILES} is not as it was written"]
    spoilt = [file for files in segments for file in _spoilt(files)]
    return [f"{folder.name}/{file.name} is not as it was written" for file in spoilt]


def _is_written_so(meta: dict[str, Any]) -> bool:
    """Whether *meta* has the keys, schema and settings of a new index: no checksum covers them."""
    new = _new_meta()
    return (
        meta.keys() - {"payload"} == new.keys() - {"payload"}
        and all(meta[name] == new[name] for name in ("schema", "index_settings"))
        and all(segment.keys() == _SEGMENT for segment in meta["segments"])
    )


@cache
def _new_meta() -> dict[str, Any]:
    """Return the description that tantivy writes for an empty index."""
    with TemporaryDirectory() as folder:
        open_index(folder)
        meta: dict[str, Any] = json.loads((Path(folder) / _META).read_bytes())
        return meta


def _spoilt(files: Sequence[Path]) -> list[Path]:
    """Return the damaged files among the *files* of one segment."""
    versions: dict[Path, str | None] = {}
    for file in files:
        with suppress(FileNotFoundError):  # merged and deleted since it was listed
            versions[file] = _version(file)
    # No checksum covers the version, but one process wrote all files of the segment, except for later
    # deletions.
    usual = Counter(version for file, version in versions.items() if file.suffix != _DELETED).most_common(1)
    return [
        file
        for file, version in versions.items()
        if version is None or (file.suffix != _DELETED and version != usual[0][0])
    ]


def _version(file: Path) -> str | None:
    """Return the version of tantivy that wrote *file*; ``None`` if the file is damaged."""
    try:
        with (
            file.open("rb") as opened,
            mmap(opened.fileno(), 0, access=ACCESS_READ) as mapped,
            memoryview(mapped) as content,
        ):
            return _version_in(content)
    except (ValueError, LookupError, TypeError):
        return None  # empty, or without a valid footer


def _version_in(content: memoryview) -> str | None:
    length, magic = _END.unpack(content[-_END.size :])
    end = len(content) - _END.size - length
    note = json.loads(bytes(content[max(0, end) : -_END.size]))
    is_whole = magic == _MAGIC and zlib.crc32(content[:end]) == note["crc"]
    return str(note["version"]) if is_whole else None
