"""A session from its start over a compaction to its end, hook by hook: what it is told never comes back as its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import Invoke
from hook_process import Hook, transcript

from clawmem.adapters.sqlite.vault import open_vault
from clawmem.app.environment.private_files import state_folder
from clawmem.ports.records import Document
from clawmem.ports.sessions import session_key

OWN = "We'll keep invoices in a bucket for ten years."
AT_STOP = ("decision-extractor", "handoff-generator", "feedback-loop")
NOTE = (
    "---\ncontent_type: decision\n---\n# Sessions\n\nWe decided to move every session to Postgres in spring.\n\n"
    "We will not cache the price list at the edge any more.\n"
)
LESSON = (
    "---\ncontent_type: preference\n---\n# Formatter\n\n"
    "Never run the formatter over schema_v2.sql, because its checksum is compared.\n"
)


@pytest.fixture
def vault_file(notes: Path, invoke: Invoke, home: Path) -> Path:
    """A vault with two notes that say what a conversation would be captured for."""
    (notes / "decisions/sessions.md").write_text(NOTE, "utf-8")
    (notes / "decisions/formatter.md").write_text(LESSON, "utf-8")
    assert invoke("bootstrap", notes).exit_code == 0
    return home / ".cache/clawmem/index.sqlite"


def captured(vault_file: Path) -> dict[str, tuple[Document, str]]:
    """What machines have stored, by path, with its text."""
    vault = open_vault(str(vault_file), read_only=True)
    try:
        own = vault.documents.sources("_clawmem").values()
        return {one.path: (one, vault.documents.body(one.id) or "") for one in own if one.inactive is None}
    finally:
        vault.close()


def test_what_was_told_is_not_captured_back(vault_file: Path, hook: Hook, home: Path) -> None:
    """Surfaced, told at the start and before an edit, quoted by the assistant with and without its tags: no trace."""
    start = hook("session-bootstrap", "SessionStart", source="startup").context
    block = hook(
        "context-surfacing", "UserPromptSubmit", prompt="why did every session move to Postgres?"
    ).context
    lesson = hook("pretool-inject", "PreToolUse", tool_input={"file_path": "/app/schema_v2.sql"}).context
    assert "We decided to move every session to Postgres in spring." in block
    assert "Never run the formatter over schema_v2.sql" in lesson
    assert "Sessions" in start
    unwrapped = "\n".join(line for line in (block + lesson).splitlines() if not line.startswith("<"))
    said = transcript(
        home / "projects/5f0c.jsonl",
        ("why did every session move to Postgres?", f"{block}\n\nSo it says."),
        ("And the schema?", f"{lesson}\n\nI leave it alone."),
        ("Say it again.", unwrapped),
        ("And cached?", "As noted: we decided to move every session to Postgres in spring. We will not cache the price list at the edge any more."),
        (OWN, "Fine."),
    )  # fmt: skip

    for name in AT_STOP:
        hook(name, "Stop", transcript_path=str(said))

    kept = captured(vault_file)
    assert {one.title for one, _ in kept.values() if "observations" in one.path} == {OWN.rstrip(".")}
    [handoff] = [text for one, text in kept.values() if one.content_type == "handoff"]
    assert OWN in handoff
    for echo in ("every session to Postgres in spring", "price list", "formatter"):
        assert echo not in handoff
    assert not list((state_folder(vault_file) / "spool").iterdir())


def test_a_user_who_denies_what_was_told_is_heard(vault_file: Path, hook: Hook, home: Path) -> None:
    """Though most words are those that the session was told; so is another number, and no repetition."""
    prompt = "Did we decide to move every session to Postgres in spring?"
    assert "every session to Postgres" in hook("context-surfacing", "UserPromptSubmit", prompt=prompt).context
    denied = "We decided not to move every session to Postgres in spring."
    again = "OK, we decided to move every session to Postgres in spring."
    said = transcript(home / "projects/5f0c.jsonl", ("Hello.", "Hello."), (denied, "Fine."), (again, "Fine."))

    hook("decision-extractor", "Stop", transcript_path=str(said))

    assert {one.title for one, _ in captured(vault_file).values()} == {denied.rstrip(".")}


def test_a_session_is_not_told_what_it_said_itself(vault_file: Path, hook: Hook, home: Path) -> None:
    """Until its conversation is compacted; other sessions are. What it is told then is still its own."""
    said = transcript(home / "projects/5f0c.jsonl", ("Hello.", "Hello."), (OWN, "Fine."))
    conversation = {"transcript_path": str(said)}
    hook("decision-extractor", "Stop", **conversation)

    def told(prompt: str, **more: str) -> bool:
        answer = hook("context-surfacing", "UserPromptSubmit", prompt=prompt, **conversation, **more)
        return OWN in answer.context

    assert told("For how many years are invoices kept in the bucket?", session_id="77aa")
    assert not told("For how many years are invoices kept in the bucket?")
    state = said.parent / f"memory/precompact-state-{session_key('5f0c')}.md"
    for _ in range(2):
        hook("precompact-extract", "PreCompact", **conversation)
        assert f"## Key Decisions This Session\n\n- {OWN}" in state.read_text("utf-8")
        assert OWN in hook("postcompact-inject", "SessionStart", source="compact", **conversation).context
    assert told("For how many years are invoices kept in the bucket?")

    hook("handoff-generator", "Stop", **conversation)
    [handoff] = [text for one, text in captured(vault_file).values() if one.content_type == "handoff"]
    assert OWN in handoff


def test_the_summary_of_a_compaction_is_kept(vault_file: Path, hook: Hook, home: Path) -> None:
    """Once a session, renewed by the next one, without secrets; told when another session begins, and never answered."""
    said = transcript(home / "projects/5f0c.jsonl", ("Invoices?", OWN))
    secret = "password" + "=hunter2Xk93Lmq"
    told = {"transcript_path": str(said), "trigger": "auto"}

    for summary in ("The user asked for invoices.", f"Invoices go to a bucket; {secret} opens it."):
        hook("postcompact-capture", "PostCompact", compact_summary=summary, **told)

    [(path, (document, text))] = captured(vault_file).items()
    assert path.startswith("agent/handoffs/")
    assert path.endswith(f"-{session_key('5f0c')}-compacted.md")
    assert (document.content_type, document.confidence, document.revision_count) == ("handoff", 0.6, 2)
    assert "Invoices go to a bucket" in text
    assert "hunter2" not in text
    assert "Invoices go to a bucket" in hook("session-bootstrap", "SessionStart", source="startup").context


def test_a_compaction_that_nothing_was_saved_for(vault_file: Path, hook: Hook, home: Path) -> None:
    """The client's own summary, where it brings one, is what the vault is asked for."""
    told = {"source": "compact", "transcript_path": str(home / "projects/none.jsonl")}

    asked = hook(
        "postcompact-inject", "SessionStart", compact_summary="The formatter and schema_v2.sql", **told
    )
    alone = hook("postcompact-inject", "SessionStart", **told)

    assert "## From the vault" in asked.context
    assert "decisions/formatter.md" in asked.context
    assert "## From the vault" not in alone.context


def test_what_a_kill_left_behind(vault_file: Path, hook: Hook, home: Path) -> None:
    """A job that a killed hook had in hand is done by the next Stop of another session, once."""
    said = transcript(home / "projects/5f0c.jsonl", ("Hello.", "Hello."), (OWN, "Fine."))
    spool = state_folder(vault_file) / "spool"
    spool.mkdir(parents=True)
    about = {"session_id": "5f0c", "transcript_path": str(said), "cwd": "/"}
    left = {"hook": "decision-extractor", "event": about, "attempts": 1}
    (spool / "decision-extractor-1.taken").write_text(json.dumps(left))
    other = transcript(home / "projects/77aa.jsonl", ("Hello.", "Hello."))

    for _ in range(2):
        hook("feedback-loop", "Stop", transcript_path=str(other), session_id="77aa")

    [(document, _)] = captured(vault_file).values()
    assert (document.title, document.duplicate_count) == (OWN.rstrip("."), 1)
    assert not list(spool.iterdir())
