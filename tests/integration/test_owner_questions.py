"""What owners ask besides a topic: an outcome, a reason, a former state, an amount, a name; on the command line."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import Invoke, ask_json, write_notes
from process_environ import process_environ

EXACT_NOTES = {
    "people/ilse.md": "# Neighbour Ilse\n\nIlse and Karl, no. 14. Phone 04121 5550 318.",
    "choir.md": "# Choir of St. Mary\n\nConductor: Henrike Vogt.\n\nLeader of the altos: Wiebke Harms, 0171 5550 664.",
    "journal.md": "# A day\n\nPlanted tulips along the path. Wiebke lent me a recording.",
    "brandt.md": "# Brandt Press\n\nThey pay within 60 days, always late. When did they last pay on time?",
    "invoices.md": "# Invoices\n\n| No | Client | Paid |\n|---|---|---|\n| 2026-009 | Ostmann | 19 May |\n"
    "| 2026-014 | Brandt | 12 June |\n| 2026-029 | Seeblick | open |",
}
NOTES = {
    "porch/offer june.md": ("2026-06-02", "# Porch roof, offer\n\nCarpenter Lindner offers 4 200 euros for the porch roof."),
    "porch/offer july.md": ("2026-07-09", "# Porch roof, offer of Abel\n\nWe rejected this offer for the porch roof: too dear."),
    "porch/offer october.md": ("2026-10-14", "# A better price\n\nLindner again: 3 900 euros in larch, from March."),
    "porch/signed.md": ("2026-10-20", "# Signed\n\nOn 19 October I accepted the larch of Lindner. A good offer."),
    "kitchen/windows.md": ("2026-11-02", "# Windows\n\nAn offer for two windows of the kitchen: 1 800 euros."),
    "site/wix.md": ("2025-02-01", "# The site runs on Wix\n\nEverybody can edit it, for 17 euros a month."),
    "site/hugo.md": ("2026-03-01", "---\nsupersedes: site/wix.md\n---\n# The site runs on Hugo\n\nThe texts are ours, and it is free."),
    "power/brenner.md": ("2025-01-10", "# Electricity supplier\n\nBrenner, 31 cents."),
    "power/lichtwerk.md": ("2026-01-05", "---\nsupersedes: power/brenner.md\n---\n# Electricity supplier\n\nLichtwerk, 27 cents."),
    "gas/2025.md": ("2025-12-31", "# Gas of 2025\n\nHow much gas: 1 480 cubic metres of gas in the year 2025."),
    "gas/january.md": ("2026-01-31", "# Meter\n\n210 cubic metres of gas."),
    "gas/february.md": ("2026-02-28", "# Meter\n\n180 cubic metres of gas."),
    "decisions/hosting.md": ("2026-09-08", "# Hosting\n\nTwo machines in Falkenstein."),
    "decisions/printer.md": ("2026-06-02", "# Printer\n\nWhat did I decide? No printer, neither now nor in September."),
    "journal/walk.md": ("2026-09-15", "# A walk\n\nRain, and a heron."),
    "money/gym.md": ("2026-04-09", "# Gym\n\nThe monthly fee of the gym is 29 euros."),
    "money/netflix.md": ("2026-04-02", "# Netflix\n\nCancelled, nobody watches it."),
    "people/jonas.md": ("2026-05-04", "# Jonas Weber\n\nPhysiotherapist, 030 5557 1203, on Tuesdays only."),
    "people/mirja.md": ("2026-05-05", "# Mirja Holm\n\nVet in the harbour street, open on Fridays only."),
    "lab/jx-12.md": ("2026-02-19", "# Core JX-12\n\nWater depth 31 m, ice 14 cm."),
}  # fmt: skip


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose index has the notes, with vectors."""
    home = tmp_path_factory.mktemp("home")
    write_notes(home / "n", {path: _dated(day, text) for path, (day, text) in NOTES.items()})
    command = [sys.executable, "-m", "clawmem", "bootstrap", str(home / "n")]
    subprocess.run(command, check=True, capture_output=True, env=process_environ(home), cwd=home)
    return home


def _dated(day: str, text: str) -> str:
    head, body = ("", text) if not text.startswith("---") else text.removeprefix("---\n").split("---\n", 1)
    return f"---\ndate: {day}\n{head}---\n{body}\n"


@pytest.fixture
def asked(invoke: Invoke, owner: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """Answer a question from the index, which no test changes."""
    for name, value in process_environ(owner).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(owner)
    return lambda question: ask_json(invoke, "query", question)


def paths(answer: Any) -> list[str]:
    return [one["path"] for one in answer["results"]]


def test_the_note_about_what_was_left_is_shown(asked: Callable[[str], Any]) -> None:
    """The reason stands in a superseded note or its successor, neither of which need contain the question."""
    assert {"site/wix.md", "site/hugo.md"} <= set(paths(asked("why did we leave Wix")))


@pytest.mark.parametrize(
    ("question", "first", "later"),
    [
        ("when did I accept the offer", "porch/signed.md", "porch/offer july.md"),
        ("which offer did we reject", "porch/offer july.md", "porch/signed.md"),
        ("former electricity supplier", "power/brenner.md", "power/lichtwerk.md"),
        ("the electricity supplier", "power/lichtwerk.md", "power/brenner.md"),
        ("what did I decide in September 2026", "decisions/hosting.md", "decisions/printer.md"),
        ("how much gas in January 2026", "gas/january.md", "gas/2025.md"),
    ],
)
def test_what_is_asked_for_comes_first(
    asked: Callable[[str], Any], question: str, first: str, later: str
) -> None:
    """An outcome not its opposite, the version of the time, and records of the time, although others share more words."""
    found = paths(asked(question))

    assert found[0] == first
    assert later not in found or found.index(later) > 0


@pytest.mark.parametrize(
    ("answered", "unanswered"),
    [
        ("what was the water depth at JX-12", "what was the water depth at JX-14"),
        ("what does Lindner want for the porch roof", "what does Figueiredo want for the porch roof"),
    ],
)
def test_a_topic_alone_is_no_answer(asked: Callable[[str], Any], answered: str, unanswered: str) -> None:
    """A note about the topic that lacks the identifier or the name is judged far less likely to answer."""
    sure, unsure = asked(answered)["answered"], asked(unanswered)["answered"]

    assert sure > unsure
    assert sure / (1 - sure) > 5 * unsure / (1 - unsure)


def test_an_exact_match_comes_first(invoke: Invoke, tmp_path: Path) -> None:
    """A number of another person, or a note about the client, is no answer."""
    write_notes(tmp_path / "n", EXACT_NOTES)
    invoke("bootstrap", tmp_path / "n")

    first = ask_json(invoke, "query", "when did Brandt pay 2026-014")["results"][0]

    assert (first["path"], "12 June" in first["snippet"]) == ("invoices.md", True)
