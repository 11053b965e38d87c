"""Questions to real vaults, whose best candidates are compared with the question word by word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from compared_vault import OPENED, asked, filled
from notes_vault import paths
from vault_stores import retrieval_stores

from clawmem.adapters.memory.models import HashingEmbedder
from clawmem.adapters.models.local import StaticWords
from clawmem.app.services.retrieval.answer import Answer
from clawmem.app.services.retrieval.models import LATE_INTERACTION
from clawmem.app.services.retrieval.pipelines import query
from clawmem.app.services.retrieval.request import Unit
from clawmem.domain.retrieval.grains import BEST_LINE, COVERAGE
from clawmem.ports.errors import EmbeddingError
from clawmem.ports.models import LateInteraction, WordSimilarities
from clawmem.ports.vault import Vault


def shown(answer: Answer) -> list[tuple[str, int]]:
    """Where the answers begin."""
    return [(result.document.path, result.start_line) for result in answer.results]


@pytest.fixture(scope="module")
def late() -> StaticWords:
    return StaticWords()


class TestLines:
    CHAT = (
        "- Ann: Ann likes walks in the rain.\n"
        "- Bob: It may be windy.\n"
        "- Bob: Let us see.\n"
        "- Bob: Let us wait.\n"
        "- Ann: Ann bought a car from the dealer.\n"
    )

    def test_a_synonym_lifts_a_line(self, vault: Vault, late: StaticWords) -> None:
        """Of two lines with the same one word of the question the one that means the rest of it is first."""
        filled(vault, {"chat.md": self.CHAT})
        request = asked("which automobile did Ann purchase", unit=Unit.LINE)

        without = query(retrieval_stores(vault), HashingEmbedder())(request)
        compared = query(retrieval_stores(vault), HashingEmbedder(), late)(request)

        assert shown(without)[0] == ("chat.md", 1)
        assert shown(compared)[0] == ("chat.md", 5)
        assert sorted(shown(compared)) == sorted(shown(without))
        assert compared.results[0].legs[COVERAGE] == 1.0


class TestDocuments:
    def test_the_best_line_is_shown(self, vault: Vault, late: StaticWords) -> None:
        """A document is shown at the line that covers the question, not where its first word stands."""
        text = (
            f"# Garage\n\nAnn and the rain.\n\nA {'high ' * 40}wall.\n\nA door.\n\nA {'flat ' * 40}roof.\n\n"
            "Ann bought a car from the dealer.\n\nA window.\n"
        )
        filled(vault, {"garage.md": text})
        request = asked("which automobile did Ann purchase")

        assert shown(query(retrieval_stores(vault), HashingEmbedder())(request)) == [("garage.md", 3)]
        assert shown(query(retrieval_stores(vault), HashingEmbedder(), late)(request)) == [("garage.md", 11)]

    def test_a_synonym_lifts_a_document(self, vault: Vault, late: StaticWords) -> None:
        """A document counts by its best line, and that by what its words mean."""
        filled(
            vault,
            {
                "a.md": "# One\n\nAnn admired a stone on the wall.\n\nOf the rain.\n",
                "b.md": "# Two\n\nAnn bought a car from the dealer.\n\nOf the sun.\n",
            },
        )
        request = asked("which automobile did Ann purchase")

        compared = query(retrieval_stores(vault), HashingEmbedder(), late)(request)

        assert paths(compared) == ["b.md", "a.md"]
        assert compared.results[0].legs[BEST_LINE] == 1.0
        assert paths(query(retrieval_stores(vault), HashingEmbedder())(request)) == ["a.md", "b.md"]


class Broken:
    """Late interaction that fails."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def compare(self, words: Sequence[str], texts: Sequence[Sequence[str]]) -> WordSimilarities:
        raise self._error


class Mixed:
    """Late interaction that answers for another number of texts."""

    def compare(self, words: Sequence[str], texts: Sequence[Sequence[str]]) -> WordSimilarities:
        return WordSimilarities((1.0,), ((1.0,),) * (len(texts) + 1))


@pytest.mark.parametrize("unit", list(Unit))
@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (Broken(EmbeddingError("The vectors cannot be loaded.")), "The vectors cannot be loaded."),
        (Broken(ZeroDivisionError()), "ZeroDivisionError"),
        (Mixed(), "ValueError"),
    ],
)
def test_a_comparison_that_fails(vault: Vault, unit: Unit, broken: LateInteraction, reason: str) -> None:
    """The answer is the one without it, and says what was missing."""
    filled(vault, {"kettle.md": "# Kettle\n\nThe kettle whistles.\n", "cup.md": "# Cup\n\nNo whistle.\n"})
    request = asked("does the kettle whistle", unit=unit)

    answer = query(retrieval_stores(vault), HashingEmbedder(), broken)(request)

    assert answer.results == query(retrieval_stores(vault), HashingEmbedder())(request).results != ()
    assert answer.trace.degraded.keys() == {LATE_INTERACTION}
    assert reason in answer.trace.degraded[LATE_INTERACTION]


@pytest.fixture(scope="module", autouse=True)
def opened_vaults() -> Iterator[None]:
    """Those of `some_vault` are closed at the end."""
    yield
    OPENED.close()
