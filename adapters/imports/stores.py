"""The table of tools whose memories can be imported."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from zipfile import is_zipfile

from pydantic import TypeAdapter

from clawmem.adapters.imports import claude_mem, clawmem_original, markdown_memories, mem0
from clawmem.adapters.imports.reading import file_in, text_of
from clawmem.ports.errors import StoreUnreadable
from clawmem.ports.imports import ForeignMemory, ForeignStore, Unmatched

LINES = "jsonl"
Read = Callable[[Path], Iterator[ForeignMemory | Unmatched]]


def _lines(place: Path) -> Iterator[ForeignMemory | Unmatched]:
    """Yield the memories of a file that ``clawmem export --format jsonl`` wrote: one JSON object on each line."""
    file = file_in(LINES, place, "memories.jsonl")
    memory = TypeAdapter(ForeignMemory)
    is_empty = True
    for line in filter(str.strip, text_of(LINES, file).splitlines()):
        try:
            whole = json.dumps(json.loads(line), ensure_ascii=False).encode("utf-8", "replace")
            found = memory.validate_json(whole)
        except (ValueError, RecursionError):  # pydantic's error is a ValueError
            yield Unmatched("line that is no memory")
            continue
        is_empty &= not found.text.strip()
        yield found if found.text.strip() else Unmatched("empty memory")
    if is_empty:
        raise StoreUnreadable(LINES, str(file), "it has no memory")


def _unpacked(tool: str, read: Read, place: str) -> Iterator[ForeignMemory | Unmatched]:
    """Read the store at *place*; refuse a ZIP file."""
    if Path(place).is_file() and is_zipfile(place):
        remedy = (
            f"Unpack it, and name the store in it: clawmem import {tool} PATH. If it holds conversations, run: "
            f"clawmem mine {shlex.quote(place)}"
        )
        raise StoreUnreadable(tool, place, "it is a ZIP file", remedy)
    return read(Path(place))


_TOOLS: tuple[tuple[str, tuple[str, ...], Read], ...] = (
    ("mem0", (".mem0",), mem0.read),
    ("claude-mem", (".claude-mem",), claude_mem.read),
    ("basic-memory", ("basic-memory",), markdown_memories.basic_memory),
    ("openclaw", (".openclaw/workspace",), markdown_memories.openclaw),
    ("clawmem", (".cache/clawmem",), clawmem_original.read),
    (LINES, (), _lines),
)
STORES = {tool: ForeignStore(tool, usual, partial(_unpacked, tool, read)) for tool, usual, read in _TOOLS}
