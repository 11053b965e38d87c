"""Conclusions that several memories allow and none of them says: drafted by a model, kept where they hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import Any, NamedTuple

from clawmem.app.services.capture.memories import Memories
from clawmem.domain.capture.notes import COLLECTION
from clawmem.domain.documents.times import iso_utc
from clawmem.domain.knowledge.llm_answer import json_answer
from clawmem.domain.maintenance import deduction
from clawmem.domain.maintenance.deduction import Candidate, Draft, Stats
from clawmem.ports.clock import Clock
from clawmem.ports.errors import ModelError
from clawmem.ports.generator import Generator, JsonSchema
from clawmem.ports.records import Document, InactiveReason, Scope
from clawmem.ports.relations import Relation, RelationKind
from clawmem.ports.vault import Vault

ORIGIN = "deduction"
TYPE = "deductive"
FOLDER = "deductions"
RECENT_MS = 7 * 86_400_000
MOST = 40
TITLES = 20
TIMEOUT_S = 60.0
_SHOWN = 600  # characters of each memory
_NAME_CHARS = 12


class _Pool(NamedTuple):
    """What conclusions are drawn from, and under which titles some were before."""

    candidates: list[Candidate]
    titles: list[str]


class Synthesis:
    """Draws conclusions from the decisions, preferences, milestones and problems of the last week."""

    def __init__(self, vault: Vault, clock: Clock, generator: Generator, *, most: int = MOST) -> None:
        self._vault = vault
        self._clock = clock
        self._memories = Memories(vault, clock)
        self._generator = generator
        self._most = most

    def __call__(self, *, fence: Callable[[], None] = lambda: None) -> Stats:
        """
        Draft, judge and keep conclusions; what became of them.

        Args:
            fence: Called before each question and in the transaction of each effect; what it raises, this raises.

        Raises:
            VaultError: what was kept before it stays.
        """
        pool = self._pool()
        stats = Stats(considered=len(pool.candidates))
        if len(pool.candidates) < deduction.LEAST_SOURCES:
            return stats
        fence()
        drafts = deduction.read_drafts(
            self._asked(
                deduction.draft_prompt([one.text[:_SHOWN] for one in pool.candidates]), deduction.DRAFTS
            )
        )
        if drafts is None:
            return stats.plus("nullCalls")
        stats = replace(stats, drafted=len(drafts))
        for draft in drafts:
            stats = self._settled(draft, pool, stats, fence)
        return stats

    def _settled(self, draft: Draft, pool: _Pool, stats: Stats, fence: Callable[[], None]) -> Stats:
        answer = None
        if deduction.fault(draft, pool.candidates) is None:
            fence()
            said = deduction.evidence(draft.conclusion, deduction.sources(draft, pool.candidates))
            answer = self._asked(deduction.judge_prompt(draft, said), deduction.JUDGE)
        kept, stats = deduction.judged(draft, pool.candidates, answer, stats)
        if not kept:
            return stats
        if deduction.is_known(draft.conclusion, pool.titles):
            return stats.plus(deduction.Rejected.KNOWN)
        pool.titles.append(draft.conclusion)
        return stats.plus("created") if self._save(draft, pool, fence) else stats

    def _save(self, draft: Draft, pool: _Pool, fence: Callable[[], None]) -> bool:
        cited, now = deduction.sources(draft, pool.candidates), iso_utc(self._clock.now_ms())
        ids = sorted(one.document_id for one in cited)
        name = sha256(draft.conclusion.encode("utf-8", "surrogatepass")).hexdigest()[:_NAME_CHARS]
        path = f"{FOLDER}/{now[:10]}-{'-'.join(map(str, ids))}-{name}.md"
        with self._vault.writing():
            fence()
            there = self._vault.documents.at(COLLECTION, path)
            if there is not None and there.inactive is InactiveReason.FORGOTTEN:
                return False
            paths = [one.display_path for one in self._vault.documents.many(ids).values()]
            body = deduction.body(draft, sorted(paths))
            title = deduction.title(draft)
            made = self._memories.write(path, title, body, TYPE, deduction.CONFIDENCE, now, tags=(TYPE,))
            edges = [
                Relation(one, made, RelationKind.SUPPORTING, deduction.CONFIDENCE, ORIGIN, now) for one in ids
            ]
            self._vault.relations.put(edges)
        return True

    def _pool(self) -> _Pool:
        earlier = self._vault.documents.latest(Scope(frozenset({COLLECTION})))
        since = iso_utc(self._clock.now_ms() - RECENT_MS)
        drawn = [one for one in earlier if one.content_type == TYPE]
        used = self._used([one.id for one in drawn])
        recent = [
            one
            for one in earlier
            if one.content_type in deduction.TYPES and one.modified_at >= since and one.id not in used
        ]
        return _Pool(
            [self._candidate(one) for one in recent[: self._most]], [one.title for one in drawn[:TITLES]]
        )

    def _used(self, drawn: Sequence[int]) -> set[int]:
        kinds = {RelationKind.SUPPORTING}
        edges = self._vault.relations.inbound(drawn, kinds, limit=1000) if drawn else []
        return {edge.source for edge in edges if edge.origin == ORIGIN}

    def _candidate(self, document: Document) -> Candidate:
        names = frozenset(one.name for one in self._vault.entities.mentions(document.id))
        return Candidate(document.id, self._vault.documents.body(document.id) or "", names)

    def _asked(self, question: str, asked: deduction.Asked) -> Any:
        """A model's answer; ``None`` when there is none that can be used."""
        schema: JsonSchema = asked.schema
        ask = partial(
            self._generator.generate,
            timeout_s=TIMEOUT_S,
            max_tokens=asked.max_tokens,
            temperature=asked.temperature,
            schema=schema,
        )
        try:
            return json_answer(ask, question, schema)
        except ModelError:
            return None
