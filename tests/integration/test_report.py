"""What an owner learns of a memory: questions are recorded as they are asked, and ``clawmem report`` answers."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest
from command_line import Invoke, ask_json, configure

from clawmem.adapters.sqlite.vault import open_vault
from clawmem.domain.text.words import query_hash


@pytest.fixture
def read(invoke: Invoke, notes: Path) -> Invoke:
    """``invoke`` over a vault that holds the notes, without vectors."""
    assert invoke("bootstrap", notes, "--skip-embed").exit_code == 0
    return invoke


# -- what is recorded -----------------------------------------------------------------------------------


def test_questions_are_recorded_as_they_are_asked(remembered: Invoke) -> None:
    """Each door's questions count, with what they found and how long it took."""
    remembered("search", "redis")
    remembered("search", "REDIS ")
    remembered("search", "xylophone")
    remembered("query", "redis")

    found = ask_json(remembered, "report")

    assert (found["documents"], found["recalls"]) == (3, 4)
    [query, search] = found["tables"]["speed"]
    assert (query["verb"], query["recalls"], query["unanswered"]) == ("query", 1, 0)
    assert (search["verb"], search["recalls"], search["unanswered"]) == ("search", 3, 1)
    assert 0 < search["p50_ms"] <= search["p95_ms"] <= search["slowest_ms"]
    [first, *_] = found["tables"]["most_recalled"]
    assert first["document"] == "notes/decisions/2026-02-11-redis.md"
    assert (first["recalls"], first["questions"], first["best_rank"]) == (3, 1, 1)


def test_of_a_question_only_its_fingerprint_is_kept(read: Invoke, home: Path, vault_file: Path) -> None:
    """Without receipts what was asked is not to be found in the vault; that the same was asked again is."""
    configure(home, "receipt_days: 0")
    read("search", "Marmalade", "postgres")

    vault = open_vault(str(vault_file))
    [recall] = vault.telemetry.recalls()
    vault.close()
    assert recall.query_hash == query_hash(" marmalade POSTGRES\n") != query_hash("marmalade")
    assert (recall.verb, recall.limit) == ("search", 10)
    assert recall.hits[0].rank == 1
    assert b"marmalade" not in vault_file.read_bytes().lower()
    assert apsw.Connection(str(vault_file)).execute("select count(*) from receipts").fetchone() == (0,)
