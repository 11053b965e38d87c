"""What a vault lets go: what models said long ago, and the relations of what was forgotten."""

from __future__ import annotations

import pytest
from wired import answers_by_purpose, publisher

from clawmem.adapters.memory.clock import START_MS, ManualClock
from clawmem.app.services.retrieval.answer import Answer
from clawmem.app.services.retrieval.receipts import ANSWERS_FORGOTTEN_AT_ONCE, Recalls, Retention
from clawmem.app.services.retrieval.work import Trace
from clawmem.contracts.samples import save
from clawmem.contracts.telemetry import recall
from clawmem.domain.documents.times import iso_utc
from clawmem.ports.knowledge import Relation, RelationKind
from clawmem.ports.records import InactiveReason
from clawmem.ports.vault import Vault

DAY_MS = 86_400_000


def ask(recalls: Recalls) -> int | None:
    return recalls.record(Answer("redis", (), Trace()), "query", 1.0, limit=10, receipt=lambda: b"receipt")


def left(vault: Vault) -> int:
    """How many answers of models are kept."""
    return sum(answers_by_purpose(vault).values())


# -- receipts, recalls and what models said --------------------------------------------------------------------------------------


def test_old_things_go(vault: Vault) -> None:
    """Receipts go before their recalls, answers with them; what is as old as it may get stays until the day is over."""
    clock = ManualClock()
    keep = Retention(recall_days=4, receipt_days=2)
    recalls = Recalls(vault.telemetry, clock, vault.receipts, answers=vault.answers, retention=keep)
    for day in range(1, 7):
        at = iso_utc(START_MS - day * DAY_MS)
        vault.telemetry.record(recall(at), b"old")
        vault.answers.keep("tiny", "rerank", {f"{day} days": "0.5"}, at=at)

    ask(recalls)

    assert (vault.telemetry.count(), vault.receipts.counts().stored, left(vault)) == (4 + 1, 2 + 1, 4)
    assert vault.answers.get("tiny", "rerank", "4 days") == "0.5"
    clock.advance(DAY_MS)
    ask(recalls)
    assert (vault.telemetry.count(), vault.receipts.counts().stored, left(vault)) == (3 + 2, 1 + 2, 3)


def test_a_question_never_pays_for_years(vault: Vault) -> None:
    """However much is old, one question lets go a bounded part of it, the oldest first."""
    many = ANSWERS_FORGOTTEN_AT_ONCE + 3
    old = {f"question {n}": "0.5" for n in range(many)}
    vault.answers.keep("tiny", "rerank", old, at=iso_utc(START_MS - 1000 * DAY_MS))
    recalls = Recalls(vault.telemetry, ManualClock(), answers=vault.answers)

    remaining = []
    for _ in range(3):
        ask(recalls)
        remaining.append(left(vault))

    assert remaining == [3, 0, 0]


# -- relations ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reason", list(InactiveReason))
def test_relations_of_what_was_forgotten(vault: Vault, reason: InactiveReason) -> None:
    """A document that was forgotten loses its relations in both directions; one that is away keeps them."""
    one, two, three = (save(vault, f"{name}.md") for name in "abc")
    pairs = ((one, two), (two, three), (one, three))
    vault.relations.put(Relation(*pair, RelationKind.CAUSAL, 0.8, "hand") for pair in pairs)

    with vault.transactions.writing():
        assert publisher(vault).withdraw([two], reason) == 1

    assert vault.relations.counts() == {RelationKind.CAUSAL: 1}
    if reason is not InactiveReason.FORGOTTEN:
        save(vault, "b.md")
        assert vault.relations.counts() == {RelationKind.CAUSAL: 3}


def test_forgetting_can_be_taken_back(vault: Vault) -> None:
    """What fails in the middle forgets nothing."""
    one, two = (save(vault, f"{name}.md") for name in "ab")
    vault.relations.put([Relation(one, two, RelationKind.CAUSAL, 0.8, "hand")])

    with pytest.raises(ZeroDivisionError), vault.transactions.writing():
        publisher(vault).withdraw([two], InactiveReason.FORGOTTEN)
        raise ZeroDivisionError

    assert vault.relations.counts() == {RelationKind.CAUSAL: 1}
