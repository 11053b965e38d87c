"""The second reading by a reranker: what is sent, kept and blended."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
from notes_vault import NotesVault
from scripted_server import Models, scoring_each
from staged_models import NOTES, QUESTION, names, perfect, request, reranking, run, sent

from clawmem.adapters.memory.models import OverlapReranker
from clawmem.adapters.models.api import ApiReranker
from clawmem.app.services.retrieval.request import Unit
from clawmem.app.services.retrieval.rerank import (
    LINE_CHARS,
    RERANKED,
    RERANKER,
)
from clawmem.ports.vault import Vault


@pytest.fixture
def vault(notes_vault: NotesVault) -> Vault:
    """A vault of the notes."""
    return notes_vault.take_in(NOTES).vault


class TestReranking:
    def test_a_perfect_model_moves_the_answer_to_the_top(self, vault: Vault, models: Models) -> None:
        """The note that answers is the first, wherever the indexes had put it, with the score that moved it."""
        reranker = models.factory(ApiReranker, models.serve(scoring_each(perfect)).url)
        before, _ = run(reranking(vault, None), vault, request())

        work, trace = run(reranking(vault, reranker), vault, request())

        assert names(vault, before)[0] != "answer.md"
        assert names(vault, work)[0] == "answer.md"
        assert sorted(names(vault, work)) == sorted(names(vault, before))
        assert work.candidates[0].legs[RERANKER] == pytest.approx(1 / (1 + math.exp(-6)))
        assert trace.degraded == {}

    def test_a_text_is_read_once_for_a_question(self, vault: Vault, models: Models) -> None:
        """The second time nothing is sent; another question or another intent is another reading."""
        server = models.serve(scoring_each(perfect))
        reranker = models.factory(ApiReranker, server.url)

        first, second = (run(reranking(vault, reranker), vault, request())[0] for _ in range(2))
        read = len(sent(server))
        assert first == second
        assert read == 1

        run(reranking(vault, reranker), vault, request("does the kettle whistle"))
        run(reranking(vault, reranker), vault, request(purpose="buy a new one"))
        assert len(sent(server)) == 3
        assert server.questions("/v1/rerank")[-1]["query"] == f"buy a new one\n\n{QUESTION}"

    def test_the_model_reads_where_it_matched(
        self, vault: Vault, models: Models, notes_vault: NotesVault
    ) -> None:
        """Of a long note the part around what matched is sent, not its beginning; of a line little more than it."""
        filler = "".join(f"Paragraph {n} is about nothing at all.\n\n" for n in range(400))
        notes_vault.take_in({"long.md": f"{filler}The zeppelin landed.\n\n{filler}"})
        server = models.serve(scoring_each(len))
        reranker = models.factory(ApiReranker, server.url)

        run(reranking(vault, reranker), vault, request("zeppelin landed?"))
        run(reranking(vault, reranker), vault, request("zeppelin landed?", unit=Unit.LINE))

        (document,), (line, *_) = sent(server)
        assert "The zeppelin landed." in document
        assert len(document) == 4000
        assert "The zeppelin landed." in line
        assert len(line) == LINE_CHARS


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vault]:
    """More notes than are reranked, each with another mixture of the words that are asked for."""
    place = tmp_path_factory.mktemp("many")
    made = NotesVault(place)
    asked = ("kettle", "whistle", "steam", "spout", "water")
    made.take_in(
        {
            f"note{n:02d}.md": " ".join(word for bit, word in enumerate(asked) if (n + 1) >> bit & 1)
            + f" and {'filler ' * (n % 7)} of note {n}.\n"
            for n in range(60)
        }
    )
    yield made.vault
    made.close()


def test_so_many_are_reranked(many: Vault) -> None:
    """Forty are read, fewer answers wanted or more; the others follow in the order they had."""
    asked = request("kettle or whistle or steam", limit=100)
    before, _ = run(reranking(many, None), many, asked)

    work, _ = run(reranking(many, OverlapReranker()), many, asked)

    read = [RERANKER in candidate.legs for candidate in work.candidates]
    assert RERANKED == 40 < len(before.candidates)
    assert read == [True] * RERANKED + [False] * (len(before.candidates) - RERANKED)
    assert [c.best for c in work.candidates[RERANKED:]] == [c.best for c in before.candidates[RERANKED:]]
