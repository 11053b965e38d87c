"""Methods of the Python API, made from the table of operations by `make reference`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from clawmem.app.operations.curation import Treatment
    from clawmem.app.operations.diary import Entries, Written
    from clawmem.app.operations.enriching import Enriched
    from clawmem.app.operations.graph import CausalLinks, Graphs
    from clawmem.app.operations.knowledge import Entities, Evolution, Facts
    from clawmem.app.operations.lifecycle import Acts, ArchivedDocuments, RecordedAct, Status, SweepReport
    from clawmem.app.operations.profile import ProfilePage


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

    def enrich(
        self,
        *,
        limit: int | None = None,
        all: bool = False,
        no_model: bool = False,
        daily_calls: int | None = None,
    ) -> Enriched:
        """Add keywords, names and links to new and changed documents.

        A model also writes notes and facts. A run continues where the last one was stopped, and skips unchanged documents.
        Run it after embed: links need vectors.
        """
        found: Enriched = self._run(
            "enrich", {"limit": limit, "all": all, "no_model": no_model, "daily_calls": daily_calls}
        )
        return found

    def build_graphs(
        self,
        *,
        graph_types: tuple[Literal["temporal", "semantic", "all"], ...] = ("all",),
        semantic_threshold: float = 0.7,
    ) -> Graphs:
        """Relate documents that are close in time or in meaning.

        It is safe to repeat; relations of other origins stay.
        """
        found: Graphs = self._run(
            "build_graphs", {"graph_types": graph_types, "semantic_threshold": semantic_threshold}
        )
        return found

    def find_causal_links(
        self, docid: str, *, direction: Literal["causes", "caused_by", "both"] = "both", depth: int = 5
    ) -> CausalLinks:
        """List the causes and the effects of a document.

        Each is listed with its distance in steps, and the reason that is known for the last step.
        """
        found: CausalLinks = self._run(
            "find_causal_links", {"docid": docid, "direction": direction, "depth": depth}
        )
        return found

    def find_entities(self, query: str, *, limit: int = 10) -> Entities:
        """List people, projects, tools and other things by name."""
        found: Entities = self._run("find_entities", {"query": query, "limit": limit})
        return found

    def kg_query(
        self,
        entity: str,
        *,
        as_of: str | None = None,
        direction: Literal["outgoing", "incoming", "both"] = "both",
        limit: int = 100,
    ) -> Facts:
        """List the facts about an entity, and when they held.

        An entity is a person, project, tool or other thing that documents mention.
        """
        found: Facts = self._run(
            "kg_query", {"entity": entity, "as_of": as_of, "direction": direction, "limit": limit}
        )
        return found

    def evolution_status(self, docid: str, *, limit: int = 10) -> Evolution:
        """List the versions of the note about a document, newest first.

        Each version names the document that caused it.
        """
        found: Evolution = self._run("memory_evolution_status", {"docid": docid, "limit": limit})
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

    def profile(self, *, rebuild: bool = False) -> ProfilePage:
        """Return the profile of the user; rebuild it if it is outdated.

        The profile lists current facts and recent work. It is built from decisions, hubs and sessions.
        """
        found: ProfilePage = self._run("profile", {"rebuild": rebuild})
        return found

    def stored_profile(self) -> ProfilePage:
        """Return the stored profile of the user."""
        found: ProfilePage = self._run("stored_profile", {})
        return found
