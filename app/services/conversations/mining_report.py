"""Options and results of an import of conversations."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


@dataclass(slots=True)
class SourceCounts:
    """
    Counts of one source: conversations and messages read, and documents that were added, updated, removed or unchanged.

    Memories, instructions and documents of projects are no conversations.

    ``earlier`` conversations end before the first day of the import, and ``repeated`` ones are in the collection under the
    name of another source already.
    """

    conversations: int = 0
    messages: int = 0
    added: int = 0
    updated: int = 0
    removed: int = 0
    unchanged: int = 0
    too_short: int = 0
    forgotten: int = 0
    earlier: int = 0
    repeated: int = 0


@dataclass(slots=True)
class MiningReport:
    """
    Results of one import.

    ``files`` were read, ``skipped`` files are unchanged since the last import. ``foreign`` files hold no conversation;
    ``faults`` are sentences about files that were not read, or not completely.
    """

    files: int = 0
    skipped: int = 0
    sources: dict[str, SourceCounts] = field(default_factory=dict)
    foreign: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


class MiningInterrupted(KeyboardInterrupt):
    """An interrupt during an import; ``report`` counts the committed documents."""

    def __init__(self, report: MiningReport) -> None:
        super().__init__("the import was interrupted")
        self.report = report


class MiningOptions(NamedTuple):
    """Options of an import: ``since_ms`` leaves out earlier exchanges; a ``dry_run`` changes nothing."""

    collection: str
    source: str = ""
    since_ms: int | None = None
    dry_run: bool = False
