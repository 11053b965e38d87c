"""Files that may hold conversations."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from clawmem.ports.conversations import ExportFile, ReadFault
from clawmem.ports.errors import SourceUnreadable
from clawmem.ports.records import SourceStamp

EXTENSIONS = (".json", ".jsonl", ".markdown", ".md", ".txt")
ZIP = ".zip"
PACKED = (".tgz", ".gz", ".tar", ".bz2", ".xz", ".7z", ".rar")
DATABASES = ("openclaw-agent.sqlite", "opencode.db", "state.db")  # of agents; state.db is that of Hermes
LOG = "-wal"  # suffix of the file in which a database keeps its latest changes
SKIPPED = frozenset(
    ".git node_modules __pycache__ .venv venv dist build .next .mempalace .grepai tool-results subagents".split()
)


def export_files(paths: Sequence[str]) -> tuple[list[ExportFile], list[ReadFault]]:
    """See `clawmem.ports.conversations.ConversationExports.files`."""
    found: dict[str, ExportFile] = {}
    faults: list[ReadFault] = []

    def complain(error: OSError) -> None:
        reason = "it does not exist" if isinstance(error, FileNotFoundError) else reason_of(error)
        faults.append(ReadFault(os.fsdecode(error.filename), reason))

    for path in map(os.path.abspath, paths):
        for place in _places(path, complain):
            try:
                state = os.lstat(place) if place != path else os.stat(place)  # noqa: PTH116  a link keeps its name
            except OSError as error:
                complain(error)
                continue
            if stat.S_ISREG(state.st_mode):
                found[place] = ExportFile(place, _stamp(place, state))
            elif place == path:
                faults.append(ReadFault(path, "it is not a regular file"))
    if faults and not found:
        raise SourceUnreadable(faults[0].file, faults[0].reason)
    return [found[place] for place in sorted(found)], faults


def _stamp(place: str, state: os.stat_result) -> SourceStamp:
    """Return the stamp of a file; a database grows in its log."""
    size, mtime_ns = state.st_size, state.st_mtime_ns
    if not place.lower().endswith((*EXTENSIONS, ZIP)):
        with suppress(OSError):
            log = os.stat(place + LOG)  # noqa: PTH116
            size, mtime_ns = size + log.st_size, max(mtime_ns, log.st_mtime_ns)
    return SourceStamp(size, mtime_ns)


def reason_of(error: OSError) -> str:
    """Return the message of *error* for a sentence."""
    return (error.strerror or str(error)).lower()


def _places(path: str, complain: Callable[[OSError], None]) -> Iterator[str]:
    if not os.path.isdir(path):  # noqa: PTH112
        yield path
        return
    for folder, folders, names in os.walk(path, onerror=complain):
        folders[:] = sorted(set(folders) - SKIPPED)
        yield from (
            os.path.join(folder, name)  # noqa: PTH118
            for name in sorted(names)
            if name.lower().endswith((*EXTENSIONS, ZIP)) or name in DATABASES
        )
