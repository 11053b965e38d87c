"""``clawmem setup CLIENT``: settings as people have them, connected and disconnected again."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path
from typing import Any

import pytest
from client_files import COMMENTED, FILES, JSON5, TOML, YAML_TEXT
from command_line import Invoke, ask_json, read_json, write_file

from clawmem.app.services.setup.parts import CLIENT_TITLES
from clawmem.app.services.setup.settings_file import JSON5 as JSON5_FORMAT
from clawmem.app.services.setup.settings_file import Document


@pytest.fixture
def home(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home whose configuration folder is the usual one."""
    for name in "XDG_CONFIG_HOME XDG_CACHE_HOME CODEX_HOME HERMES_HOME OPENCLAW_STATE_DIR APPDATA".split():
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}")
    return home


@pytest.fixture(autouse=True)
def program(home: Path) -> Path:
    """A program ``clawmem`` on the PATH."""
    file = home / "bin" / "clawmem"
    write_file(file, "#!/bin/sh\n")
    file.chmod(0o755)
    return file


def read_settings(text: str) -> dict[str, Any]:
    """Return the values of the JSON5 *text*."""
    return Document(JSON5_FORMAT, text).value


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below *folder* that is not of clawmem itself."""
    found = (one for one in folder.rglob("*") if one.is_file() and not one.is_symlink())
    return {
        str(one.relative_to(folder)): one.read_bytes()
        for one in found
        if not {"bin", "clawmem"} & set(one.relative_to(folder).parts[:-1]) and "cache" not in str(one)
    }


def test_every_client_has_a_case() -> None:
    """A new client is tested."""
    assert FILES.keys() == CLIENT_TITLES.keys()


@pytest.mark.parametrize("client", FILES)
@pytest.mark.parametrize("has_files", [True, False])
def test_connected_once_and_taken_out(invoke: Invoke, home: Path, client: str, has_files: bool) -> None:
    """A second time changes nothing; afterwards every byte is as it was, and no file of ours is left."""
    for name, text in FILES[client].items() if has_files else ():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(text.encode())
    before = contents(home)

    shown = invoke("setup", client, "--dry-run")
    assert shown.exit_code == 0 and contents(home) == before
    done = ask_json(invoke, "setup", client, "--yes")
    connected = contents(home)
    again = ask_json(invoke, "setup", client, "--yes")

    assert done["changed"] and not again["changed"]
    assert contents(home) == connected
    for one in done["files"]:
        assert one["file"] in shown.output
    assert "secret" not in shown.output + str(done)
    assert read_json(invoke("setup", client, "--remove", "--json"))["changed"]
    assert contents(home) == before
    assert not any(one.is_symlink() or one.name in ("plugin", "plugins") for one in home.rglob("*"))
    assert has_files or not any(
        (home / name).parent.exists() for name in FILES[client] if name.count("/") == 1
    )
    assert (home / ".config" / "clawmem" / "config.yaml").read_text() == "{}\n"


def test_removal_of_the_last_agent_removes_the_choice_of_a_server(invoke: Invoke, home: Path) -> None:
    """Other settings stay."""
    file = home / ".config" / "clawmem" / "config.yaml"
    write_file(file, "# mine\nembedder: static\n")
    invoke("setup", "cursor")
    invoke("setup", "codex")

    invoke("setup", "cursor", "--remove")
    assert "server:" in file.read_text()
    assert "no server any more" in invoke("setup", "codex", "--remove").stderr
    assert file.read_text() == "# mine\nembedder: static\n"


def test_the_settings_of_openclaw_are_json5(invoke: Invoke, home: Path) -> None:
    """Also after another edit in the meantime, every byte of the user's stays."""
    file = home / ".openclaw" / "openclaw.json"
    write_file(file, JSON5)

    assert "plugins.slots.memory: memory-core → clawmem" in invoke("setup", "openclaw", "--yes").output
    text = file.read_text()
    plugins = read_settings(text)["plugins"]
    assert plugins["slots"] == {"memory": "clawmem"} and plugins["load"]["paths"][0] == "/opt/other"
    assert "gateway: { port: 0x4951, 'mode': 'local', greeting: 'it\\'s" in text
    file.write_text(text.replace("0x4951", "0x4952"))
    invoke("setup", "openclaw", "--remove")

    assert file.read_text() == JSON5.replace("0x4951", "0x4952")


def test_what_others_wrote_stays(invoke: Invoke, home: Path) -> None:
    """Comments, other servers and hooks, and what is changed between connecting and removing."""
    file = home / ".gemini" / "settings.json"
    write_file(file, COMMENTED)
    assert invoke("setup", "gemini").exit_code == 0
    text = file.read_text()
    settings = read_settings(text)
    assert settings["mcpServers"]["weather"]["env"] == {"KEY": "secret"}
    assert settings["hooks"]["BeforeAgent"][0]["hooks"] == [{"type": "command", "command": "date"}]
    [ours] = settings["hooks"]["BeforeAgent"][1]["hooks"]
    assert ours["timeout"] == 8000 and ours["command"].endswith("hook BeforeAgent")
    assert "matcher" not in settings["hooks"]["SessionStart"][0]

    file.write_text(text.replace('"dark"', '"light"'))
    invoke("setup", "gemini", "--remove")

    assert (
        file.read_text().split()
        == COMMENTED.replace('"dark"', '"light"').replace("} ] } ]", "} ] }]").split()
    )


def test_codex(invoke: Invoke, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Vault and folders are passed on explicitly, to the server and to the hooks."""
    vault, config = home / "my vault.sqlite", home / "conf"
    monkeypatch.setenv("INDEX_PATH", str(vault))
    monkeypatch.setenv("CLAWMEM_CONFIG_DIR", str(config))
    write_file(home / ".codex" / "config.toml", TOML)

    invoke("setup", "codex")

    text = (home / ".codex" / "config.toml").read_text()
    entry = tomllib.loads(text)["mcp_servers"]["clawmem"]
    assert text.startswith(TOML.partition("[mcp_servers")[0]) and TOML.partition("[projects")[2] in text
    assert entry["required"] is True
    assert entry["env"] == {**entry["env"], "INDEX_PATH": str(vault), "CLAWMEM_CONFIG_DIR": str(config)}
    hooks = json.loads((home / ".codex" / "hooks.json").read_text())["hooks"]
    [handler] = hooks["UserPromptSubmit"][0]["hooks"]
    assert f"--vault '{vault}' --env CLAWMEM_CONFIG_DIR={config}" in handler["command"]
    file = home / ".codex" / "config.toml"
    file.write_text(text.replace("cheap", "small"))
    invoke("setup", "codex", "--remove")
    assert file.read_text() == TOML.replace("cheap", "small")


def test_openclaw_is_permitted_to_read_conversations_on_request(invoke: Invoke, home: Path) -> None:
    """Without the permission it is linked, and what is missing is said; removal puts the slot back."""
    file = home / ".openclaw" / "openclaw.json"
    write_file(file, COMMENTED)

    dry = invoke("setup", "openclaw", "--dry-run")
    told = invoke("setup", "openclaw")

    assert "allowConversationAccess" not in dry.output and "entries.clawmem.enabled: true" in dry.output
    assert "plugins.slots.memory: memory-core → clawmem" in dry.output
    plugins = read_settings(file.read_text())["plugins"]
    assert "setup openclaw --yes" in told.stderr and "hooks" not in plugins["entries"]["clawmem"]
    assert plugins["slots"]["memory"] == "clawmem"
    assert plugins["load"]["paths"][0] == "/opt/other"
    assert (Path(plugins["load"]["paths"][1]) / "openclaw.plugin.json").is_file()
    invoke("setup", "openclaw", "--yes")
    entry = read_settings(file.read_text())["plugins"]["entries"]["clawmem"]
    assert entry["hooks"] == {"allowConversationAccess": True}
    assert "Permit it" not in invoke("setup", "openclaw").stderr


def test_hermes(invoke: Invoke, home: Path) -> None:
    """The provider is selected in place, and its folder is linked."""
    file = home / ".hermes" / "config.yaml"
    write_file(file, YAML_TEXT)

    assert "memory.provider: mem0 → clawmem" in invoke("setup", "hermes", "--dry-run").output
    assert "hermes memory status. Undo:" in invoke("setup", "hermes", "--profile", "speed").output

    assert file.read_text() == YAML_TEXT.replace("mem0", "clawmem").replace("    ", "  ")
    assert (home / ".hermes" / "plugins" / "clawmem" / "plugin.yaml").is_file()
    assert json.loads((home / ".hermes" / "clawmem.json").read_text())["profile"] == "speed"


@pytest.mark.parametrize(
    ("client", "name", "text", "place"),
    [
        ("openclaw", ".openclaw/openclaw.json", "{\n  a: 'x,\n}", "line 2, column 6"),
        ("gemini", ".gemini/settings.json", '{\n  "a": 1,,\n}', "line 2, column 9"),
        ("gemini", ".gemini/settings.json", '{"hooks": {"BeforeAgent": "date"}}', "hooks.BeforeAgent must be a list"),
        ("cursor", ".cursor/mcp.json", '{\n // mine\n "mcpServers": {}}', "line 2"),
        ("codex", ".codex/config.toml", 'model = "x"\n[mcp', "line 2"),
        ("codex", ".codex/config.toml", "mcp_servers = 3\n", "mcp_servers"),
        ("hermes", ".hermes/config.yaml", "a: 1\nb: [\n", "line 3"),
        ("hermes", ".hermes/config.yaml", "memory: off\n", "memory is no mapping"),
        ("vscode", ".config/Code/User/mcp.json", '{"servers": {"clawmem": {"command": "other"}}}', "another server"),
        ("opencode", ".config/opencode/plugin/clawmem.js", "// mine", "is not ours"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_edited(
    invoke: Invoke, home: Path, client: str, name: str, text: str, place: str
) -> None:
    """Refused with its name and the place; no file of the client is touched."""
    (home / name).parent.mkdir(parents=True)
    (home / name).write_text(text)
    before = contents(home)

    done = invoke("setup", client)

    assert done.exit_code == 4
    assert name.rpartition("/")[2] in done.stderr and place in done.stderr
    assert contents(home) == before


def test_the_settings_of_a_project(invoke: Invoke, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Below the current folder; a client without such settings refuses."""
    (home / "project").mkdir()
    monkeypatch.chdir(home / "project")

    for client in ("claude-code", "codex", "gemini", "opencode", "vscode", "cursor", "zed"):
        assert invoke("setup", client, "--project").exit_code == 0
    made = contents(home / "project")
    assert "server:" in (home / ".config" / "clawmem" / "config.yaml").read_text()
    for client in ("claude-code", "codex", "gemini", "opencode", "vscode", "cursor", "zed"):
        assert invoke("setup", client, "--project", "--remove").exit_code == 0

    assert {".claude/settings.local.json", ".mcp.json", ".vscode/mcp.json", "opencode.json"} < made.keys()
    assert not contents(home / "project")
    assert invoke("setup", "windsurf", "--project").exit_code == 4


def test_installed_agents_are_found(invoke: Invoke, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By their folder or program; without a terminal they are listed with the command, and ``--yes`` connects them."""
    monkeypatch.setenv("PATH", str(home / "bin"))
    assert "No agent was found" in invoke("setup").output
    (home / ".gemini").mkdir()
    (home / "bin" / "codex").write_text("#!/bin/sh\n")
    (home / "bin" / "codex").chmod(0o755)

    told = invoke("setup")

    assert "Gemini CLI would be changed" in told.output and "clawmem setup codex" in told.output
    assert not list((home / ".gemini").iterdir())
    assert ask_json(invoke, "setup")["found"] == ["codex", "gemini"]
    before = contents(home)
    shown = invoke("setup", "--yes", "--dry-run").output
    assert "Codex would be changed" in shown and "hooks.json" in shown and "settings.json" in shown
    planned = ask_json(invoke, "setup", "--dry-run")
    assert [(one["client"], one["changed"]) for one in planned["clients"]] == [
        ("codex", True),
        ("gemini", True),
    ]
    refused = invoke("setup", "--dry-run", "codex")
    assert refused.exit_code == 2 and "clawmem setup codex --dry-run" in refused.stderr
    assert contents(home) == before
    assert invoke("setup", "--yes").exit_code == 0
    assert "Codex: connected." in invoke("setup").output


def test_removal_without_a_name_removes_nothing(invoke: Invoke, home: Path) -> None:
    """It lists what is connected; a name after the option connects nothing."""
    assert "No agent is connected" in invoke("setup", "--remove").stderr
    invoke("setup", "cursor")
    before = contents(home)

    for words, told in (((), "cursor --remove"), (("codex",), "codex --remove")):
        done = invoke("setup", "--remove", *words)
        assert done.exit_code == 2 and f"Connected: cursor. Remove one: clawmem setup {told}" in done.stderr
    assert contents(home) == before
    (home / ".cursor" / "mcp.json").unlink()
    (home / ".cursor" / "mcp.json").mkdir()
    unknown = invoke("setup", "--remove").stderr
    assert "mcp.json cannot be read" in unknown and "No agent" not in unknown


@pytest.mark.parametrize("words", [("setup", "all"), ("beads", "list"), ("blorp",)])
def test_an_unknown_command_names_the_help_of_its_group(invoke: Invoke, words: tuple[str, ...]) -> None:
    done = invoke(*words)

    assert done.exit_code == 2
    assert f"Run: {' '.join(['clawmem', *words[:-1]])} --help" in done.stderr


def test_a_client_that_cannot_be_connected_does_not_stop_the_others(invoke: Invoke, home: Path) -> None:
    """Each is reported, also in JSON, and the exit code is not 0."""
    (home / ".codex").mkdir()
    (home / ".cursor" / "mcp.json.before-clawmem").mkdir(parents=True)  # the backup cannot be written
    (home / ".cursor" / "mcp.json").write_text("{}")
    (home / ".gemini" / "settings.json").mkdir(parents=True)  # cannot be read
    (home / ".codeium" / "windsurf").mkdir(parents=True)

    done = invoke("setup", "--yes", "--json")

    assert done.exit_code == 4
    told = {one["client"]: one for one in json.loads(done.stdout)["clients"]}
    assert told["codex"]["changed"] and told["windsurf"]["changed"]
    assert "mcp.json cannot be written" in told["cursor"]["error"]
    assert "cannot be read" in told["gemini"]["error"]
    assert "clawmem" in (home / ".codeium" / "windsurf" / "mcp_config.json").read_text()
    again = invoke("setup", "--yes")
    assert again.exit_code == 4
    assert "Cursor: not connected. " in again.output and "Windsurf: connected." in again.output
    assert invoke("setup").exit_code == 0
    for client in ("codex", "windsurf"):
        invoke("setup", client, "--remove")
    assert (home / ".config" / "clawmem" / "config.yaml").read_text() == "{}\n"


@pytest.mark.parametrize("command", [("cursor",), ("hooks",), ("--yes",)])
@pytest.mark.parametrize("config", ["server: [\n", "collections: 3\n"])
def test_a_broken_config_file_is_noticed_first(
    invoke: Invoke, home: Path, command: tuple[str, ...], config: str
) -> None:
    """Nothing is written to a client's file then."""
    (home / ".cursor").mkdir()
    file = home / ".config" / "clawmem" / "config.yaml"
    write_file(file, config)

    done = invoke("setup", *command)

    assert done.exit_code == 4 and "config.yaml" in done.output
    assert not contents(home)


def test_a_check_starts_what_is_configured(invoke: Invoke, home: Path, notes: Path) -> None:
    """The very commands of the settings; what is gone, silent or prints something else is named with the remedy."""
    assert "No agent is connected" in invoke("setup", "--check").output
    write_file(home / ".cursor" / "mcp.json", "{ broken")
    told = invoke("setup", "--check")
    assert told.exit_code == 1
    assert (
        "??    Cursor: whether it is connected is unknown, because its file cannot be read: " in told.output
    )
    (home / ".cursor" / "mcp.json").unlink()
    invoke("setup", "gemini")
    empty = invoke("setup", "--check")
    assert empty.exit_code == 1
    assert "there is no vault at" in empty.output and "Run: clawmem bootstrap" in empty.output
    assert "setup gemini" not in empty.output
    invoke("bootstrap", notes)
    assert "ok    Gemini CLI: hooks answer" in invoke("setup", "--check").output
    file = home / ".gemini" / "settings.json"
    working = file.read_text()
    [ours] = json.loads(working)["hooks"]["BeforeAgent"][0]["hooks"]

    for command, told, remedy in (
        ("/gone/clawmem hook BeforeAgent", "127", "clawmem setup gemini"),
        ("echo clawmem hook Stop", "instead of a JSON object", "clawmem setup gemini"),
        (
            "echo '{\"continue\": true}' # clawmem hook Stop",
            "hooks add nothing to questions",
            "clawmem query",
        ),
        (
            ours["command"].replace(" hook", " hook --vault /gone/x.sqlite"),
            "no vault at /gone/x.sqlite",
            "bootstrap",
        ),
    ):
        settings = json.loads(working)
        settings["hooks"]["BeforeAgent"][0]["hooks"][0]["command"] = command.replace("Stop", "BeforeAgent")
        file.write_text(json.dumps(settings))
        done = invoke("setup", "--check")
        assert done.exit_code == 1
        assert "FAIL  Gemini CLI" in done.output and told in done.output
        assert remedy in done.output


def test_a_check_names_missing_and_doubled_hooks(invoke: Invoke, home: Path) -> None:
    """The client would say nothing about either."""
    invoke("setup", "gemini")
    assert "lacks" not in invoke("setup", "--check").output
    file = home / ".gemini" / "settings.json"
    settings = json.loads(file.read_text())
    del settings["hooks"]["AfterAgent"], settings["hooks"]["BeforeAgent"]
    settings["hooks"]["PreCompress"] *= 2
    file.write_text(json.dumps(settings))

    checked = " ".join(invoke("setup", "--check").output.split())

    assert "has precompact-extract more than once and lacks context-surfacing, decision-extractor" in checked
    assert "clawmem setup gemini" in checked
    invoke("setup", "gemini")
    assert "lacks" not in invoke("setup", "--check").output


def test_a_file_of_another_shape_stops_no_other_client(invoke: Invoke, home: Path) -> None:
    """Gemini is removed, and the check names the file of Cursor."""
    for folder, text in ((".gemini", "{}"), (".cursor", '{"mcpServers": []}')):
        write_file(home / folder / ("settings.json" if folder == ".gemini" else "mcp.json"), text)
    assert invoke("setup", "gemini").exit_code == 0
    removed = invoke("setup", "gemini", "--remove")
    checked = invoke("setup", "--check")

    assert removed.exit_code == 0, removed.output
    assert (home / ".gemini" / "settings.json").read_text("utf-8") == "{}"
    assert "mcp.json: 'mcpServers' is no object" in " ".join(checked.output.split())
