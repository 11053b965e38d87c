"""The profile page and the statements on it, the briefing beside it, and searches, through the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import Invoke, age_documents
from command_process import run_process
from wired import update_collection, wired

from clawmem.adapters.files.disk import DiskFiles
from clawmem.adapters.files.front_matter import parse_yaml
from clawmem.adapters.memory.clock import ManualClock
from clawmem.adapters.sqlite.vault import open_vault
from clawmem.app.services.briefing.profile import PATH, current_documents, current_statements
from clawmem.app.services.indexing.folders import Folder
from clawmem.contracts.samples import id_of
from clawmem.domain.capture.notes import COLLECTION
from clawmem.domain.documents.times import iso_utc

SUBJECTS = "oars sails ropes anchors lamps flags pumps nets masts buoys".split()
ROOT = Path(__file__).parents[2]
JUDGED = json.loads((ROOT / "tests" / "data" / "profile_statements.json").read_text("utf-8"))
NOW_MS = 1_790_000_000_000  # September 2026
LEAST_PRECISION = 0.95


@pytest.fixture
def vault(invoke: Invoke, tmp_path: Path) -> Invoke:
    """The command line over 30 decisions; the last of them has no sentence that stands alone."""
    root = tmp_path / "notes"
    (root / "decisions").mkdir(parents=True)
    for number in range(30):
        subject = f"{SUBJECTS[number % 10]} of boat {number}"
        (root / f"decisions/2025-01-{number + 1:02}-{number}.md").write_text(
            f"---\ncontent_type: decision\n---\n# Buying {subject}\n\nWe buy the {subject} from the yard in Larvik.\n",
            "utf-8",
        )
    (root / "decisions/2025-03-01-broker.md").write_text(
        "---\ncontent_type: decision\n---\n# Broker for telemetry\n\nNATS.\n", "utf-8"
    )
    (root / "decisions/2025-02-20-old.md").write_text(
        "---\ncontent_type: decision\nreview_by: 2025-02-25\nsuperseded_by: ./2025-03-01-broker.md\n---\n"
        "# Mosquitto\n\nWe keep Mosquitto as the broker.\n",
        "utf-8",
    )
    invoke("collection", "add", root)
    invoke("update", "--embed")
    return invoke


def test_the_newest_decision_holds(vault: Invoke) -> None:
    """The newest decision comes first under "What holds", by its title where no sentence stands alone."""
    shown = vault("profile").output

    first = shown.partition("## What holds")[2].strip().splitlines()[0]
    assert first == "- Broker for telemetry (notes/decisions/2025-03-01-broker.md)"
    assert "Mosquitto" not in shown


def test_a_copied_file_is_not_newer(vault: Invoke, tmp_path: Path) -> None:
    """Files without a date, as new as their last copy, do not push dated decisions out."""
    for number in range(25):
        (tmp_path / f"notes/decisions/copied-{number}.md").write_text(
            f"---\ncontent_type: decision\n---\n# Paint {number}\n\nWe paint hull {number} blue every spring.\n",
            "utf-8",
        )
    vault("update")

    assert "Broker for telemetry" in vault("profile").output


def test_what_was_superseded_is_not_due(vault: Invoke, environ: dict[str, str], home: Path) -> None:
    """Nobody is asked to look at a note that another one has replaced."""
    age_documents(home)
    told = run_process("surface", "--bootstrap", "--stdin", environ=environ, input="s1", check=True).stdout

    assert "## Not looked at for a while" in told
    assert "2025-02-20-old.md" not in told.partition("## Not looked at")[2]


def test_the_page_is_no_answer(vault: Invoke) -> None:
    """The page repeats other notes: it is found by its name and its collection only."""
    vault("profile")

    def found(*args: str) -> list[str]:
        return [one["file"] for one in json.loads(vault(*args, "--all", "--json").stdout)["results"]]

    question = "Broker for telemetry and ropes from the yard in Larvik"
    for way in ("search", "query", "vsearch"):
        assert "_clawmem/profile.md" not in found(way, question, "-n", "50")
    assert "_clawmem/profile.md" in found("query", question, "--collection", "_clawmem")
    assert "_clawmem/profile.md" in found("query", "the profile page: what holds")


@pytest.fixture(params=list(JUDGED), scope="module")
def judged(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, str, list[str]]:
    """A vault's name, the profile that is printed for it, and all statements that were to choose from."""
    vault, clock = open_vault(str(tmp_path_factory.mktemp("profile") / "vault.sqlite")), ManualClock(NOW_MS)
    update_collection(vault, DiskFiles(), clock, parse_yaml)(Folder("notes", str(ROOT / request.param)))
    wired(vault, clock).profile().rebuild()
    page = vault.documents.body(id_of(vault.documents.at(COLLECTION, PATH))) or ""
    gathered = current_statements(
        vault.documents, current_documents(vault.documents, vault.successions, iso_utc(NOW_MS))
    )
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
