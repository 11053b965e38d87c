"""Names of notes, as a person searches for them: file names, folders, titles and aliases."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from command_line import Invoke, ask_json, found_paths, write_notes
from command_process import surfaced

BACKENDS = ("sqlite", "tantivy", "lancedb")

NAMED = {
    "Clients/Acme Rocketworks.md": "# Kick-off\n\nWeekly call on Mondays.\n\nThe budget is signed.\n",
    "Clients/Blue Harbour.md": "# First meeting\n\nThey want a quote for the acme of cranes.\n",
    "journal/2026-05-04.md": "# Monday\n\nWrote to two clients about rocketworks and slept.\n",
    "People/ok.md": "---\naliases: [Oksana]\n---\n# Head of purchasing\n\nReach her after nine.\n",
}

# Two people, and a diary that mentions them.
NOTES = {
    "people/Marta Kowalczyk.md": (
        "# Marta Kowalczyk\n\nRole: head of logistics at the Gdynia depot.\n\nPhone: +48 601 555 014\n"
    ),
    "people/tw.md": (
        "---\naliases: [Tomek, Tom Wilk]\n---\n# Tomasz Wilk\n\nBuys packaging for the northern sites.\n\n"
        "Mobile +48 700 112 233, after nine.\n"
    ),
    "diary/2026-03-01.md": (
        "# 2026-03-01\n\nMarta Kowalczyk called about the pallets again.\n\nFixed the printer.\n"
    ),
    "diary/2026-03-02.md": (
        "# 2026-03-02\n\nLunch with Marta Kowalczyk and Tomek, she has a new phone.\n\nRain all day.\n"
    ),
    "diary/2026-03-03.md": (
        "# 2026-03-03\n\nMarta Kowalczyk wants the invoice number before Friday. Tomek is ill.\n\nWent home.\n"
    ),
}
MARTA, TOMASZ = "people/Marta Kowalczyk.md", "people/tw.md"
ABOUT_A_PERSON = {
    "what is Marta Kowalczyk's phone number": f"{MARTA}:5",
    "what is the role of Marta Kowalczyk": f"{MARTA}:3",
    "what is Tomek's mobile number": f"{TOMASZ}:8",
    "what does Tom Wilk buy": f"{TOMASZ}:6",
}
ABOUT_SOMETHING_ELSE = {
    "why did Marta Kowalczyk call about pallets": "diary/2026-03-01.md:3",
    "which invoice number does Marta Kowalczyk want": "diary/2026-03-03.md:3",
    "when was Tomek ill": "diary/2026-03-03.md:3",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Notes of which some are known by names that stand nowhere in their text."""
    write_notes(tmp_path / "vault", NAMED)
    return tmp_path / "vault"


@pytest.mark.parametrize("unit", ["document", "line"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_note_with_a_heading_is_found_by_its_file_name(
    invoke: Invoke, folder: Path, backend: str, unit: str
) -> None:
    """As a whole and line by line, whichever engine keeps the index."""
    assert invoke("--backend", backend, "bootstrap", folder).exit_code == 0

    found = found_paths(invoke, "--backend", backend, "search", "Acme Rocketworks", "--unit", unit)

    assert found[0] == "Clients/Acme Rocketworks.md"


@pytest.mark.parametrize("unit", ["document", "line"])
def test_notes_are_found_by_their_folder_and_by_their_alias(invoke: Invoke, folder: Path, unit: str) -> None:
    """Every note of the folder; the alias finds the note whose title and text do not hold it."""
    assert invoke("bootstrap", folder).exit_code == 0

    found = found_paths(invoke, "search", "Clients", "--unit", unit)

    assert {"Clients/Acme Rocketworks.md", "Clients/Blue Harbour.md"} <= set(found)
    assert found_paths(invoke, "search", "Oksana", "--unit", unit)[:1] == ["People/ok.md"]


def test_a_note_that_is_moved_is_found_by_its_new_folder(invoke: Invoke, folder: Path) -> None:
    """The old folder's name finds it no more."""
    assert invoke("bootstrap", folder).exit_code == 0
    (folder / "Archive").mkdir()
    (folder / "People/ok.md").rename(folder / "Archive/ok.md")
    assert invoke("update").exit_code == 0

    assert found_paths(invoke, "search", "Archive") == ["Archive/ok.md"]
    assert found_paths(invoke, "search", "People") == []


@pytest.mark.parametrize("verb", ["search", "query"])
@pytest.mark.parametrize("question", [*ABOUT_A_PERSON, *ABOUT_SOMETHING_ELSE])
def test_a_line_is_ranked_together_with_the_names_of_its_note(
    indexed: Invoke, question: str, verb: str
) -> None:
    """
    The line that answers comes first: from the note about the person, though the line does not repeat the name,
    and from another note where that one answers.
    """
    best = ask_json(indexed, verb, question, "--unit", "line")["results"][0]

    place = {**ABOUT_A_PERSON, **ABOUT_SOMETHING_ELSE}[question]
    assert f"{best['path']}:{best['start_line']}" == place


@pytest.mark.parametrize("verb", ["search", "query"])
@pytest.mark.parametrize(("name", "note"), [("Marta Kowalczyk", MARTA), ("Tomek", TOMASZ)])
def test_a_name_alone_finds_the_lines_of_its_note_first(
    indexed: Invoke, verb: str, name: str, note: str
) -> None:
    """Title, file name or alias; before every line of other notes that mentions the person."""
    assert found_paths(indexed, verb, name, "--unit", "line")[:2] == [note, note]


@pytest.mark.parametrize("question", ABOUT_A_PERSON)
def test_a_prompt_about_a_person_carries_the_persons_note_first(
    indexed: Invoke, environ: dict[str, str], question: str
) -> None:
    """The block begins with the line that answers."""
    block = surfaced(question, environ)
    shown = re.findall(r"\*\* notes/(.*?\.md):(\d+)(?:-(\d+))?", block)
    note, line = ABOUT_A_PERSON[question].rsplit(":", 1)

    assert shown[0][0] == note, block
    assert int(shown[0][1]) <= int(line) <= int(shown[0][2] or shown[0][1])
    assert NOTES[note].split("\n")[int(line) - 1] in block
