"""Methods of the Python API, made from the table of operations by `make reference`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeVar

if TYPE_CHECKING:
    from pathlib import Path

    from clawmem.app.operations.answers import SearchAnswer
    from clawmem.app.operations.beads import SyncedIssues
    from clawmem.app.operations.collections import (
        AddedCollection,
        Collections,
        RemovedCollection,
        TrustChange,
        TrustInCollections,
    )
    from clawmem.app.operations.contexts import ContextChange, Contexts
    from clawmem.app.operations.curator import ArchivedDuplicates, CuratorReport, Reflection, Treatment
    from clawmem.app.operations.diary import Entries, WrittenEntry
    from clawmem.app.operations.doctor import Examination
    from clawmem.app.operations.documents import Content, Texts
    from clawmem.app.operations.embedding import Embedded
    from clawmem.app.operations.enriching import Enriched
    from clawmem.app.operations.focus import SessionTopic
    from clawmem.app.operations.forgetting import Forgotten
    from clawmem.app.operations.graph import CausalLinks, Graphs
    from clawmem.app.operations.history import Sessions, Timeline
    from clawmem.app.operations.imports import ImportedMemories
    from clawmem.app.operations.indexes import Differences, Migrated, Rebuilt
    from clawmem.app.operations.indexing import FileReport, Reading
    from clawmem.app.operations.knowledge import Entities, Evolution, Facts
    from clawmem.app.operations.lanes import Journal, LaneReport, LaneStatus, UndoneMerge
    from clawmem.app.operations.lifecycle import Acts, ArchivedDocuments, RecordedAct, Status, SweepReport
    from clawmem.app.operations.links import Links
    from clawmem.app.operations.listing import Listing
    from clawmem.app.operations.mining import Mined, Sources
    from clawmem.app.operations.models import CheckedModel, ChosenModel, LocalModel, LocalModels, RemovedModel
    from clawmem.app.operations.openclaw import FlushPlan, SavedSession
    from clawmem.app.operations.openclaw_memory import AgentAnswer, AgentFile, AgentStatus, IndexedAgent
    from clawmem.app.operations.portability import Backup, Export
    from clawmem.app.operations.profile import ProfilePage
    from clawmem.app.operations.receipts import Receipt
    from clawmem.app.operations.remembering import SavedNote
    from clawmem.app.operations.repair import Repaired
    from clawmem.app.operations.report import UsageReport
    from clawmem.app.operations.restoring import RestoreReport
    from clawmem.app.operations.similar import SimilarDocuments
    from clawmem.app.operations.tags import Tags
    from clawmem.app.operations.vault import NamedVaults, Statistics, Synced, VaultPath, VaultStatus
    from clawmem.domain.maintenance.schedule import LaneName

R = TypeVar("R")


# fmt: off
class Methods:
    """A method for each operation."""

    def _run(self, name: str, given: dict[str, Any]) -> R:  # type: ignore[type-var]
        raise NotImplementedError

    def beads_sync(self, *, project_path: str = ".", allow_empty: bool = False) -> SyncedIssues:
        """Make documents of the issues of a Beads project, with relations by dependency.

        It asks `bd`, or reads the files in .beads where there is no `bd`. Repeat it any time; the watcher does it after
        changes in .beads. Find issues by their properties: --where status=open.
        """
        return self._run("beads_sync", locals())

    def collections(self) -> Collections:
        """List the collections with their folders and numbers of documents."""
        return self._run("collections", locals())

    def collection_add(
        self, path: Path, *, name: str | None = None, pattern: str = "**/*.md",
        exclude: list[str] | None = None, move: bool = False, confirm: bool | None = None,
    ) -> AddedCollection:
        """Add a folder as a collection; 'clawmem update' then reads it."""
        return self._run("collection_add", locals())

    def collection_remove(self, name: str, *, confirm: bool | None = None) -> RemovedCollection:
        """Remove a collection: its files stay, its documents are no longer found.

        If its folder does not exist, the vault has the only copy of the documents, and nothing is removed without a
        confirmation.
        """
        return self._run("collection_remove", locals())

    def trust(self) -> TrustInCollections:
        """List the collections of the config file with their trust."""
        return self._run("trust", locals())

    def trust_set(self, name: str, *, trust: Literal["user", "shared", "outside"]) -> TrustChange:
        """Set the trust in a collection: user, shared or outside.

        Notes of a collection that is shared or from outside are quoted in prompts, and parts of them that give orders
        to an assistant are left out. A note can lower its own trust by a tag such as origin:imported, and never raise it.
        """
        return self._run("trust_set", locals())

    def contexts(self) -> Contexts:
        """List the descriptions of folders."""
        return self._run("contexts", locals())

    def context_set(self, place: str, *, text: str) -> ContextChange:
        """Describe a folder, a file or everything.

        The description is shown with every note below the folder, in results and above its text. Vectors of the notes
        include it after: clawmem reindex --force
        """
        return self._run("context_set", locals())

    def context_remove(self, place: str) -> ContextChange:
        """Remove a description."""
        return self._run("context_remove", locals())

    def reflect(self, *, days: int = 14) -> Reflection:
        """Show repeated decisions, failed attempts, and notes used together."""
        return self._run("reflect", locals())

    def consolidate(self, *, most: int = 50, dry_run: bool = False) -> ArchivedDuplicates:
        """Archive unsure notes that repeat another note of their collection.

        Unsure is a confidence below .4; pinned notes stay. `lifecycle log` lists the archived notes, `lifecycle undo`
        restores them.
        """
        return self._run("consolidate", locals())

    def curate(self) -> CuratorReport:
        """Examine the memory and write a report with next steps; the hook curator-nudge passes it to the next session."""
        return self._run("curate", locals())

    def pin(self, query: str, *, unpin: bool = False, why: str = "") -> Treatment:
        """Rank a note before others that fit a question equally well; for notes that the user needs often."""
        return self._run("memory_pin", locals())

    def snooze(self, query: str, *, until: str | None = None, why: str = "") -> Treatment:
        """Keep a note out of prompts until a day; searches still find it."""
        return self._run("memory_snooze", locals())

    def diary_write(self, entry: str, *, topic: str = "general", agent: str = "agent") -> WrittenEntry:
        """Add an entry to the diary; it can be searched like any note.

        A secret in the entry is reported, and saved as written.
        """
        return self._run("diary_write", locals())

    def diary_read(self, *, last_n: int = 10, agent: str = "") -> Entries:
        """Return the last entries of the diary, newest first."""
        return self._run("diary_read", locals())

    def doctor(self) -> Examination:
        """Check the vault and its environment; report remedies.

        It changes two things: files of the vault, and the config file, are made private if other users can read them, and
        drafts of commands that were killed are deleted.
        """
        return self._run("doctor", locals())

    def get(
        self, file: str, *, from_line: int | None = None, max_lines: int | None = None,
        line_numbers: bool = False,
    ) -> Content:
        """Read one document, or lines of it: the address may end with :LINE."""
        return self._run("get", locals())

    def multi_get(
        self, pattern: str, *, max_lines: int | None = None, max_bytes: int = 10240,
        line_numbers: bool = False,
    ) -> Texts:
        """Read several documents at once; names and documents that were left out are reported."""
        return self._run("multi_get", locals())

    def embed(self, *, force: bool = False) -> Embedded:
        """Embed new and changed text, so that it is found by meaning; with force, embed all of it again.

        Vectors of another model, or of a run with force, replace the old vectors when they are complete.
        """
        return self._run("embed", locals())

    def enrich(
        self, *, limit: int | None = None, all: bool = False, no_model: bool = False,
        daily_calls: int | None = None,
    ) -> Enriched:
        """Add keywords, names and links to new and changed documents.

        A model also writes notes and facts. A run continues where the last one was stopped, and skips unchanged documents.
        Run it after embed: links need vectors.
        """
        return self._run("enrich", locals())

    def focus_set(self, topic: str, *, session_id: str = "") -> SessionTopic:
        """Set the topic of a session: notes about it are ranked first."""
        return self._run("focus_set", locals())

    def focus_show(self, *, session_id: str = "") -> SessionTopic:
        """Show the topic of a session."""
        return self._run("focus_show", locals())

    def focus_clear(self, *, session_id: str = "") -> SessionTopic:
        """Remove the topic of a session."""
        return self._run("focus_clear", locals())

    def forget(
        self, query: str, *, confirm: bool | None = None, why: str = "", prove: bool = False,
    ) -> Forgotten:
        """Forget a note for good, everywhere, only at the user's wish; its file stays. Repeating it changes nothing.

        Without a confirmation nothing is changed: the note is shown with its age, its size and the memories derived from it.
        """
        return self._run("memory_forget", locals())

    def build_graphs(
        self, *, graph_types: tuple[Literal["temporal", "semantic", "all"], ...] = ('all',),
        semantic_threshold: float = 0.7,
    ) -> Graphs:
        """Relate documents that are close in time or in meaning.

        It is safe to repeat; relations of other origins stay.
        """
        return self._run("build_graphs", locals())

    def find_causal_links(
        self, docid: str, *, direction: Literal["causes", "caused_by", "both"] = "both", depth: int = 5,
    ) -> CausalLinks:
        """List the causes and the effects of a document.

        Each is listed with its distance in steps, and the reason that is known for the last step.
        """
        return self._run("find_causal_links", locals())

    def timeline(
        self, docid: str, *, before: int = 5, after: int = 5, same_collection: bool = False, as_of: str = "",
    ) -> Timeline:
        """List the documents written just before and after a document, and the session in which it was written."""
        return self._run("timeline", locals())

    def session_log(self, *, limit: int = 10, as_of: str = "") -> Sessions:
        """List the latest sessions and their results."""
        return self._run("session_log", locals())

    def import_memories(
        self, tool: str, *, path: Path | None = None, dry_run: bool = False,
    ) -> ImportedMemories:
        """Import the memories of another tool, whose store is only read.

        Original times stay, secrets are replaced, and imported texts are quoted and not trusted. Repeat it any time: only new
        and changed memories are imported.
        """
        return self._run("import_memories", locals())

    def verify(self) -> Differences:
        """Compare files, records and indexes, after updating the indexes."""
        return self._run("verify", locals())

    def rebuild(self, *, index: Literal["all", "lexical", "vectors"] = "all") -> Rebuilt:
        """Rebuild an index from the records and replace the old one."""
        return self._run("rebuild", locals())

    def migrate(self, to: str) -> Migrated:
        """Move the indexes to another backend, or resume a move.

        The vault stays searchable during the move.
        """
        return self._run("migrate", locals())

    def update(
        self, *, collection: str | list[str] = "", pull: bool = False, embed: bool | None = None,
        allow_empty: bool = False,
    ) -> Reading:
        """Read new and changed files of every collection, and make the missing vectors if that takes less than a minute.

        With a model server vectors are made only on request or where the config file says autoEmbed.
        """
        return self._run("update", locals())

    def reindex(
        self, *, collection: str | list[str] = "", force: bool = False, enrich: bool = False,
        allow_empty: bool = False,
    ) -> Reading:
        """Read the folders again, with force also the files that look unchanged, and make the missing vectors as update does."""
        return self._run("reindex", locals())

    def why_not(self, path: Path) -> FileReport:
        """Explain whether a file is indexed, and why not.

        It names the rule that excludes a file, with its file and line, and what to do about it.
        """
        return self._run("why_not", locals())

    def find_entities(self, *, query: str = "", like: str = "", limit: int = 10) -> Entities:
        """List people, projects, tools and other things by name; without a name, those mentioned most."""
        return self._run("find_entities", locals())

    def kg_query(
        self, entity: str, *, as_of: str | None = None,
        direction: Literal["outgoing", "incoming", "both"] = "both", limit: int = 100,
    ) -> Facts:
        """List the facts about an entity, and when they held.

        An entity is a person, project, tool or other thing that documents mention.
        """
        return self._run("kg_query", locals())

    def evolution_status(self, docid: str, *, limit: int = 10) -> Evolution:
        """List the versions of the note about a document, newest first.

        Each version names the document that caused it.
        """
        return self._run("memory_evolution_status", locals())

    def lanes_status(self, *, limit: int = 10) -> LaneStatus:
        """Show the lanes: workers, next runs, trends of merged notes.

        The last runs follow.
        """
        return self._run("lanes_status", locals())

    def lanes_journal(self, *, limit: int = 20, lane: LaneName | None = None) -> Journal:
        """List the runs, newest first, with each decision and its reason.

        A run without work is listed with the reason.
        """
        return self._run("lanes_journal", locals())

    def lanes_run(self, lane: LaneName, *, now: bool = False, dry_run: bool = False) -> LaneReport:
        """Run a lane once, unless another process works in it.

        A dry run works on a temporary copy of the vault, by rules alone.
        """
        return self._run("lanes_run", locals())

    def lanes_undo(self, note: str) -> UndoneMerge:
        """Undo a merge: serve the original notes again.

        The notes are not merged again.
        """
        return self._run("lanes_undo", locals())

    def lifecycle_status(self) -> Status:
        """Count the documents that are served, pinned, snoozed, archived and forgotten."""
        return self._run("lifecycle_status", locals())

    def lifecycle_sweep(self, *, dry_run: bool = True) -> SweepReport:
        """Archive idle documents and forget documents archived long ago, by the configured policy."""
        return self._run("lifecycle_sweep", locals())

    def lifecycle_purge(self, *, dry_run: bool = True) -> SweepReport:
        """Forget for good the documents archived longer than the policy keeps them, and clear the vault's free space."""
        return self._run("lifecycle_purge", locals())

    def lifecycle_search(self, words: str, *, limit: int = 20) -> ArchivedDocuments:
        """Find archived documents by their words."""
        return self._run("lifecycle_search", locals())

    def lifecycle_restore(
        self, *, query: str = "", collection: str = "", all: bool = False,
    ) -> ArchivedDocuments:
        """Serve archived documents again: one, those of a collection, or all."""
        return self._run("lifecycle_restore", locals())

    def lifecycle_log(self, *, limit: int = 20) -> Acts:
        """List who pinned, snoozed, archived, restored or forgot what, when and why; the last act first."""
        return self._run("lifecycle_log", locals())

    def lifecycle_undo(self, act: int) -> RecordedAct:
        """Undo an act; forgotten documents cannot be restored."""
        return self._run("lifecycle_undo", locals())

    def links(
        self, *, file: str = "", broken: bool = False, collection: str | list[str] = "", limit: int = 100,
    ) -> Links:
        """List the links of a note and the links to it. Without a note, list all links that lead nowhere."""
        return self._run("links", locals())

    def list_documents(
        self, *, limit: int = 10, collection: str | list[str] = "", tag: str | list[str] = "",
        where: str | list[str] = "", sort: str = "", reverse: bool = False,
    ) -> Listing:
        """List the documents with some properties or tags; without conditions, those that were written last."""
        return self._run("list", locals())

    def mine(
        self, *, paths: list[str] | None = None, collection: str = "", source: str = "", since: str = "",
        dry_run: bool = False, embed: bool | None = None, synthesize: bool = False,
        synthesis_max_docs: int = 20, forget: str = "", confirm: bool | None = None,
    ) -> Mined:
        """Import conversations: chat exports (ChatGPT, Claude.ai, Gemini, Slack), sessions of agents, and chats as text.

        Formats are recognised by content, also in ZIP files. A repetition adds and changes only new exchanges.
        """
        return self._run("mine", locals())

    def sources(self) -> Sources:
        """List the programs whose conversations or memories were imported, with the numbers of their documents."""
        return self._run("sources", locals())

    def models_list(self) -> LocalModels:
        """List the known models: installed or not, and which one is used."""
        return self._run("models_list", locals())

    def models_add(self, name: str, *, source: Path | None = None) -> LocalModel:
        """Download a model and check its published hash, or take a file.

        Safe to repeat: an interrupted download continues where it stopped.
        """
        return self._run("models_add", locals())

    def models_remove(self, name: str) -> RemovedModel:
        """Delete an installed model that is not in use; its vectors stay."""
        return self._run("models_remove", locals())

    def models_use(self, name: str) -> ChosenModel:
        """Set the embedding model in the config file.

        auto is the best installed model for a vault without vectors; other vaults keep the model of theirs.
        """
        return self._run("models_use", locals())

    def models_check(self, name: str) -> CheckedModel:
        """Check the files of a model and measure its speed; clawmem doctor also tests what it computes."""
        return self._run("models_check", locals())

    def flush_plan(
        self, *, context_window: int = 200000, total_tokens: int = 0, compactions: int = 0,
        flushed_at: int | None = None, transcript_bytes: int = 0, reserve_tokens: int = 0,
        compacts_at: int = 0, read_only: bool = False, heartbeat: bool = False,
    ) -> FlushPlan:
        """Return when and how an agent saves its memory before a compaction; once for each compaction."""
        return self._run("flush_plan", locals())

    def session_note(self, transcript: str, *, workspace: str) -> SavedSession:
        """Save the last 15 messages of a session as memory/YYYY-MM-DD-SLUG.md of a workspace.

        The slug is made of the words that are used most often. The same session is saved once, and no file is changed.
        """
        return self._run("session_note", locals())

    def index_agent(
        self, *, agent: str = "main", workspace: str = "", extra: list[str] | None = None,
        sessions: bool | None = None, all_sessions: bool = False, chunk_tokens: int | None = None,
        chunk_overlap: int | None = None,
    ) -> IndexedAgent:
        """Index the memory files of an agent, and its sessions if it has them chosen, in a vault of this agent alone.

        Changed files are read; other chunk sizes than before split every file again. Unchanged text keeps its vectors.
        """
        return self._run("index_agent", locals())

    def search_agent(
        self, query: str, *, agent: str = "main", limit: int = 6, min_score: float = 0.35,
        source: Literal["all", "memory", "sessions"] = "all",
    ) -> AgentAnswer:
        """Search the memory of an agent as OpenClaw does, after indexing changed files. No other agent's memory is read."""
        return self._run("search_agent", locals())

    def get_of_agent(
        self, path: str, *, agent: str = "main", from_line: int | None = None, lines: int | None = None,
    ) -> AgentFile:
        """Read a memory file of an agent, or lines of it. A path outside of its memory is not found."""
        return self._run("get_of_agent", locals())

    def status_of_agent(self, *, agent: str = "main") -> AgentStatus:
        """Show the sources of the memory of an agent, and the number of indexed files."""
        return self._run("status_of_agent", locals())

    def backup(self, file: Path, *, force: bool = False) -> Backup:
        """Copy the vault to one file while programs use it.

        The copy is a consistent state of the vault, and it is checked before it gets its name. It is a vault itself: use it
        with --vault FILE, or put it in the place of a lost vault.
        """
        return self._run("backup", locals())

    def export(
        self, *, output: Path | None = None, form: Literal["bundle", "markdown", "jsonl"] = "bundle",
        since: str = "", collection: str | list[str] = "", receipts: bool = False, force: bool = False,
    ) -> Export:
        """Write notes and memories to a file that leaves clawmem.

        A bundle (the default) is everything in one ZIP file, from which `clawmem restore` makes the same vault. markdown is
        a folder of notes. jsonl has each document with its facts and relations on one line, which `clawmem import jsonl`
        reads. Equal content gives equal bytes.
        """
        return self._run("export", locals())

    def profile(self, *, rebuild: bool = False) -> ProfilePage:
        """Return the profile of the user; rebuild it if it is outdated.

        The profile lists current facts and recent work. It is built from decisions, hubs and sessions.
        """
        return self._run("profile", locals())

    def retrieve(
        self, query: str, *, limit: int = 10, collection: str | list[str] = "", since: str = "",
        until: str = "", as_of: str = "", content_type: str | list[str] = "", tag: str | list[str] = "",
        where: str | list[str] = "", floor: float = 0.0, show_all: bool = False, compact: bool = True,
        body: bool = False, explain: bool = False,
        mode: Literal["auto", "timeline", "causal", "discovery", "complex", "keyword", "semantic", "hybrid"] = "auto",
    ) -> SearchAnswer:
        """Find what the user's notes and earlier sessions say, by whichever way the question calls for. Begin here.

        Takes why-questions along causes, "last session" to the sessions, several questions apart, names to words.
        """
        return self._run("memory_retrieve", locals())

    def intent_search(
        self, query: str, *, limit: int = 10, collection: str | list[str] = "", since: str = "",
        until: str = "", as_of: str = "", content_type: str | list[str] = "", tag: str | list[str] = "",
        where: str | list[str] = "", floor: float = 0.0, show_all: bool = False, compact: bool = True,
        body: bool = False, explain: bool = False,
        intent: Literal["WHY", "WHEN", "ENTITY", "WHAT"] | None = None, graph: bool = True,
        min_score: float = 0.0,
    ) -> SearchAnswer:
        """Find by the intent of the question (why, when, who), along the relations of documents."""
        return self._run("intent_search", locals())

    def query_plan(
        self, query: str, *, limit: int = 10, collection: str | list[str] = "", since: str = "",
        until: str = "", as_of: str = "", content_type: str | list[str] = "", tag: str | list[str] = "",
        where: str | list[str] = "", floor: float = 0.0, show_all: bool = False, compact: bool = True,
        body: bool = False, explain: bool = False,
    ) -> SearchAnswer:
        """Find for a question of several topics: it is split, and its parts are answered together."""
        return self._run("query_plan", locals())

    def receipt(self, id: str) -> Receipt:
        """Show how an answer came about."""
        return self._run("receipt", locals())

    def remember(
        self, text: str, *, title: str = "", tag: str | list[str] = "", collection: str = "",
        supersedes: str = "", anyway: bool = False,
    ) -> SavedNote:
        """Save a text as a Markdown file in a folder of the user; it can be found at once.

        Nothing is saved if a note that is up to date states the same; the answer names that note. A secret in the text is
        reported, and saved as written. Correct a note by saving the new text with supersedes.
        """
        return self._run("memory_remember", locals())

    def repair(self, *, confirm: bool | None = None) -> Repaired:
        """Rebuild a damaged vault from every row that can be read.

        The damaged file is stored next to the new vault. Forgotten notes stay forgotten. Every index is rebuilt, and the
        files of the collections are read again. The command first lists what would be lost, and asks.
        """
        return self._run("repair", locals())

    def report(
        self, *, since: str | None = None, top: int = 10, parquet: Path | None = None,
        plots: Path | None = None, format: Literal["png", "svg"] = "png",
    ) -> UsageReport:
        """Report recalls, growth, age of documents and speed."""
        return self._run("report", locals())

    def restore(self, bundle: Path, *, drill: bool = False) -> RestoreReport:
        """Make a vault from a bundle, with the same ids and the same answers.

        A vault that has notes is never replaced. With --drill the vault is made in a temporary place, verified, asked the
        questions of the bundle, and deleted.
        """
        return self._run("restore", locals())

    def query(
        self, query: str, *, limit: int = 10, collection: str | list[str] = "", since: str = "",
        until: str = "", as_of: str = "", content_type: str | list[str] = "", tag: str | list[str] = "",
        where: str | list[str] = "", floor: float = 0.0, show_all: bool = False, compact: bool = True,
        body: bool = False, explain: bool = False, min_score: float = 0.0,
        unit: Literal["document", "line"] = "document", purpose: str = "", diverse: bool = True,
        candidate_limit: int | None = None,
    ) -> SearchAnswer:
        """Find by words and meaning together, compared closely: the best single answer there is."""
        return self._run("query", locals())

    def search(
        self, query: str, *, limit: int = 10, collection: str | list[str] = "", since: str = "",
        until: str = "", as_of: str = "", content_type: str | list[str] = "", tag: str | list[str] = "",
        where: str | list[str] = "", floor: float = 0.0, show_all: bool = False, compact: bool = True,
        body: bool = False, explain: bool = False, min_score: float = 0.0,
        unit: Literal["document", "line"] = "document",
    ) -> SearchAnswer:
        """Find by words: for names, identifiers, error messages, file names. The quickest."""
        return self._run("search", locals())

    def vsearch(
        self, query: str, *, limit: int = 10, collection: str | list[str] = "", since: str = "",
        until: str = "", as_of: str = "", content_type: str | list[str] = "", tag: str | list[str] = "",
        where: str | list[str] = "", floor: float = 0.0, show_all: bool = False, compact: bool = True,
        body: bool = False, explain: bool = False, min_score: float = 0.15,
        unit: Literal["document", "line"] = "document",
    ) -> SearchAnswer:
        """Find by meaning alone, for texts in other words. There is always a nearest document."""
        return self._run("vsearch", locals())

    def find_similar(
        self, file: str, *, limit: int = 5, compact: bool = True, as_of: str = "",
    ) -> SimilarDocuments:
        """List the documents nearest to a document in meaning; the score is a cosine."""
        return self._run("find_similar", locals())

    def list_tags(self, *, tag: str = "", collection: str | list[str] = "", limit: int = 1000) -> Tags:
        """List the tags of notes, most used first; a note with a/b counts for a, too."""
        return self._run("list_tags", locals())

    def status(self) -> VaultStatus:
        """Show the content of the vault and the state of its vectors."""
        return self._run("status", locals())

    def index_stats(self) -> Statistics:
        """Show the vault in numbers, and its last sessions."""
        return self._run("index_stats", locals())

    def init(self) -> VaultPath:
        """Create the vault and the config folder; keep existing ones."""
        return self._run("init", locals())

    def vault_path(self) -> VaultPath:
        """Print the path of the vault."""
        return self._run("vault_path", locals())

    def list_vaults(self) -> NamedVaults:
        """List the named vaults with their files; opens none. The parameter vault of other tools takes their names."""
        return self._run("list_vaults", locals())

    def vault_sync(
        self, vault: str, *, content_root: Path, pattern: str = "**/*.md",
        collection_name: str | None = None, embed: bool = False, allow_empty: bool = False,
    ) -> Synced:
        """Read a folder into a named vault; the documents that the collection has of any other folder are removed.

        Programs may read folders below those of `collections:` and `sync_folders:` in the config file. A new vault of the
        command line is a file next to the usual vault, and its name is written to the config file.
        """
        return self._run("vault_sync", locals())
