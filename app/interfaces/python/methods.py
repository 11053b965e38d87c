"""Methods of the Python API, made from the table of operations by `make reference`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clawmem.app.operations.curation import Treatment
    from clawmem.app.operations.diary import Entries, Written
    from clawmem.app.operations.lifecycle import Acts, ArchivedDocuments, RecordedAct, Status, SweepReport


class Methods:
    """A method for each operation."""

    def _run(self, name: str, parameters: dict[str, Any]) -> Any:
        raise NotImplementedError

    def pin(self, query: str, *, unpin: bool = False, why: str = "") -> Treatment:
        """Let a note come before others that fit a question as well: what the user wants to see again and again."""
        found: Treatment = self._run("memory_pin", {"query": query, "unpin": unpin, "why": why})
        return found

    def snooze(self, query: str, *, until: str | None = None, why: str = "") -> Treatment:
        """Keep a note out of what is surfaced unasked until a day; searches still find it."""
        found: Treatment = self._run("memory_snooze", {"query": query, "until": until, "why": why})
        return found

    def diary_write(self, entry: str, *, topic: str = "general", agent: str = "agent") -> Written:
        """Add an entry to the diary; it can be searched like any note."""
        found: Written = self._run("diary_write", {"entry": entry, "topic": topic, "agent": agent})
        return found

    def diary_read(self, *, last_n: int = 10, agent: str = "") -> Entries:
        """Return the last entries of the diary, newest first."""
        found: Entries = self._run("diary_read", {"last_n": last_n, "agent": agent})
        return found

    def lifecycle_status(self) -> Status:
        """Count the documents that are served, pinned, snoozed, archived and forgotten."""
        found: Status = self._run("lifecycle_status", {})
        return found

    def lifecycle_sweep(self, *, dry_run: bool = True) -> SweepReport:
        """Archive what is idle for long, and forget what was archived for long, by the configured policy."""
        found: SweepReport = self._run("lifecycle_sweep", {"dry_run": dry_run})
        return found

    def lifecycle_purge(self, *, dry_run: bool = True) -> SweepReport:
        """Forget for good what was archived for longer than the policy keeps it, and clear the vault's free space."""
        found: SweepReport = self._run("lifecycle_purge", {"dry_run": dry_run})
        return found

    def lifecycle_search(self, words: str, *, limit: int = 20) -> ArchivedDocuments:
        """Find archived documents by their words."""
        found: ArchivedDocuments = self._run("lifecycle_search", {"words": words, "limit": limit})
        return found

    def lifecycle_restore(
        self, *, query: str = "", collection: str = "", all: bool = False
    ) -> ArchivedDocuments:
        """Serve archived documents again: one, those of a collection, or all."""
        found: ArchivedDocuments = self._run(
            "lifecycle_restore", {"query": query, "collection": collection, "all": all}
        )
        return found

    def lifecycle_log(self, *, limit: int = 20) -> Acts:
        """List who pinned, snoozed, archived, restored or forgot what, when and why; the last act first."""
        found: Acts = self._run("lifecycle_log", {"limit": limit})
        return found

    def lifecycle_undo(self, act: int) -> RecordedAct:
        """Take back an act; what was forgotten cannot be brought back."""
        found: RecordedAct = self._run("lifecycle_undo", {"act": act})
        return found
