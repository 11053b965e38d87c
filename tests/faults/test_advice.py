"""Every command that the program advises exists, and the remedies for damage are followed to the end by a test."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from command_line import Invoke

from clawmem.ports import errors

ROOT = Path(__file__).parents[2]
SOURCES = ("adapters", "app", "domain", "ports")
ADVISED = re.compile(r"(?:[Rr]un: |with: |then )clawmem ([a-z][a-z-]*(?: (?!work|in )(?:--)?[a-z][a-z-]*)*)")

# What is advised about damage, and the test that does it and looks at what comes of it.
FOLLOWED = {
    "doctor --repair": ("test_damage_trial.py", "every_damage_is_repaired"),
    "rebuild": ("test_damage_trial.py", "every_damage_is_repaired"),
    "update": ("test_forgetting_record.py", "test_an_older_copy"),
    "embed": ("test_damage_trial.py", "every_damage_is_repaired"),
    "forget": ("test_repair.py", "test_lost_texts_are_given_up_one_by_one"),
    "serve --stop": ("test_repair.py", "test_a_server_that_runs"),
}
HARMLESS = set(
    (
        "backup, beads, bootstrap, collection add, collection remove, export, doctor, "
        "archive --purge, embed --force, get, import, links --broken, list, list --where source, maintain --journal, maintain enrich, maintain light, query, restore, "
        "import jsonl, import bundle, rebuild --backend, rebuild --backend lancedb, mine, mine --forget, models add, models add bge-small, models use, "
        "models use multilingual, models use static, openclaw index, openclaw index --agent, serve --background, serve --status, setup, setup --check, setup hooks, "
        "setup hooks --remove, setup mcp, setup mcp --remove, snooze, status, trust set, update --all, update --allow-empty, vault sync"
    ).split(", ")
)


def advised() -> set[str]:
    """Every command that some sentence of the program advises."""
    files = [file for folder in SOURCES for file in (ROOT / folder).rglob("*.py")]
    return {found.strip() for file in files for found in ADVISED.findall(file.read_text("utf-8"))}


def test_every_remedy_is_known() -> None:
    """One that is new gets a line here: with the test that follows it, if it is about damage."""
    assert (advised() - FOLLOWED.keys() - HARMLESS) == set()


@pytest.mark.parametrize("command", sorted({*FOLLOWED, *HARMLESS}))
def test_it_exists(invoke: Invoke, command: str) -> None:
    """Word for word: no verb and no option of it is made up."""
    words = command.split()
    verbs, options = [w for w in words if not w.startswith("--")], [w for w in words if w.startswith("--")]
    helped = (
        invoke(*verbs[:2], "--help")
        if verbs[0] in ("collection", "models", "openclaw", "setup", "trust", "vault")
        else invoke(verbs[0], "--help")
    )
    assert helped.exit_code == 0, helped.output
    assert all(option in helped.stdout for option in options)


@pytest.mark.parametrize(("file", "name"), sorted(FOLLOWED.values()))
def test_it_is_followed(file: str, name: str) -> None:
    """The test of the table is there."""
    assert f"def {name}(" in (ROOT / "tests/faults" / file).read_text("utf-8")


def test_nothing_advises_to_lose_a_vault() -> None:
    """No sentence says to move a vault aside, which brought forgotten notes back and lost pins."""
    text = " ".join(file.read_text("utf-8") for folder in SOURCES for file in (ROOT / folder).rglob("*.py"))
    assert not re.search(r"(?i)move (it|the vault) aside", text)
    assert "clawmem doctor --repair" in str(errors.VaultDamaged("v", "it is broken"))
