"""A note names the note that it supersedes by any address, and hears about an address that names none."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Invoke, write_file

OLD = "---\ndate: 2026-04-02\naliases: [Price list]\n---\n# Pricing\n\nThe mill charges nine crowns a sack of flour.\n"
NEW = "---\ndate: 2026-06-02\n{said}\n---\n# Pricing after June\n\nThe mill charges eleven crowns a sack of flour.\n"
OLD_PATH, NEW_PATH = "decisions/2026-04-02-pricing.md", "decisions/2026-06-02-pricing-again.md"
MARK = f"superseded by notes/{NEW_PATH}"

FORMS = [
    '"[[Pricing]]"',
    "[[Pricing]]",
    '"[[2026-04-02-pricing|the April price]]"',
    '"[[decisions/2026-04-02-pricing#Sum]]"',
    "Pricing",
    "price LIST",
    "2026-04-02-pricing",
    "2026-04-02-pricing.md",
    "./2026-04-02-pricing.md",
    "../decisions/2026-04-02-pricing",
    "decisions/2026-04-02-pricing",
    OLD_PATH,
    f"/{OLD_PATH}",
    f"notes/{OLD_PATH}",
    "notes/decisions/2026-04-02-pricing",
    "[Pricing]",
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder of notes; ``write`` and ``update`` fill it."""
    root = tmp_path / "notes"
    (root / "decisions").mkdir(parents=True)
    return root


def listed(invoke: Invoke) -> str:
    return invoke("search", "mill charges crowns", "--all").output


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_an_address(invoke: Invoke, folder: Path, form: str) -> None:
    """Whatever address is written, the older note is marked, and nothing is reported."""
    write_file(folder / NEW_PATH, NEW.format(said=f"supersedes: {form}"))
    write_file(folder / OLD_PATH, OLD)
    invoke("collection", "add", folder)

    updated = invoke("update")

    assert MARK in listed(invoke)
    assert "names" not in updated.output


def test_a_note_that_comes_later(invoke: Invoke, folder: Path) -> None:
    """The address is looked up again after each pass."""
    write_file(folder / NEW_PATH, NEW.format(said="supersedes: ./2026-04-02-pricing.md"))
    invoke("collection", "add", folder)
    assert "names './2026-04-02-pricing.md', but no other note is called so" in invoke("update").output

    write_file(folder / OLD_PATH, OLD)
    assert "names" not in invoke("update").output
    assert MARK in listed(invoke)


def test_the_own_collection_goes_first(invoke: Invoke, folder: Path, tmp_path: Path) -> None:
    """A title means a note of the own collection; a note of another one has to be named by its path."""
    other = tmp_path / "other"
    write_file(other / "pricing.md", OLD.replace("nine", "seven"))
    write_file(
        other / "toll.md", "---\ndate: 2026-01-01\n---\n# Toll\n\nThe mill charges crowns for the bridge.\n"
    )
    write_file(folder / OLD_PATH, OLD)
    write_file(folder / NEW_PATH, NEW.format(said="supersedes: [Pricing, other/toll]"))
    invoke("collection", "add", other)
    invoke("collection", "add", folder)
    invoke("update")

    shown = listed(invoke)
    marked = {part.split(":")[0] for part in shown.split("\n\n") if MARK in part}
    assert {"other/toll.md", f"notes/{OLD_PATH}"} <= marked
    assert "other/pricing.md" in shown
    assert "other/pricing.md" not in marked


def test_an_ambiguous_or_misspelt_address_is_reported(invoke: Invoke, folder: Path) -> None:
    """``update`` names the note, the address and the candidates; nothing is marked."""
    write_file(folder / OLD_PATH, OLD)
    write_file(folder / "old/flour.md", OLD)
    write_file(folder / NEW_PATH, NEW.format(said="supersedes: [Pricing, decisions/2026-04-02-prizing.md]"))
    invoke("collection", "add", folder)

    flat = " ".join(invoke("update").output.split())

    assert f"notes/{NEW_PATH}: supersedes names 'Pricing', but 2 notes are called so" in flat
    assert f"notes/{OLD_PATH}, notes/old/flour.md" in flat
    assert "'decisions/2026-04-02-prizing.md', but no other note is called so. Write its path" in flat
    assert MARK not in listed(invoke)
