"""Observations that say the same become one document, which can be taken apart again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from itertools import combinations
from typing import Any, NamedTuple

from clawmem.app.services.capture.memories import Memories
from clawmem.app.services.indexing.publish import publish, withdraw
from clawmem.domain.capture.notes import COLLECTION
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.knowledge.llm_answer import json_answer
from clawmem.domain.maintenance import patterns
from clawmem.domain.maintenance.contradiction_gate import Contradiction, Policy, contradiction, read_verdict
from clawmem.domain.maintenance.merge_gate import Said, is_candidate, may_merge, may_stand_for
from clawmem.ports.acts import Act, Entry
from clawmem.ports.clock import Clock
from clawmem.ports.errors import ModelError
from clawmem.ports.generator import Generator, JsonSchema
from clawmem.ports.journal import Replacement
from clawmem.ports.records import Document, InactiveReason
from clawmem.ports.relations import Relation, RelationKind
from clawmem.ports.vault import Vault

ORIGIN = "consolidation"
AT_ONCE = 20  # observations that a model is shown
JUDGED = 10  # pairs that a model is asked about in one run
TIMEOUT_S = 60.0
_NAME_CHARS = 12
_MOST_RELATIONS = 1000

Fence = Callable[[], None]


class Observation(NamedTuple):
    """A document and what it states."""

    document: Document
    said: Said

    @property
    def id(self) -> int:
        """The document's."""
        return self.document.id


class Group(NamedTuple):
    """Observations that say *text*, the newest first, and by whose word they do."""

    text: str
    members: tuple[Observation, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Consolidated:
    """
    What one run found and did; in a dry run *groups* would have become one each, and nothing was changed.

    ``created`` are the documents that stand for groups now, ``rejected`` counts by reason what looked the same and
    is not, ``contradictions`` counts pairs that contradict each other and were not known to.
    """

    considered: int = 0
    groups: tuple[Group, ...] = ()
    created: tuple[int, ...] = ()
    rejected: Counter[str] = field(default_factory=Counter)
    contradictions: int = 0
    null_calls: int = 0


class Consolidation:
    """
    Merges repeated observations, as far as the gates allow it.

    Args:
        generator: Finds the same thing said in other words, and says what contradicts what; without one only what
            is said in nearly the same words is merged.
        policy: What becomes of the earlier of two that contradict each other.
    """

    def __init__(
        self, vault: Vault, clock: Clock, generator: Generator | None = None, *, policy: Policy = Policy.LINK
    ) -> None:
        self._vault = vault
        self._clock = clock
        self._memories = Memories(vault, clock)
        self._generator = generator
        self._policy = policy

    def __call__(
        self, documents: Sequence[Document], *, dry_run: bool, fence: Fence = lambda: None
    ) -> Consolidated:
        """
        Merge among *documents*, which are served observations.

        Args:
            fence: Called in the transaction of each effect, and before each question to a model; what it raises
                leaves that effect undone, and this raises it.

        Raises:
            VaultError: what was merged before it stays merged.
        """
        every = [self._observation(one) for one in documents if _is_free(one)]
        every.sort(key=lambda one: (one.document.authored_at, one.id), reverse=True)
        rejected: Counter[str] = Counter()
        by_model, null_calls = self._by_model(every, rejected, fence)
        taken = {one.id for group in by_model for one in group.members}
        groups = [*by_model, *self._by_words([one for one in every if one.id not in taken], rejected)]
        grouped = {one.id for group in groups for one in group.members}
        rest = [one for one in every if one.id not in grouped]
        created = [] if dry_run else [self._merge(group, fence) for group in groups]
        contradictions = self._contradictions(rest, dry_run, fence)
        return Consolidated(
            len(every),
            tuple(groups),
            tuple(filter(None, created)),
            rejected,
            contradictions,
            null_calls,
        )

    def restore(self, document_id: int, by: str, why: str = "") -> list[Document]:
        """
        Serve again what *document_id* was put in the place of; those documents. It is not served itself any more
        if it stood for them all, and they are not merged with each other again.

        Raises:
            VaultError: nothing was changed.
        """
        held = [
            one for one in self._vault.journal.replacements(document_id) if one.document_id == document_id
        ]
        restored = []
        with self._vault.writing():
            for replacement in held:
                restored += self._brought_back(replacement)
                self._vault.journal.undo(replacement.id, self._now())
            document = self._vault.documents.get(document_id)
            if held and document is not None and patterns.CONSOLIDATED in document.tags:
                withdraw(self._vault, [document_id], InactiveReason.SUPERSEDED)
            self._vault.acts.add(Entry(one.id, Act.RESTORE, by, self._now(), why) for one in restored)
        return restored

    def _observation(self, document: Document) -> Observation:
        text = patterns.stated(document, self._vault.documents.body(document.id) or "")
        entities = frozenset(one.id for one in self._vault.entities.mentions(document.id))
        return Observation(document, Said(text, entities))

    def _by_model(
        self, every: Sequence[Observation], rejected: Counter[str], fence: Fence
    ) -> tuple[list[Group], int]:
        groups: list[Group] = []
        taken: set[int] = set()
        null_calls, apart = 0, self._apart()
        for shown in _batches(every, AT_ONCE) if self._generator else ():
            fence()
            found = self._patterns(shown)
            null_calls += found is None
            for pattern in found or ():
                members = tuple(shown[number - 1] for number in sorted(pattern.source_indices))
                reason = _refused(members, taken, apart) or may_stand_for(
                    pattern.observation, [one.said for one in members]
                )
                if reason:
                    rejected[reason] += 1
                else:
                    taken |= {one.id for one in members}
                    groups.append(Group(pattern.observation, members, "a model says that they say the same"))
        return groups, null_calls

    def _by_words(self, every: Sequence[Observation], rejected: Counter[str]) -> list[Group]:
        """Each joins the first group with whose every member it may be merged."""
        groups: list[list[Observation]] = []
        apart = self._apart()
        for one in every:
            joined = next((g for g in groups if all(_same(one, m, apart, rejected) for m in g)), None)
            if joined is None:
                groups.append([one])
            else:
                joined.append(one)
        return [Group(g[0].said.text, tuple(g), "they say the same words") for g in groups if len(g) > 1]

    def _merge(self, group: Group, fence: Fence) -> int:
        """The document that stands for a group from now on; 0 when that is not wanted or not possible any more."""
        ids = [one.id for one in group.members]
        with self._vault.writing():
            fence()
            served = self._vault.documents.many(ids).values()
            if any(one.inactive is not None for one in served) or self._is_forgotten(group):
                return 0
            created = self._write(group)
            withdraw(self._vault, ids, InactiveReason.SUPERSEDED)
            self._vault.journal.replace(Replacement(created, tuple(ids), group.why, self._now()))
        return created

    def _write(self, group: Group) -> int:
        newest = group.members[0].document
        bodies = ((one.document, self._vault.documents.body(one.id) or "") for one in group.members)
        occasions = [occasion for document, body in bodies for occasion in patterns.noted(document, body)]
        return self._memories.write(
            _path(group),
            patterns.consolidated_title(group.text),
            patterns.consolidated_body(group.text, occasions),
            newest.content_type,
            max(one.document.confidence for one in group.members),
            newest.authored_at,
            tags=_tags(group),
            domain=newest.domain,
        )

    def _is_forgotten(self, group: Group) -> bool:
        there = self._vault.documents.at(COLLECTION, _path(group))
        return there is not None and there.inactive is InactiveReason.FORGOTTEN

    def _contradictions(self, every: Sequence[Observation], dry_run: bool, fence: Fence) -> int:
        found, left = 0, JUDGED
        for newer, older in combinations(every, 2):
            if not is_candidate(newer.said.text, older.said.text) or self._is_known(newer, older):
                continue
            asked = self._generator is not None and left > 0
            left -= asked
            verdict = self._verdict(newer, older, fence) if asked else None
            told = contradiction(newer.said.text, older.said.text, verdict)
            found += told.contradictory
            if told.contradictory and not dry_run:
                self._settle(newer, older, told, fence)
        return found

    def _settle(self, newer: Observation, older: Observation, told: Contradiction, fence: Fence) -> None:
        at = self._now()
        edge = Relation(
            newer.id,
            older.id,
            RelationKind.CONTRADICTS,
            told.confidence,
            ORIGIN,
            at,
            {"reasoning": told.reason},
        )
        with self._vault.writing():
            fence()
            self._vault.relations.put([edge])
            if self._policy is Policy.SUPERSEDE and withdraw(
                self._vault, [older.id], InactiveReason.SUPERSEDED
            ):
                self._vault.journal.replace(Replacement(newer.id, (older.id,), told.reason, at))

    def _is_known(self, newer: Observation, older: Observation) -> bool:
        edges = self._vault.relations.outbound([newer.id], {RelationKind.CONTRADICTS}, limit=_MOST_RELATIONS)
        return any(edge.target == older.id for edge in edges)

    def _patterns(self, shown: Sequence[Observation]) -> list[patterns.Pattern] | None:
        texts = [one.said.text for one in shown]
        answer = self._asked(
            patterns.prompt(texts), patterns.PATTERNS, patterns.MAX_TOKENS, patterns.TEMPERATURE
        )
        return patterns.read_patterns(answer, len(shown))

    def _verdict(self, newer: Observation, older: Observation, fence: Fence) -> Contradiction | None:
        fence()
        question = patterns.judge_prompt(newer.said.text, older.said.text)
        return read_verdict(
            self._asked(question, patterns.VERDICT, patterns.JUDGE_TOKENS, patterns.JUDGE_TEMPERATURE)
        )

    def _asked(self, question: str, schema: JsonSchema, max_tokens: int, temperature: float) -> Any:
        """A model's answer; ``None`` when there is none that can be used."""
        assert self._generator is not None, "asked only where there is one"
        ask = partial(
            self._generator.generate,
            timeout_s=TIMEOUT_S,
            max_tokens=max_tokens,
            temperature=temperature,
            schema=schema,
        )
        try:
            return json_answer(ask, question, schema)
        except ModelError:
            return None

    def _brought_back(self, replacement: Replacement) -> list[Document]:
        found = self._vault.documents.many(replacement.replaced).values()
        back = sorted(
            (one for one in found if one.inactive is InactiveReason.SUPERSEDED), key=lambda one: one.id
        )
        for document in back:
            body = self._vault.documents.body(document.id) or ""
            publish(self._vault, document, body, self._vault.documents.fragments(document.id), claims=None)
        return back

    def _apart(self) -> frozenset[frozenset[int]]:
        """Pairs that were merged once and taken apart: somebody knows better."""
        undone = self._vault.journal.replacements(undone=True)
        return frozenset(frozenset(pair) for one in undone for pair in combinations(one.replaced, 2))

    def _now(self) -> str:
        return iso_utc(self._clock.now_ms())


def _is_free(document: Document) -> bool:
    """Whether it is an observation that nobody looks after: what was pinned or snoozed is somebody's own matter."""
    return patterns.is_observation(document) and not (document.is_pinned or document.snoozed_until)


def _same(
    one: Observation, other: Observation, apart: Collection[frozenset[int]], rejected: Counter[str]
) -> bool:
    if not is_candidate(one.said.text, other.said.text) or frozenset((one.id, other.id)) in apart:
        return False
    merge = may_merge(one.said, other.said)
    if not merge.accepted:
        rejected[merge.reason] += 1
    return merge.accepted


def _refused(members: Sequence[Observation], taken: set[int], apart: Collection[frozenset[int]]) -> str:
    if any(one.id in taken for one in members):
        return "it is part of another group"
    pairs = (frozenset((one.id, other.id)) for one, other in combinations(members, 2))
    return "they were taken apart" if any(pair in apart for pair in pairs) else ""


def _batches(every: Sequence[Observation], size: int) -> Iterator[Sequence[Observation]]:
    starts = range(0, len(every), size)
    return (batch for batch in (every[start : start + size] for start in starts) if len(batch) > 1)


def _path(group: Group) -> str:
    """The same for the same members, so that what was forgotten is not written again."""
    names = "\0".join(sorted(one.document.path for one in group.members))
    name = sha256(names.encode("utf-8", "surrogatepass")).hexdigest()[:_NAME_CHARS]
    return patterns.consolidated_path(group.members[0].document.authored_at[:10], name)


def _tags(group: Group) -> tuple[str, ...]:
    shared: Iterable[str] = set.intersection(*(set(one.document.tags) for one in group.members))
    kept = sorted(tag for tag in shared if tag.startswith(("type:", "concept:")))
    return (patterns.CONSOLIDATED, *kept)
