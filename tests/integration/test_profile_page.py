"""The profile page, the briefing beside it, and searches, through the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

Invoke = Callable[..., Result]

SUBJECTS = "oars sails ropes anchors lamps flags pumps nets masts buoys".split()


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
    told = subprocess.run(
        [sys.executable, "-m", "clawmem", "surface", "--bootstrap", "--stdin"],
        check=True,
        capture_output=True,
        text=True,
        cwd=home,
        env=environ,
        input="s1",
    ).stdout

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
