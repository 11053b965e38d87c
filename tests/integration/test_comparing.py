"""Questions to real vaults, whose best candidates are compared with the question word by word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from compared_vault import OPENED, asked, filled
from notes_vault import paths
from vault_stores import retrieval_stores

from clawmem.adapters.memory.models import HashingEmbedder
from clawmem.adapters.models.static import StaticWords
from clawmem.app.services.retrieval.answer import Answer
from clawmem.app.services.retrieval.compare import DOCUMENTS, LINES, compare
from clawmem.app.services.retrieval.fuse import fuse
from clawmem.app.services.retrieval.models import LATE_INTERACTION
from clawmem.app.services.retrieval.pipeline import Pipeline
from clawmem.app.services.retrieval.pipelines import query
from clawmem.app.services.retrieval.request import Unit
from clawmem.app.services.retrieval.retrievers import lexical_retriever
from clawmem.app.services.retrieval.scheduling import RunRetrievers
from clawmem.app.services.retrieval.work import Stage
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
            "# Garage\n\nAnn and the rain.\n\nA wall.\n\nA door.\n\nA roof.\n\n"
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

    def test_names_stay_first(self, vault: Vault, late: StaticWords) -> None:
        """A note with every word of a name is above all others also after the comparison."""
        texts = {f"{n}.md": f"# Vessel {n}\n\nThe amber ship lay in port {n}.\n" for n in range(6)}
        texts["both.md"] = f"# Beach\n\nSeals in the harbour.\n\n{'A stone.' * 50}\n\nOnce, amber.\n"
        filled(vault, texts)

        answer = query(retrieval_stores(vault), HashingEmbedder(), late)(asked("amber harbour"))

        assert paths(answer)[0] == "both.md"
        assert [result.legs.get("precise") for result in answer.results] == [1.0, *[None] * 6]


class TestWhatWasNotRead:
    @pytest.mark.parametrize(("unit", "read"), [(Unit.DOCUMENT, DOCUMENTS), (Unit.LINE, LINES)])
    def test_it_follows_in_its_order(self, vault: Vault, late: StaticWords, unit: Unit, read: int) -> None:
        """Those that were read stay above those that were not, which keep the order that they had."""
        kinds = ("kettle", "whistle", "steam", "spout")
        filled(
            vault,
            {
                f"{n:02d}.md": " ".join(kind for bit, kind in enumerate(kinds) if (n + 1) >> bit & 1)
                + f" and {'filler ' * (n % 23)} kettle of note {n}.\n"
                for n in range(90)
            },
        )
        request = asked("does the kettle whistle or steam", unit=unit)
        stages: dict[str, Stage] = {
            "search": RunRetrievers({"lexical": lexical_retriever(vault.lexical)}),
            "fuse": fuse,
        }

        before, _ = Pipeline(retrieval_stores(vault), stages).rank(request)
        after, _ = Pipeline(
            retrieval_stores(vault),
            {
                **stages,
                "compare": compare(retrieval_stores(vault), late),
            },
        ).rank(request)

        assert len(after.candidates) == len(before.candidates) > read
        assert {c.document_id for c in after.candidates[:read]} == {
            c.document_id for c in before.candidates[:read]
        }
        assert [c.document_id for c in after.candidates[read:]] == [
            c.document_id for c in before.candidates[read:]
        ]
        relevance = [c.relevance for c in after.candidates]
        assert relevance == sorted(relevance, reverse=True)


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
