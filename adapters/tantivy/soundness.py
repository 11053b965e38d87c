"""What can be wrong inside of an index that opens and answers."""

from __future__ import annotations

import json
import zlib
from mmap import ACCESS_READ, mmap
from pathlib import Path
from struct import Struct

from tantivy import Query

from clawmem.adapters.tantivy.entries import WORDS, open_index, schema, to_document
from clawmem.adapters.tantivy.grain import HEAP_BYTES
from clawmem.ports.records import FragmentKey, Grain, LexicalEntry

# Every file ends with a note in JSON that holds its checksum, the note's length, and this number.
_END = Struct("<II")
_MAGIC = 1337
_FILES = ".managed.json"  # by which tantivy knows the files that it may delete


def ranking_faults() -> list[str]:
    """The self-test, in memory: of three texts two hold a word, and the one that fits better comes first."""
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
    """Files of one grain in *folder* that are not as they were written."""
    meta = json.loads((folder / "meta.json").read_bytes())
    if not (folder / _FILES).exists():
        return [f"{folder.name}/{_FILES} is missing"]
    names = [segment["segment_id"].replace("-", "") for segment in meta["segments"]]
    files = sorted(file for name in names for file in folder.glob(f"{name}.*"))
    return [f"{folder.name}/{file.name} is not as it was written" for file in files if _is_spoilt(file)]


def _is_spoilt(file: Path) -> bool:
    try:
        with (
            file.open("rb") as opened,
            mmap(opened.fileno(), 0, access=ACCESS_READ) as mapped,
            memoryview(mapped) as content,
        ):
            return not _is_whole(content)
    except FileNotFoundError:
        return False  # merged away just now
    except (ValueError, LookupError):
        return True  # empty, or its end is anything


def _is_whole(content: memoryview) -> bool:
    length, magic = _END.unpack(content[-_END.size :])
    end = len(content) - _END.size - length
    note = json.loads(bytes(content[max(0, end) : -_END.size]))
    return bool(magic == _MAGIC and zlib.crc32(content[:end]) == note["crc"])
