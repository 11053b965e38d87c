"""What is shown before a file is changed, measured: of use, or silence."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from wired import publisher, wired

from clawmem.adapters.memory.clock import ManualClock
from clawmem.adapters.sqlite.vault import open_vault
from clawmem.app.services.capture.briefing import Briefings
from clawmem.contracts.samples import document, fragments
from clawmem.ports.vault import Vault

SET = json.loads((Path(__file__).parents[1] / "data" / "file_lessons.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def lessons() -> Iterator[Briefings]:
    """Over a vault with the notes of the set."""
    vault = open_vault(":memory:")
    with vault.transactions.writing():
        for path, (content_type, body) in SET["notes"].items():
            title = body.splitlines()[0].strip("# ")
            publisher(vault).publish(
                document(path, body, title=title, content_type=content_type), body, fragments(body)
            )
    yield wired(vault, ManualClock()).briefings()
    vault.close()


def shown(block: str) -> set[str]:
    titles = {body.splitlines()[0].strip("# "): path for path, (_, body) in SET["notes"].items()}
    return {path for title, path in titles.items() if f"- {title} (" in block}


def counted(lessons: Briefings, cases: list[dict[str, Any]]) -> tuple[int, int, int]:
    """How many notes were shown, how many of them were of use, and how many are of use."""
    pairs = [(shown(lessons.file_lessons(case["file"]).text), set(case["of_use"])) for case in cases]
    return (
        sum(len(found) for found, _ in pairs),
        sum(len(found & wanted) for found, wanted in pairs),
        sum(len(wanted) for _, wanted in pairs),
    )


def test_how_many_lessons_are_of_use(lessons: Briefings) -> None:
    """Nine in ten that are shown are of use before that very change, and nine in ten of those are shown."""
    found, right, wanted = counted(lessons, SET["cases"])

    assert found and right / found >= 0.9, f"precision {right}/{found}"
    assert right / wanted >= 0.9, f"recall {right}/{wanted}"


def test_the_reason_below_a_heading_is_shown(vault: Vault) -> None:
    """A heading that names the file repeats the title; the lesson is the sentence below it."""
    body = "# The lock of tidy.py\n\nNever retry, because the lock stays behind.\n"
    publisher(vault).publish(
        document("a.md", body, title="The lock of tidy.py", content_type="problem"), body, fragments(body)
    )

    block = wired(vault, ManualClock()).briefings().file_lessons("/w/tidy.py").text

    assert "): Never retry, because the lock stays behind." in block
