"""Secrets on their way through hooks: none that a name or a known shape gives away is captured or surfaced."""

from __future__ import annotations

import random
import string
from pathlib import Path

import pytest
from command_line import Invoke
from hook_process import Hook, transcript

from clawmem.adapters.sqlite.vault import open_vault

CHANCE = random.Random(20261123)


def invented() -> str:
    return "".join(CHANCE.choices(string.ascii_letters, k=11)) + "".join(CHANCE.choices(string.digits, k=4))


def captured(home: Path) -> str:
    """Return everything that machines have stored in the vault."""
    vault = open_vault(str(home / ".cache/clawmem/index.sqlite"), read_only=True)
    try:
        own = vault.documents.sources("_clawmem").values()
        return "\n".join(f"{one.title}\n{vault.documents.body(one.id)}" for one in own)
    finally:
        vault.close()


@pytest.mark.parametrize(
    "said",
    [
        "We decided to set LEDGER_PASSWORD=@ for the ledger box.",
        "We decided to unlock the ledger box with @ (keytool -storepass @).",
        "We decided to keep the ledger box at https://deploy:@%40ledger.example.org/ for now.",
        "We decided on these settings of the ledger box:\n\npassword: @\n\nWe'll use @ for the ledger until May.",
    ],
)
def test_a_session_is_captured_without_secrets(
    said: str, bootstrapped: Path, invoke: Invoke, hook: Hook, home: Path
) -> None:
    """Neither observations nor the handoff nor the state before a compaction hold a secret that a name gives away."""
    secret = invented()
    conversation = transcript(
        home / "projects/5f0c.jsonl",
        ("Hello.", "Hello."),
        (said.replace("@", secret).replace("%40", "@"), "Noted."),
        ("We'll use Redis for queues.", "Fine."),
    )

    for name in ("decision-extractor", "handoff-generator"):
        hook(name, "Stop", transcript_path=str(conversation))
    hook("precompact-extract", "PreCompact", transcript_path=str(conversation))

    [state] = conversation.parent.glob("memory/precompact-state-*.md")
    stored = captured(home) + state.read_text("utf-8")
    assert "Redis for queues" in stored
    assert "ledger" in stored.lower()
    assert secret not in stored


def test_a_fragment_is_surfaced_without_secrets(notes: Path, invoke: Invoke, hook: Hook) -> None:
    """A block quotes a part of a note; the beginning of the key is elsewhere."""
    secret = invented()
    lines = "\n".join(secret + "".join(CHANCE.choices(string.ascii_letters, k=53)) for _ in range(40))
    key = f"-----BEGIN RSA PRIVATE {'KEY'}-----\n{lines}\n\nzeppelin gantry\n{lines}\n-----END RSA PRIVATE {'KEY'}-----"
    text = f"# Yard\n\nAbout the zeppelin gantry.\n\nGANTRY_PASSWORD={secret}\n\n{key}\n"
    (notes / "gantry.md").write_text(text, "utf-8")
    assert invoke("bootstrap", notes).exit_code == 0

    block = hook(
        "context-surfacing", "UserPromptSubmit", prompt="what do we know of the zeppelin gantry?"
    ).context

    assert "gantry" in block
    assert secret not in block


def test_a_note_is_read_whole_by_its_owner(notes: Path, invoke: Invoke) -> None:
    """`get` prints a note as it was written: nothing in a user's file is changed or hidden from the user."""
    secret = invented()
    (notes / "wifi.md").write_text(f"# Wifi\n\nWIFI_PASSWORD={secret}\n", "utf-8")
    assert invoke("bootstrap", notes).exit_code == 0

    assert secret in invoke("get", "wifi.md").stdout
