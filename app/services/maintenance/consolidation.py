"""Observations: their selection, their trends, and the merging of those that state the same. A merge can be undone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import combinations
from operator import attrgetter

from clawmem.app.environment.session_topics import PROJECT
from clawmem.app.services.capture.memories import Memories
from clawmem.app.services.capture.visibility import APPLIES_TO
from clawmem.app.services.indexing.publish import Publisher
from clawmem.app.services.knowledge.asking import Ask
from clawmem.app.services.maintenance.phase_run import PhaseRun, Verdict
from clawmem.domain.briefing.blocks import TITLE_CHARS
from clawmem.domain.capture.notes import COLLECTION, OBSERVATIONS, title_of
from clawmem.domain.documents.identity import is_forgotten
from clawmem.domain.documents.times import iso_utc, parse_iso
from clawmem.domain.maintenance import contradiction_gate, merge_gate, patterns, schedule
from clawmem.domain.maintenance.merge_gate import Group, Observation
from clawmem.domain.maintenance.patterns import CONSOLIDATED, trend
from clawmem.domain.security.origin import is_verified
from clawmem.ports.clock import Clock
from clawmem.ports.documents import DocumentStore, PropertyStore
from clawmem.ports.indexes import EmbeddingStore, VectorSearch
from clawmem.ports.journal import Act, ActEntry, ActJournal, Journal, Replacement
from clawmem.ports.knowledge import EntityStore, Relation, RelationKind, RelationStore, TripleStore
from clawmem.ports.records import Document, InactiveReason, Origin, Scope
from clawmem.ports.sessions import CaptureStore
from clawmem.ports.storage import Transactions
from clawmem.ports.telemetry import Telemetry

ORIGIN = "consolidation"
BY_MODEL = "a model says that they say the same"
APART = "they were taken apart"
AT_ONCE = 20  # observations in one prompt
JUDGED = 10  # pairs per run that the model judges
_MOST_RELATIONS = 1000  # of each document
SCORED = 300  # most observations whose nearest neighbours are searched
_FRAGMENTS = 4  # fragments of one document that may precede the next document in the hits


def served_observations(documents: DocumentStore) -> list[Document]:
    """Return all served observations of the collection that machines write, captured decisions among them."""
    ids = documents.ids(Scope(frozenset({COLLECTION})), content_types=patterns.KINDS)
    folders = f"{OBSERVATIONS}/", f"{patterns.FOLDER}/"
    return [document for document in documents.many(ids).values() if document.path.startswith(folders)]


@dataclass(frozen=True, slots=True)
class ObservationSelector:
    """Selects among the served observations; each selection names its selector."""

    documents: DocumentStore
    telemetry: Telemetry
    embeddings: EmbeddingStore
    vectors: VectorSearch

    def newest(self, limit: int) -> tuple[str, Sequence[Document]]:
        """Select the most recently written observations."""
        return schedule.NEWEST_FIRST, schedule.newest_first(served_observations(self.documents), limit)

    def stale(self, limit: int) -> tuple[str, Sequence[Document]]:
        """Select the observations that were recalled least recently."""
        return schedule.STALE_FIRST, schedule.stale_first(
            served_observations(self.documents), self.recalled_at(), limit
        )

    def surprising(self, limit: int, check: Callable[[], None]) -> tuple[str, Sequence[Document]]:
        """Select the observations with the most distant neighbours; the stale ones if too few have vectors."""
        _, scored = self.stale(SCORED)
        pool = {document.id: document for document in scored}
        distances: dict[int, list[float]] = {}
        for number in pool:
            check()
            for fragment in self.embeddings.of_document(number)[:1]:
                others = Scope(documents=frozenset(pool.keys() - {number}))
                nearest: dict[int, float] = {}
                for hit in self.vectors.search(
                    fragment.vector, (schedule.NEIGHBOURS + 1) * _FRAGMENTS, others
                ):
                    nearest.setdefault(hit.key.document_id, 1.0 - hit.score)
                distances[number] = list(nearest.values())[: schedule.NEIGHBOURS]
        if ranked := schedule.surprising_first(distances, limit):
            return schedule.SURPRISAL, [pool[number] for number in ranked]
        return schedule.SURPRISAL_FALLBACK, self.stale(limit)[1]

    def recalled_at(self) -> dict[int, str]:
        """Return when each document was last recalled. Recalls are iterated oldest first."""
        recalls = self.telemetry.recalls()
        return {hit.document_id: recall.asked_at for recall in recalls for hit in recall.hits}

    def trends(self, now_ms: int) -> dict[str, int]:
        """Return the number of served documents that replace observations, by their trend."""
        counts: Counter[str] = Counter()
        for document in served_observations(self.documents):
            if CONSOLIDATED in document.tags:
                occasions = patterns.occurrences_of(document, self.documents.body(document.id) or "")
                days = sorted(occasion.day for occasion in occasions) or [document.authored_at[:10]]
                first, last = (
                    now_ms if (ms := parse_iso(day)) is None else ms for day in (days[0], days[-1])
                )
                counts[trend(first, last, len(days), now_ms).value] += 1
        return dict(counts)


class Observations:
    """
    The served observations that the user manages neither by pinning nor by snoozing them.

    There may be tens of thousands of consolidated documents: to find similar ones, their titles are enough.
    """

    def __init__(self, documents: DocumentStore, entities: EntityStore, properties: PropertyStore) -> None:
        self._store = documents
        self._entities = entities
        self._projects = properties.named(PROJECT)
        self._local = properties.named(APPLIES_TO)
        self._documents = {
            document.id: document
            for document in served_observations(documents)
            if not (document.is_pinned or document.snoozed_until)
        }
        self._read: dict[int, Observation] = {}
        self._index = merge_gate.StatementIndex(
            (
                document.id,
                document.title
                if CONSOLIDATED in document.tags and not document.title.endswith("…")
                else self[document.id].statement.text,
            )
            for document in self._documents.values()
        )

    def __contains__(self, document_id: int) -> bool:
        return document_id in self._documents

    def __getitem__(self, document_id: int) -> Observation:
        if document_id not in self._read:
            document = self._documents[document_id]
            text = patterns.stated_text(document, self._store.body(document_id) or "")
            entities = frozenset(entity.id for entity in self._entities.mentions(document_id))
            project = next((value.value for value in self._projects.get(document_id, ())), "")
            statement, is_local = merge_gate.ObservationText(text, entities), document_id in self._local
            self._read[document_id] = Observation(document, statement, project, is_local)
        return self._read[document_id]

    def near(self, observation: Observation, without: Collection[int] = ()) -> list[Observation]:
        """Return others of its kind similar to *observation*, latest first, leaving out the ids *without*."""
        numbers = self._index.near(observation.statement.text)
        others = (self[number] for number in numbers if number != observation.id and number not in without)
        same_kind = [other for other in others if other.kind == observation.kind]
        return sorted(same_kind, key=lambda other: other.when, reverse=True)


@dataclass(frozen=True)
class Consolidation:
    """
    Merges repeated observations that pass the merge gate, and relates those that contradict each other.

    Args:
        ask: Asks a model, which finds paraphrases and contradictions. Without it, only observations in nearly the same
            words are merged.
        policy: What happens to the earlier of two observations that contradict each other.
        normal: The least cosine of two texts that name the same entities.
        strict: The least cosine where entities are not comparable.
        least: The least confidence of a contradiction.
    """

    documents: DocumentStore
    properties: PropertyStore
    entities: EntityStore
    triples: TripleStore
    relations: RelationStore
    journal: Journal
    acts: ActJournal
    transactions: Transactions
    publisher: Publisher
    captures: CaptureStore
    memories: Memories
    clock: Clock
    ask: Ask | None = None
    policy: contradiction_gate.Policy = contradiction_gate.Policy.LINK
    normal: float = merge_gate.NORMAL
    strict: float = merge_gate.STRICT
    least: float = contradiction_gate.LEAST_CONFIDENCE

    def __call__(self, documents: Sequence[Document], run: PhaseRun) -> PhaseRun:
        """
        Merge the observations among *documents* with each other and with all served observations.

        Raises:
            VaultError: earlier merges of this run persist.
        """
        known = Observations(self.documents, self.entities, self.properties)
        selected = [known[document.id] for document in documents if document.id in known]
        selected.sort(key=lambda observation: observation.when, reverse=True)
        run.selected = len(selected)
        grouping = _Grouping(self, run)
        if self.ask:
            grouping.by_model(selected, self.ask)
        grouping.by_words(selected, known)
        for group in grouping.groups:
            self._merge(group, run)
        rest = [observation for observation in selected if observation.id not in grouping.members]
        self._contradict(rest, known, grouping.members, run)
        return run

    def restore(self, document_id: int, by: str, why: str = "") -> list[Document]:
        """
        Serve the documents again that *document_id* replaced, and return them.

        The replacing document is withdrawn if it was made by consolidation, and the restored documents are not
        merged with each other again.

        Raises:
            VaultError: nothing was changed.
        """
        replacements = self.journal.replacements(document_id)
        entries = [entry for entry in replacements if entry.document_id == document_id]
        restored: list[Document] = []
        now = iso_utc(self.clock.now_ms())
        with self.transactions.writing():
            for entry in entries:
                known = sorted(self.documents.many(entry.replaced).values(), key=attrgetter("id"))
                restored += [note for note in known if note.inactive is InactiveReason.SUPERSEDED]
                self.journal.undo(entry.id, now)
            for note in restored:
                self.publisher.publish_again(note)
            document = self.documents.get(document_id)
            if entries and document is not None and CONSOLIDATED in document.tags:
                self.publisher.withdraw([document_id], InactiveReason.SUPERSEDED)
            self.acts.add(ActEntry(note.id, Act.RESTORE, by, now, why) for note in restored)
        return restored

    def _merge(self, group: Group, run: PhaseRun) -> None:
        """
        Write the document that replaces *group*, with its text and all occasions.

        Not if a member changed or the document was forgotten.
        """
        figures = {} if group.score is None else {"score": group.score}
        if run.dry_run:
            run.decide(Verdict.MERGE, group.ids, group.why, **figures)
            return
        # The path is derived from the members alone, so that a forgotten document is not written again.
        names = "\0".join(sorted(member.document.path for member in group.members))
        name = sha256(names.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        documents = [member.document for member in group.members]
        path = f"{patterns.FOLDER}/{documents[0].authored_at[:10]}-{name}.md"
        with run.effect(self.transactions):
            notes = self.documents.many(group.ids).values()
            is_changed = any(note.inactive is not None for note in notes)
            if is_changed or is_forgotten(self.documents.at(COLLECTION, path)):
                why = "one of them changed in the meantime, or the merged note was forgotten"
                run.decide(Verdict.REFUSE, group.ids, why)
                return
            occasions = sorted(
                occasion
                for document in documents
                for occasion in patterns.occurrences_of(
                    document,
                    self.documents.body(document.id) or "",
                    [sighting.seen_at for sighting in self.captures.sightings(document.id)[1:]],
                )
            )
            shared = set.intersection(*(set(document.tags) for document in documents))
            listed = "\n".join(f"- {day}: {statement}" for day, statement in reversed(occasions))
            created = self.memories.write(
                path,
                title_of(group.text)[:TITLE_CHARS],
                f"# {group.text}\n\nIt was noted {len(occasions)} times:\n\n{listed}\n",
                documents[0].content_type,
                max(document.confidence for document in documents),
                max(documents[0].authored_at, occasions[-1].day),
                tags=(CONSOLIDATED, *sorted(tag for tag in shared if tag.startswith(("type:", "concept:")))),
                domain=documents[0].domain,
                sources=documents,
                origin=Origin.MODEL if group.why == BY_MODEL else Origin.USER,  # at most that of its sources
                project=group.members[0].project,
                is_local=group.members[0].is_local,
            )
            self.captures.count_as(created, len(occasions))
            # Its members keep their facts and causal relations, so that they are complete when they are served again.
            facts = [fact for number in group.ids for fact in self.triples.of_document(number)]
            self.triples.add([replace(fact, document_id=created) for fact in facts])
            kinds, inside = {RelationKind.CAUSAL}, {created, *group.ids}
            effects = self.relations.outbound(group.ids, kinds, limit=_MOST_RELATIONS)
            causes = self.relations.inbound(group.ids, kinds, limit=_MOST_RELATIONS)
            edges = [effect._replace(source=created) for effect in effects if effect.target not in inside]
            edges += [cause._replace(target=created) for cause in causes if cause.source not in inside]
            self.relations.put(edges)
            self.publisher.withdraw(group.ids, InactiveReason.SUPERSEDED)
            now = iso_utc(self.clock.now_ms())
            self.journal.replace(Replacement(created, tuple(group.ids), group.why, now))
            run.processed += len(group.members)
            run.decide(Verdict.MERGE, group.ids, group.why, **figures, made=created)

    def _contradict(
        self, selected: Sequence[Observation], known: Observations, grouped: Collection[int], run: PhaseRun
    ) -> None:
        """Relate each observation of *selected* with similar ones that contradict it; not with *grouped* ones."""
        pairs = {
            frozenset((observation.id, other.id)): sorted((observation, other), key=attrgetter("when"))
            for observation in selected
            for other in known.near(observation, without=grouped)
        }
        superseded, judged = set[int](), 0
        for older, newer in pairs.values():
            edges = self.relations.outbound([newer.id], {RelationKind.CONTRADICTS}, limit=_MOST_RELATIONS)
            if {newer.id, older.id} & superseded or any(edge.target == older.id for edge in edges):
                continue
            verdict = None
            if self.ask and judged < JUDGED:
                judged += 1
                prompt = patterns.judge_prompt(newer.statement.text, older.statement.text)
                verdict = contradiction_gate.read_verdict(run.ask(self.ask, patterns.VERDICT, prompt))
            conflict = contradiction_gate.contradiction(
                newer.statement.text, older.statement.text, verdict, least=self.least
            )
            if not conflict.contradictory:
                continue
            # An unverified text supersedes nothing.
            policy = self.policy if is_verified(newer.document.origin) else contradiction_gate.Policy.LINK
            superseded |= {older.id} if policy is contradiction_gate.Policy.SUPERSEDE else set()
            outcome = Verdict.SUPERSEDE if policy is contradiction_gate.Policy.SUPERSEDE else Verdict.LINK
            # A model's reasoning may quote the notes: it is stored with their relation, which is deleted with them.
            why = "a model says that they contradict each other" if verdict else conflict.reason
            if run.dry_run:
                run.decide(outcome, (newer.id, older.id), why, confidence=conflict.confidence)
                continue
            with run.effect(self.transactions):
                both = self.documents.many([newer.id, older.id]).values()
                if any(note.inactive is not None for note in both):
                    continue
                now, reasoning = iso_utc(self.clock.now_ms()), {"reasoning": conflict.reason}
                kind = RelationKind.CONTRADICTS
                edge = Relation(newer.id, older.id, kind, conflict.confidence, ORIGIN, now, reasoning)
                self.relations.put([edge])
                if policy is contradiction_gate.Policy.SUPERSEDE:
                    self.publisher.withdraw([older.id], InactiveReason.SUPERSEDED)
                    self.journal.replace(Replacement(newer.id, (older.id,), why, now))
                run.decide(outcome, (newer.id, older.id), why, confidence=conflict.confidence)


class _Grouping:
    """Finds groups of observations that may be merged, and records refusals."""

    def __init__(self, options: Consolidation, run: PhaseRun) -> None:
        self._options = options
        self._run = run
        # These pairs were merged and then restored by the user: never merge them again. Where the merged document was
        # forgotten instead, the other observations may be merged.
        undone = options.journal.replacements(undone=True)
        known = options.documents.many(entry.document_id for entry in undone)
        self._apart = {
            frozenset(pair)
            for entry in undone
            if (document := known.get(entry.document_id))
            and document.inactive is not InactiveReason.FORGOTTEN
            for pair in combinations(entry.replaced, 2)
        }
        self.groups: list[Group] = []
        self.members: set[int] = set()

    def by_model(self, selected: Sequence[Observation], ask: Ask) -> None:
        """Add the groups that a model finds among *selected*, asked in batches of `AT_ONCE`."""
        by_kind: dict[tuple[str, str, bool], list[Observation]] = {}
        for observation in selected:
            by_kind.setdefault(observation.kind, []).append(observation)
        every = (
            alike[at : at + AT_ONCE] for alike in by_kind.values() for at in range(0, len(alike), AT_ONCE)
        )
        for batch in every:
            if len(batch) < 2:
                continue
            prompt = patterns.prompt([observation.statement.text for observation in batch])
            answer = self._run.ask(ask, patterns.PATTERNS, prompt)
            for text, indices in patterns.read_patterns(answer, len(batch)):
                members = tuple(batch[number - 1] for number in sorted(indices))
                group = Group(text, members, BY_MODEL)
                reason = merge_gate.replacement_objection(
                    text, [observation.statement for observation in members]
                )
                if self.members.intersection(group.ids):
                    reason = "it is part of another group"
                elif any(frozenset(pair) in self._apart for pair in combinations(group.ids, 2)):
                    reason = APART
                if reason:
                    self._run.decide(Verdict.REFUSE, group.ids, reason, by="model")
                    continue
                self.groups.append(group)
                self.members.update(group.ids)

    def by_words(self, selected: Sequence[Observation], known: Observations) -> None:
        """
        Group each of *selected* with similar ones from *known*; any two members of a group pass the merge gate.

        A pair that may not be merged is recorded as a refusal.
        """
        normal, strict = self._options.normal, self._options.strict
        for observation in selected:
            if observation.id in self.members:
                continue
            members, lowest = [observation], 1.0
            for other in known.near(observation, without=self.members):
                scores = []
                for member in members:
                    ids = member.id, other.id
                    merge = merge_gate.decide_merge(
                        member.statement, other.statement, normal=normal, strict=strict
                    )
                    if reason := APART if frozenset(ids) in self._apart else merge.reason:
                        score, by, method = round(merge.score, 4), "words", merge.method.value
                        details = {"score": score, "threshold": merge.threshold, "method": method}
                        self._run.decide(Verdict.REFUSE, ids, reason, by=by, **details)
                        break
                    scores.append(merge.score)
                else:
                    members.append(other)
                    lowest = min(lowest, *scores)
            if len(members) > 1:
                members.sort(key=lambda member: member.when, reverse=True)
                text, score = members[0].statement.text, round(lowest, 4)
                self.groups.append(Group(text, tuple(members), "they say the same words", score))
                self.members.update(member.id for member in members)
