"""The stage that scores, with a vault that is nearly all in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hypothesis import example, given
from hypothesis import strategies as st

from clawmem.adapters.memory.vault import MemoryVault
from clawmem.app.services.retrieval.request import Ranking, RetrievalRequest, read_request
from clawmem.app.services.retrieval.stages.score import asked_for, score, scored_whole
from clawmem.app.services.retrieval.stages.successors_first import successors_first
from clawmem.app.services.retrieval.trace import StageTrace, Trace
from clawmem.app.services.retrieval.work import Candidate, Work
from clawmem.contracts.samples import T0, document
from clawmem.ports.records import FragmentKey, InactiveReason
from clawmem.ports.succession import Claims

DAYS = ("2023-11-14T00:00:00.000Z", "2023-06-01T00:00:00.000Z", "2019-01-01T00:00:00.000Z")


class Note(NamedTuple):
    """What is known of a document, and how well it matches."""

    relevance: float
    confidence: float
    authored_at: str
    pinned: bool
    is_served: bool


NOTES = st.lists(
    st.builds(
        Note,
        relevance=st.sampled_from([0.1, 0.3, 0.5, 0.55, 0.6, 0.64, 0.66, 0.9]) | st.floats(0, 1),
        confidence=st.sampled_from([0.0, 0.5, 1.0]),
        authored_at=st.sampled_from(DAYS),
        pinned=st.booleans(),
        is_served=st.booleans() | st.just(True),
    ),
    min_size=1,
    max_size=30,
)
QUESTIONS = ("plums", "the latest on plums", "what is the current state of plums")


def found(notes: Sequence[Note]) -> tuple[MemoryVault, Work]:
    """A vault with these, and the candidates in the order in which a leg would have found them."""
    vault = MemoryVault()
    candidates = []
    for number, note in enumerate(notes):
        made = document(f"{number}.md", f"plums {number}")
        saved = vault.documents.save(
            made._replace(confidence=note.confidence, authored_at=note.authored_at), f"plums {number}", []
        )
        vault.documents.pin(saved, note.pinned)
        if not note.is_served:
            vault.documents.deactivate([saved], InactiveReason.REMOVED)
        candidates.append(Candidate(saved, FragmentKey(saved, 0), note.relevance, note.relevance))
    ranked = sorted(candidates, key=lambda c: (-c.relevance, c.best))
    return vault, Work(candidates=tuple(ranked))


def asked(question: str, limit: int, ranking: Ranking = Ranking.CALIBRATED) -> RetrievalRequest:
    """A request for so many answers."""
    return read_request(question, now_ms=T0, limit=limit, ranking=ranking)


def running() -> Trace:
    """The trace of a stage that is at work."""
    return Trace([StageTrace("score", 0, 0, 0.0)])


@given(NOTES, st.integers(1, 12), st.sampled_from(QUESTIONS), st.sampled_from(Ranking))
@example(
    [Note(0.5 + n / 100, 0.0, DAYS[2], False, n % 2 == 0) for n in range(30)], 3, "plums", Ranking.CALIBRATED
)
def test_the_first_are_the_same(notes: list[Note], limit: int, question: str, ranking: Ranking) -> None:
    """Whoever is not looked up could not have come among the first, whatever is known of him."""
    vault, work = found(notes)
    request = asked(question, limit, ranking)

    every = score(vault)(request, work, running())
    few = score(vault, asked_for)(request, work, running())

    assert few.candidates[:limit] == every.candidates[:limit]
    assert scored_whole(vault, request, few, running()).candidates == every.candidates


def test_the_others_are_not_looked_up() -> None:
    """Of a hundred of which three are asked for only those that lie near the third."""
    vault, work = found([Note(n / 100, 0.5, DAYS[0], False, True) for n in range(100)])
    trace = running()

    scored = score(vault, asked_for)(asked("plums", 3), work, trace)

    assert len(scored.candidates) < 12
    assert len(scored.candidates) + len(scored.beyond) == 100
    assert trace.stages[0].dropped == {"cannot come among the first": len(scored.beyond)}
    assert all(one.document is None for one in scored.beyond)


def test_what_holds_now_is_brought_from_beyond() -> None:
    """A successor that was found deep in the list stands where it would stand if everybody had been looked up."""
    vault, work = found([Note(1 - n / 50, 0.5, DAYS[0], False, True) for n in range(40)])
    deep = work.candidates[-1]
    vault.successions.claim(deep.document_id, Claims(supersedes=("0.md",)))
    request = asked("plums", 3)

    first = successors_first(vault)(request, score(vault, asked_for)(request, work, running()), running())
    every = successors_first(vault)(request, score(vault)(request, work, running()), running())

    assert first.candidates[:3] == every.candidates[:3]
    assert first.candidates[0].best == deep.best
