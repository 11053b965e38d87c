"""Silence: over a real vault and the default vectors, what nothing answers is told from what something does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from vault_stores import one_way_in, ways_to_ask
from wired import embed_pending, update_collection

from clawmem.adapters.files.disk import DiskFiles
from clawmem.adapters.files.front_matter import parse_front_matter
from clawmem.adapters.memory.clock import START_MS, ManualClock
from clawmem.adapters.models.local import StaticEmbedder
from clawmem.adapters.sqlite.vault import open_vault
from clawmem.app.services.indexing.folders import Folder
from clawmem.app.services.retrieval.answer import Answer
from clawmem.app.services.retrieval.request import read_request
from clawmem.domain.retrieval.planning import Route
from clawmem.domain.retrieval.relevance import DEFAULT_FLOOR
from clawmem.ports.errors import InvalidInput
from clawmem.ports.vault import Vault

BOAT = Path(__file__).parents[1] / "data" / "ownervault" / "boat"
KNOWN = "Where is the mooring on the Zuidlaardermeer?"
UNKNOWN = ("who painted the Isenheim altarpiece", "flurb the wenkish grobbles until they snood")


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vault]:
    """A few notes on one subject, with vectors."""
    opened = open_vault(str(tmp_path_factory.mktemp("judge") / "vault.db"))
    update_collection(opened, DiskFiles(), ManualClock(), parse_front_matter)(Folder("boat", str(BOAT)))
    embed_pending(opened, StaticEmbedder())()
    yield opened
    opened.close()


def ask(vault: Vault, question: str, *, verb: str = "query", floor: float = 0.0) -> Answer:
    return ways_to_ask(vault, StaticEmbedder())[verb](read_request(question, now_ms=START_MS, floor=floor))


@pytest.mark.parametrize("verb", ["search", "query"])
@pytest.mark.parametrize("question", UNKNOWN)
def test_what_is_unknown_is_met_with_silence(vault: Vault, verb: str, question: str) -> None:
    """Below the floor the answer is empty, and the trace says how likely it was."""
    found = ask(vault, question, verb=verb, floor=DEFAULT_FLOOR)

    assert found.results == ()
    notes = [note for stage in found.trace.stages for note in stage.notes]
    if found.answered is not None:
        assert found.answered < DEFAULT_FLOOR
        assert f"nothing here answers: {found.answered:.2f}, floor {DEFAULT_FLOOR:.2f}" in notes


def test_by_meaning_alone_nothing_is_judged(vault: Vault) -> None:
    """A floor that would not be kept is refused, with the way out; without one there is no confidence."""
    with pytest.raises(InvalidInput, match="Ask with query"):
        ask(vault, KNOWN, verb="vsearch", floor=DEFAULT_FLOOR)

    found = ask(vault, KNOWN, verb="vsearch")
    assert found.results and found.answered is None
    assert all(one.confidence is None for one in found.results)


@pytest.mark.parametrize("mode", [Route.SEMANTIC, Route.HYBRID, Route.CAUSAL, Route.COMPLEX, Route.KEYWORD])
def test_one_way_in_keeps_to_the_floor(vault: Vault, mode: Route) -> None:
    """Whichever way a question takes, it says how likely it is answered, and is silent below the floor."""
    retrieve = one_way_in(vault, ways_to_ask(vault, StaticEmbedder()))

    def found(question: str) -> Answer:
        return retrieve(read_request(question, now_ms=START_MS, floor=DEFAULT_FLOOR), mode)

    known, unknown = found(KNOWN), found(UNKNOWN[0])
    assert known.results and (known.answered or 0) >= DEFAULT_FLOOR
    assert unknown.results == () and (unknown.answered or 0) < DEFAULT_FLOOR
