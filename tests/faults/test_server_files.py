"""A server's file with anything in it: questions and hooks are answered as if there were no server."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from clawmem.app.client.request import ask as ask_server
from clawmem.app.client.request import result_from_server
from clawmem.app.environment.places import holder_id
from clawmem.app.version import VERSION


def announcement(vault: Path, **changed: object) -> str:
    """What a server of *vault* would write, with other values."""
    sound = {
        "pid": 1,
        "holder": holder_id(),
        "host": "127.0.0.1",
        "port": 1,
        "version": VERSION,
        "vault": str(vault.resolve()),
        "variables": "",
        "places": {"HOME": str(vault.parent)},
    }
    return json.dumps({**sound, **changed})


WRONG: list[dict[str, object]] = [
    {"port": "x"},
    {"port": -1},
    {"port": 70_000},
    {"port": 1.5},
    {"port": None},
    {"pid": "x"},
    {"pid": 0},
    {"pid": 10**30},
    {"host": None},
    {"host": "a\r\nX-Other: b"},
    {"host": "a\rX-Other: b"},
    {"host": "a\0b"},
    {"host": "\udc80"},
    {"holder": "here:²:x"},
    {"holder": f"here:{10**40}:x"},
    {"holder": 1},
    {"version": 3},
    {"places": {"HOME": "elsewhere"}},
    {"places": []},
    {"unknown": "1"},
]


@pytest.mark.parametrize("changed", WRONG, ids=lambda changed: repr(changed)[:40])
def test_anything_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: dict[str, object]) -> None:
    """Whoever would ask the server does without it, and nothing is raised."""
    vault = tmp_path / "vault.sqlite"
    vault.write_bytes(b"")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("INDEX_PATH", str(vault))
    whole = announcement(vault, **changed)
    for content in (whole, whole[:40], f"[{whole}]", "\n" * 70_000, '{"pid": 1}'):
        Path(f"{vault}.server").write_bytes(content.encode("utf-8", "surrogateescape"))

        assert ask_server("context-surfacing", b"{}", dict(os.environ)) == ""
        assert result_from_server("search", {"query": "x"}, None) is None


@pytest.mark.parametrize("answer", ["", "[]", "nothing", '{"refused": null}', "[" * 60_000])
def test_an_answer_of_somebody_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    """What listens at the port is another program: the question is answered without it."""
    vault = tmp_path / "vault.sqlite"
    vault.write_bytes(b"")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("INDEX_PATH", str(vault))
    Path(f"{vault}.server").write_text(announcement(vault), "utf-8")
    monkeypatch.setattr("clawmem.app.client.request.posted", lambda *given, **more: answer)

    assert result_from_server("search", {"query": "x"}, None) is None
