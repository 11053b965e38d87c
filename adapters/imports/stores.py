"""The table of tools whose memories can be imported."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from zipfile import is_zipfile

import apsw
from pydantic import TypeAdapter

from clawmem.adapters.imports import databases, markdown_memories
from clawmem.adapters.imports.reading import NoStore, file_in, text_of
from clawmem.ports.errors import StoreUnreadable
from clawmem.ports.imports import ForeignMemory, ForeignStore, Unmatched

Read = Callable[[Path], Iterator[ForeignMemory | Unmatched]]


def _lines(place: Path) -> Iterator[ForeignMemory | Unmatched]:
    """Yield the memories of a file that ``clawmem export --format jsonl`` wrote: one JSON object on each line."""
    adapter = TypeAdapter(ForeignMemory)
    is_empty = True
    for line in filter(str.strip, text_of(file_in(place, "memories.jsonl")).splitlines()):
        try:
            whole = json.dumps(json.loads(line), ensure_ascii=False).encode("utf-8", "replace")
            memory = adapter.validate_json(whole)
        except (ValueError, RecursionError):  # pydantic's error is a ValueError
            yield Unmatched("line that is no memory")
            continue
        is_empty &= not memory.text.strip()
        yield memory if memory.text.strip() else Unmatched("empty memory")
    if is_empty:
        raise NoStore("it has no memory")


def _read(tool: str, read: Read, place: str) -> Iterator[ForeignMemory | Unmatched]:
    """Read the store at *place*; refuse a ZIP file."""
    if Path(place).is_file() and is_zipfile(place):
        remedy = (
            f"Unpack it, and name the store in it: clawmem import {tool} PATH. If it holds conversations, run: "
            f"clawmem mine {shlex.quote(place)}"
        )
        raise StoreUnreadable(tool, place, "it is a ZIP file", remedy)
    try:
        yield from read(Path(place))
    except OSError as error:
        raise StoreUnreadable(tool, place, (error.strerror or type(error).__name__).lower()) from error
    except (NoStore, apsw.Error, UnicodeError) as error:
        raise StoreUnreadable(tool, place, str(error)) from error


_TOOLS: tuple[tuple[str, tuple[str, ...], Read], ...] = (
    ("mem0", (".mem0",), databases.mem0),
    ("claude-mem", (".claude-mem",), databases.claude_mem),
    ("basic-memory", ("basic-memory",), markdown_memories.basic_memory),
    ("openclaw", (".openclaw/workspace",), markdown_memories.openclaw),
    ("clawmem", (".cache/clawmem",), databases.clawmem_original),
    ("jsonl", (), _lines),
)
STORES = {tool: ForeignStore(tool, usual, partial(_read, tool, read)) for tool, usual, read in _TOOLS}
