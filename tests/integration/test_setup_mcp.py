"""``clawmem setup mcp``: what is ours in the client's file, and nothing else."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from clawmem.app.services.setup.mcp import SetUpMcp, as_toml, entry_of
from clawmem.ports.errors import ConfigError

Invoke = Callable[..., Result]

THEIRS = """{
\t"numStartups": 3,
\t"mcpServers": { "weather": {"command": "weather", "env": {"KEY": "secret"}} },
\t"projects": {}
}
"""
ENTRY = entry_of(["/opt/python", "-I", "-m", "clawmem", "mcp"])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / ".claude.json"


def servers_in(file: Path) -> Any:
    return json.loads(file.read_text("utf-8"))["mcpServers"]


def test_in_again_and_out(file: Path) -> None:
    file.write_text(THEIRS, "utf-8")

    assert SetUpMcp(file).install("clawmem", ENTRY).changed
    assert servers_in(file)["clawmem"] == ENTRY and "weather" in servers_in(file)
    assert not SetUpMcp(file).install("clawmem", ENTRY).changed
    moved = entry_of(["/new/clawmem", "mcp"])
    assert SetUpMcp(file).install("clawmem-files", moved).servers == ("clawmem", "clawmem-files")
    assert SetUpMcp(file).remove().servers == ()
    assert json.loads(file.read_text("utf-8")) == json.loads(THEIRS)
    assert file.with_name(".claude.json.before-clawmem").read_text("utf-8") == THEIRS


def test_what_is_not_ours_stays(file: Path) -> None:
    other = {"clawmem": {"command": "somebody-else", "args": ["serve"]}, "clawmem-x": {"url": "http://x"}}
    file.write_text(json.dumps({"mcpServers": other}), "utf-8")

    with pytest.raises(ConfigError, match="another server is called 'clawmem'"):
        SetUpMcp(file).install("clawmem", ENTRY)
    assert not SetUpMcp(file).remove().changed
    assert servers_in(file) == other


@pytest.mark.parametrize("text", ["{", "[]", '{"mcpServers": []}', '{"a": 1, "a": 2}'])
def test_a_file_that_cannot_be_edited(file: Path, text: str) -> None:
    file.write_text(text, "utf-8")

    with pytest.raises(ConfigError):
        SetUpMcp(file).install("clawmem", ENTRY)
    assert file.read_text("utf-8") == text


def test_the_command(invoke: Invoke, home: Path) -> None:
    (home / ".claude.json").write_text(THEIRS, "utf-8")

    shown = invoke("setup", "mcp", "--dry-run")
    assert "secret" not in shown.output and (home / ".claude.json").read_text("utf-8") == THEIRS
    assert invoke("setup", "mcp").exit_code == 0
    entry = servers_in(home / ".claude.json")["clawmem"]
    assert entry == json.loads(shown.output)["mcpServers"]["clawmem"]
    assert entry["args"][-3:] == ["-m", "clawmem", "mcp"]
    assert "nothing to change" in invoke("setup", "mcp").output
    assert json.loads(invoke("setup", "mcp", "--remove", "--json").output)["changed"]


def test_clients_whose_files_are_theirs_to_edit(invoke: Invoke, home: Path) -> None:
    codex = invoke("setup", "mcp", "--client", "codex", "--tools", "memory").output
    table = tomllib.loads(codex[codex.index("[mcp_servers") :])["mcp_servers"]["clawmem-memory"]
    assert table["args"][-3:] == ["mcp", "--tools", "memory"]
    for client in ("gemini", "cursor", "json"):
        told = json.loads(invoke("setup", "mcp", "--client", client, "--json").output)
        assert "clawmem" in json.loads(told["config"])["mcpServers"]
    assert invoke("setup", "mcp", "--client", "emacs").exit_code == 2
    assert not list(home.glob(".*.json"))


def test_a_path_that_wants_quotes() -> None:
    odd = entry_of(['C:\\Program Files\\"x"\\python', "mcp"])

    assert tomllib.loads(as_toml("clawmem", odd))["mcp_servers"]["clawmem"] == odd
