"""Secrets on their way through hooks: none is captured, handed over or surfaced, wherever its label stands."""

from __future__ import annotations

import random
import string
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import Invoke
from hook_process import Hook, transcript

from clawmem.adapters.sqlite.vault import open_vault

CHANCE = random.Random(20261123)
FILLING = "The harbour crane was inspected, and its cables were found to be worn at the lower drum. "


def invented() -> str:
    return "".join(CHANCE.choices(string.ascii_letters, k=7)) + "".join(CHANCE.choices(string.digits, k=4))


def captured(home: Path) -> str:
    """All that machines have stored in the vault."""
    vault = open_vault(str(home / ".cache/clawmem/index.sqlite"), read_only=True)
    try:
        own = vault.documents.sources("_clawmem").values()
        return "\n".join(f"{one.title}\n{vault.documents.body(one.id)}" for one in own)
    finally:
        vault.close()


@pytest.mark.parametrize(
    "said",
    [
        "We decided that the password for the ledger box is @ from now on.",
        "We decided to use the ledger box as deploy. Log in with deploy / @ there.",
        "We decided to keep the ledger box. Its password is:\n\n@\n\nWe'll use @ for the ledger until May.",
        "Wir nehmen die Ledger-Box. Das Kennwort lautet @.\n\nWe decided to keep @ for the ledger box.",
        "We decided on pa\u200bssword: @ for the ledger box.",
        "| box | password |\n|---|---|\n| ledger | @ |\n\nWe decided to keep the ledger box.",
    ],
)
def test_a_session_is_captured_without_secrets(
    said: str, bootstrapped: Path, invoke: Invoke, hook: Hook, home: Path
) -> None:
    """Neither observations nor the handoff nor the state before a compaction hold a password that was mentioned."""
    secret = invented()
    spoken = said.replace("@", secret, 1).replace("@", "that one")
    conversation = transcript(
        home / "projects/5f0c.jsonl",
        ("Hello.", "Hello."),
        (spoken, "Noted."),
        ("We'll use Redis for queues.", "Fine."),
    )

    for name in ("decision-extractor", "handoff-generator"):
        hook(name, "Stop", transcript_path=str(conversation))
    hook("precompact-extract", "PreCompact", transcript_path=str(conversation))

    [state] = conversation.parent.glob("memory/precompact-state-*.md")
    kept = captured(home) + state.read_text("utf-8")
    assert "Redis for queues" in kept
    assert "ledger" in kept.lower()
    assert secret not in kept


@pytest.mark.parametrize(
    "said",
    [
        "We decided to unlock the keystore with @ (keytool -storepass @).",
        "We decided to unlock the keystore of the nightly release builds on the ledger box with @ (keytool -storepass @).",
        "We decided on a login on ledger.local: deploy, and then @",
        "We decided to encrypt the backup of the ledger box with openssl enc -aes-256-cbc -in a.tar -k @",
        "We decided on a new seed phrase: @ marble cactus tunnel orbit velvet harvest copper mirror saddle pencil anchor",
    ],
)
def test_a_secret_is_gone_from_titles_too(
    said: str, bootstrapped: Path, invoke: Invoke, hook: Hook, home: Path
) -> None:
    """A title is cut from a text without secrets, and a secret that one place announces is gone from all others."""
    secret = "ripple" if "phrase" in said else "Marble7Gate"
    conversation = transcript(
        home / "projects/5f0c.jsonl",
        ("Hello.", "Hello."),
        (said.replace("@", secret), "Noted."),
        ("We'll use Redis for queues.", "Fine."),
    )

    for name in ("decision-extractor", "handoff-generator"):
        hook(name, "Stop", transcript_path=str(conversation))

    kept = captured(home)
    assert "We decided" in kept
    assert "[redacted: " in kept
    assert secret not in kept


def test_the_profile_quotes_notes_without_secrets(notes: Path, invoke: Invoke) -> None:
    """A sentence of the page is taken from a note without secrets: its label may stand in another line."""
    secret = invented()
    (notes / "decisions/box.md").write_text(
        f"# The ledger box is booted through {secret}\n\nIts password is:\n\n{secret}\n\nOnly until May.\n",
        "utf-8",
    )
    assert invoke("bootstrap", notes).exit_code == 0

    page = invoke("profile", "rebuild").stdout

    assert "The ledger box is booted through [redacted: password]" in page
    assert secret not in page


def test_a_label_in_an_earlier_message(bootstrapped: Path, invoke: Invoke, hook: Hook, home: Path) -> None:
    """A password that is a message of its own, after the message that announces it, is not captured."""
    secret = invented()
    conversation = transcript(
        home / "projects/5f0c.jsonl",
        ("Hello.", "What is the password for the ledger box? Send me the new password:"),
        (secret, "Thanks."),
        ("We decided to keep the ledger box.", "Fine."),
    )

    hook("handoff-generator", "Stop", transcript_path=str(conversation))

    assert "ledger box" in captured(home)
    assert secret not in captured(home)


def _column(secret: str) -> str:
    rows = [f"| crane{number} | {FILLING}| {number} months |" for number in range(60)]
    return "| box | about | password |\n|---|---|---|\n" + "\n".join(
        [*rows, f"| gantry | the zeppelin gantry of the yard | {secret} |", *rows]
    )


def _key(secret: str) -> str:
    lines = "\n".join(secret + "".join(CHANCE.choices(string.ascii_letters, k=53)) for _ in range(40))
    return f"-----BEGIN RSA PRIVATE {'KEY'}-----\n{lines}\n\nzeppelin gantry\n{lines}\n-----END RSA PRIVATE {'KEY'}-----"


def _paragraph(secret: str) -> str:
    return f"# Zeppelin gantry\n\n{FILLING * 20}\n\nThe password of the zeppelin gantry is:\n\n{secret}\n\n{FILLING * 20}"


@pytest.mark.parametrize("note", [_column, _key, _paragraph], ids=["column", "key", "paragraph"])
def test_a_fragment_is_surfaced_without_secrets(
    note: Callable[[str], str], notes: Path, invoke: Invoke, hook: Hook
) -> None:
    """A block quotes a fragment; the header, line or paragraph that makes a secret of its text is elsewhere."""
    secret = invented()
    (notes / "gantry.md").write_text(f"# Yard\n\nAbout the zeppelin gantry.\n\n{note(secret)}\n", "utf-8")
    assert invoke("bootstrap", notes).exit_code == 0

    block = hook(
        "context-surfacing", "UserPromptSubmit", prompt="what do we know of the zeppelin gantry?"
    ).context

    assert "gantry" in block
    assert secret not in block


def test_a_lesson_is_told_without_secrets(notes: Path, invoke: Invoke, hook: Hook) -> None:
    """The row about a file is quoted without the password that the header of its table announces."""
    secret = invented()
    lesson = f"# Yard\n\n| file | password |\n|---|---|\n| schema_v2.sql | {secret} |\n"
    (notes / "yard.md").write_text(f"---\ncontent_type: antipattern\n---\n{lesson}", "utf-8")
    assert invoke("bootstrap", notes).exit_code == 0

    told = hook("pretool-inject", "PreToolUse", tool_input={"file_path": "/app/schema_v2.sql"}).context

    assert "| schema_v2.sql | [redacted: password] |" in told


def test_a_note_is_read_whole_by_its_owner(notes: Path, invoke: Invoke) -> None:
    """`get` prints a note as it was written: nothing in a user's own file is changed or hidden from the user."""
    secret = invented()
    (notes / "wifi.md").write_text(f"# Wifi\n\nThe wifi password is {secret}.\n", "utf-8")
    assert invoke("bootstrap", notes).exit_code == 0

    assert secret in invoke("get", "wifi.md").stdout
