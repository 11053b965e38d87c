"""Notes that are shown when a prompt is about a subject: how they are written, how often they are shown, and when not."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest
from command_line import Invoke

from clawmem.adapters.sqlite.vault import open_vault
from clawmem.app.interfaces.hooks.handlers import HANDLERS, HookContext
from clawmem.app.interfaces.hooks.protocol import read_event
from clawmem.ports.telemetry import Recall, RecallHit


def shown(environ: dict[str, str], prompt: str, session: str = "s1") -> str:
    event = read_event(json.dumps({"session_id": session, "prompt": prompt}), environ)
    block = HANDLERS["context-surfacing"](event, HookContext(environ))
    return block.partition("</vault-reminders>")[0] if "<vault-reminders>" in block else ""


def test_a_reminder(remembered: Invoke, environ: dict[str, str], vault_file: Path, notes: Path) -> None:
    """By words and by meaning, once a day and three times; the file has it, and a person may edit it there."""
    done = remembered("remember", "Tell Haruka before it goes out", "--when", "database migration", "--json")
    file = notes / json.loads(done.stdout)["file"].partition("/")[2]
    text = file.read_text("utf-8")
    assert 'when: "database migration"\nuntil: "' in text

    assert shown(environ, "Birds migrate south in autumn, don't they?") == ""
    vault = open_vault(str(vault_file))
    [number] = vault.properties.named("when")

    def record(days: int) -> None:
        day = time.strftime("%Y-%m-%d", time.gmtime(time.time() - days * 86_400))
        hits = (RecallHit(number, 1, 1.0),)
        vault.telemetry.record(Recall(f"{day}T10:00:00.000Z", "reminder", day, 0.0, 3, hits=hits), None)

    record(1)
    assert "Tell Haruka" in shown(environ, "Migrate the schema of Postgres to version 3")
    assert shown(environ, "Plan the database migrations of May", "s2") == ""  # shown today
    assert vault.telemetry.trim("2099")  # as after a day
    file.write_text(text.replace("database migration", "dentist"), "utf-8")
    assert remembered("update").exit_code == 0
    for days in (1, 2, 3):
        record(days)
    assert shown(environ, "Book the dentist for Tuesday") == ""  # shown three times
    assert vault.telemetry.trim("2099")
    assert "Tell Haruka" in shown(environ, "Book the dentist for next Tuesday")
    assert vault.telemetry.trim("2099")
    vault.close()
    file.write_text(re.sub('until: ".*"', "until: 2026-01-01", file.read_text("utf-8")), "utf-8")
    assert remembered("update").exit_code == 0
    assert shown(environ, "Book the dentist for Friday") == ""  # too late


@pytest.mark.parametrize(
    "options",
    [
        ("--until", "2999-01-01"),
        ("--when", "the"),
        ("--when", "a\nb"),
        ("--when", "release", "--until", "2020-01-01"),
        ("--when", "release", "--until", "some day"),
    ],
    ids=["no subject", "no word", "two lines", "past", "no day"],
)
def test_bad_reminders(remembered: Invoke, notes: Path, options: tuple[str, ...]) -> None:
    """Nothing is saved."""
    before = sorted(notes.rglob("*.md"))
    assert remembered("remember", "Tell Haruka", *options).exit_code not in (0, 1)
    assert sorted(notes.rglob("*.md")) == before
