"""The profile over two vaults, against lists of what holds and what does not that were written by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clawmem.adapters.files.disk import DiskFiles
from clawmem.adapters.files.front_matter import parse_yaml
from clawmem.adapters.memory.clock import ManualClock
from clawmem.adapters.sqlite.vault import SqliteVault
from clawmem.app.services.briefing.current_statements import current_documents, current_statements
from clawmem.app.services.briefing.profile import PATH, Profile
from clawmem.app.services.indexing.folders import Folder
from clawmem.app.services.indexing.update import (
    UpdateCollection,
)
from clawmem.contracts.samples import id_of
from clawmem.domain.capture.notes import COLLECTION
from clawmem.domain.documents.times import iso_utc

ROOT = Path(__file__).parents[2]
JUDGED = json.loads((ROOT / "tests" / "data" / "profile_statements.json").read_text("utf-8"))
NOW_MS = 1_790_000_000_000  # September 2026
LEAST_PRECISION = 0.95


@pytest.fixture(params=list(JUDGED), scope="module")
def judged(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, str, list[str]]:
    """A vault's name, the profile that is printed for it, and all statements that were to choose from."""
    vault, clock = SqliteVault(str(tmp_path_factory.mktemp("profile") / "vault.sqlite")), ManualClock(NOW_MS)
    UpdateCollection(vault, DiskFiles(), clock, parse_yaml)(Folder("notes", str(ROOT / request.param)))
    Profile(vault, clock).rebuild()
    page = vault.documents.body(id_of(vault.documents.at(COLLECTION, PATH))) or ""
    gathered = current_statements(vault, current_documents(vault, iso_utc(NOW_MS)))
    vault.close()
    return request.param, page, [one.line.text for one in gathered]


def held(page: str) -> list[str]:
    """The statements of a printed profile, without their origins."""
    part = page.partition("## What holds")[2].partition("## Lately")[0]
    return [line[2:].rpartition(" (")[0] for line in part.splitlines() if line.startswith("- ")]


def precision(statements: list[str], current: list[str]) -> float:
    return sum(one in current for one in statements) / len(statements)


def test_the_lists_are_long_enough() -> None:
    """Forty statements of either kind for each vault, and none in both lists."""
    for lists in JUDGED.values():
        assert min(len(set(lists["current"])), len(set(lists["outdated"]))) >= 40
        assert not any(old in one for old in lists["outdated"] for one in lists["current"])


def test_nothing_outdated_is_stated(judged: tuple[str, str, list[str]]) -> None:
    """No superseded text, rejected option, reason, open point or past stands on the page, nor waits for room on it."""
    name, page, gathered = judged

    assert [old for old in JUDGED[name]["outdated"] if any(old in one for one in (page, *gathered))] == []


def test_what_is_stated_holds(judged: tuple[str, str, list[str]]) -> None:
    """95 of 100 lines are whole and hold: of those printed, and of all that would be printed with more room."""
    name, page, gathered = judged

    assert len(held(page)) >= 15
    for statements in (held(page), gathered):
        doubtful = [one for one in statements if one not in JUDGED[name]["current"]]
        assert precision(statements, JUDGED[name]["current"]) >= LEAST_PRECISION, doubtful


def test_every_line_has_its_origin(judged: tuple[str, str, list[str]]) -> None:
    """Each line ends with the path of its note and a day, whole within the budget."""
    _, page, _ = judged
    lines = [line for line in page.splitlines() if line.startswith("- ")]

    assert lines
    for line in lines:
        origin = line.rpartition(" (")[2]
        assert origin.startswith("notes/") and ".md" in origin and origin.endswith(")"), line
        assert "202" in origin and "…" not in line, line
