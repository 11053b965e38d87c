"""``clawmem setup mcp``: what is ours in the client's file, and nothing else."""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from client_files import install_server, remove_servers
from command_line import Invoke, write_file

from clawmem.app.services.maintenance.machine_checks import server_check
from clawmem.app.services.setup.hooks import entry_of
from clawmem.app.services.setup.settings_file import TOML, Document
from clawmem.ports.errors import ConfigError

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

    assert install_server(file, "clawmem", ENTRY).changed
    assert servers_in(file)["clawmem"] == ENTRY and "weather" in servers_in(file)
    assert not install_server(file, "clawmem", ENTRY).changed
    moved = entry_of(["/new/clawmem", "mcp"])
    install_server(file, "clawmem-files", moved)
    assert {"clawmem", "clawmem-files"} <= servers_in(file).keys()
    assert remove_servers(file).changed
    assert file.read_text("utf-8") == THEIRS
    assert not file.with_name(".claude.json.before-clawmem").exists()


def test_what_is_not_ours_stays(file: Path) -> None:
    other = {"clawmem": {"command": "somebody-else", "args": ["serve"]}, "clawmem-x": {"url": "http://x"}}
    file.write_text(json.dumps({"mcpServers": other}), "utf-8")

    with pytest.raises(ConfigError, match="another server is called 'clawmem'"):
        install_server(file, "clawmem", ENTRY)
    assert not remove_servers(file).changed
    assert servers_in(file) == other


def test_doctor_sees_what_is_offered_twice(file: Path, tmp_path: Path) -> None:
    """By the plugin and the settings, or under two names; other tools, and another vault's, are no second time."""
    client, project = tmp_path / ".claude", tmp_path / "project"
    check = server_check(client, file, project)
    assert check().ok and "setup mcp" in check().detail
    entry = entry_of([sys.executable, "-m", "clawmem", "mcp"])
    install_server(file, "clawmem", entry)
    install_server(file, "clawmem-files", {**entry, "args": [*entry["args"], "--tools", "files"]})
    install_server(project / ".mcp.json", "clawmem", {**entry, "command": "clawmem"})  # in the place of it
    assert check().ok

    install_server(project / ".mcp.json", "clawmem-2", entry)
    assert not check().ok and "clawmem and clawmem-2" in check().detail
    assert server_check(client, file)().ok
    write_file(client / "settings.json", '{"enabledPlugins": {"clawmem@market": true}}')
    beside = server_check(client, file)()
    assert not beside.ok and "the clawmem plugin and clawmem" in beside.detail
    assert "clawmem setup mcp --remove" in beside.way_out


def test_doctor_names_a_server_that_is_gone(file: Path) -> None:
    install_server(file, "clawmem", ENTRY)

    found = server_check(file.parent / ".claude", file)()

    assert not found.ok and "/opt/python" in found.detail


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
    shown = invoke("setup", "mcp", "--client", "codex", "--tools", "files")
    codex = shown.output
    assert shown.stdout.startswith("[mcp_servers.clawmem-files]\n")
    assert "~/.codex/config.toml. Put this in:" in shown.stderr
    assert invoke("setup", "mcp", "--client", "codex", "--remove").stdout == ""
    table = tomllib.loads(codex[codex.index("[mcp_servers") :])["mcp_servers"]["clawmem-files"]
    assert table["args"][-3:] == ["mcp", "--tools", "files"]
    for client in ("gemini", "cursor", "json"):
        told = json.loads(invoke("setup", "mcp", "--client", client, "--json").output)
        assert "clawmem" in json.loads(told["config"])["mcpServers"]
    assert invoke("setup", "mcp", "--client", "emacs").exit_code == 2
    assert not list(home.glob(".*.json"))


def test_a_path_that_wants_quotes() -> None:
    odd = entry_of(['C:\\Program Files\\"x"\\python', "mcp"])

    document = Document(TOML, "")
    document.put(("mcp_servers", "clawmem"), odd)

    assert tomllib.loads(document.text)["mcp_servers"]["clawmem"] == odd


def test_codex_is_given_the_environment_that_it_drops(
    invoke: Invoke, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Codex starts servers in a clean environment, and does not wait for one that is not required."""
    vault = home / 'va"ult.sqlite'
    given = {"INDEX_PATH": str(vault), "CLAWMEM_PROFILE": "deep", "XDG_CONFIG_HOME": str(home / "config")}
    withheld = {
        "CLAWMEM_EMBED_API_KEY": "k",
        "CLAWMEM_API_TOKEN": "t",
        "CLAWMEM_SESSION_ID": "s",
        "EDITOR": "ed",
    }
    for name, value in {**given, **withheld}.items():
        monkeypatch.setenv(name, value)

    shown = invoke("setup", "mcp", "--client", "codex").stdout

    table = tomllib.loads(shown)["mcp_servers"]["clawmem"]
    assert table["required"] is True
    assert {name: table["env"].get(name) for name in given} == given
    assert not table["env"].keys() & withheld.keys()
