"""``clawmem setup``: settings as people have them, connected, checked and disconnected again."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import tomllib
from concurrent.futures import ThreadPoolExecutor
from difflib import unified_diff
from pathlib import Path
from typing import Any

import pytest
from client_files import COMMENTED, FILES, JSON5, SOMEBODY, TOML, YAML_TEXT
from command_line import Invoke, ask_json, write_file
from command_process import Run

from clawmem.adapters.clients import installed
from clawmem.adapters.clients.entries import hook_event
from clawmem.adapters.clients.formats import JSON5 as JSON5_FORMAT
from clawmem.adapters.clients.installed import AGENTS, BACKUP, INTEGRATIONS

OLD_ENTRY = "[mcp_servers.clawmem]\ncommand = 'python'\nargs = ['-P', '-m', 'clawmem', 'mcp']\n"
APART = "[tui]\nb = 1 # mine\n[mcp_servers.x.env]\nC = 1\n"
PLUGIN = {"enabledPlugins": {"clawmem@market": True}}


@pytest.fixture
def home(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home whose configuration folder is the usual one, with a program ``clawmem`` and no agent."""
    folders = "XDG_CONFIG_HOME XDG_CACHE_HOME CODEX_HOME HERMES_HOME OPENCLAW_STATE_DIR GEMINI_CLI_HOME"
    for name in folders.split():
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", f"{home / 'bin'}{os.pathsep}/usr/bin{os.pathsep}/bin")
    write_file(home / "bin" / "clawmem", "#!/bin/sh\n").chmod(0o755)
    return home


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below *folder* that is not of clawmem itself."""
    files = [file for file in folder.rglob("*") if file.is_file() and not file.is_symlink()]
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in files
        if not {"bin", "clawmem"} & set(file.relative_to(folder).parts[:-1]) and "cache" not in str(file)
    }


def handlers_in(settings: Path) -> dict[str, list[Any]]:
    hooks = json.loads(settings.read_text("utf-8")).get("hooks", {})
    handlers = {
        event: [handler for group in groups for handler in group["hooks"] if hook_event(handler)]
        for event, groups in hooks.items()
    }
    return {event: found for event, found in handlers.items() if found}


def test_every_agent_has_a_case() -> None:
    assert FILES.keys() == AGENTS.keys()


@pytest.mark.parametrize("agent", FILES)
@pytest.mark.parametrize("layout", ["missing", "plain", "windows"])
def test_connected_once_and_taken_out(invoke: Invoke, home: Path, agent: str, layout: str) -> None:
    """A second time changes nothing; afterwards the files of others are as they were, and nothing is ours."""
    for name, text in FILES[agent].items() if layout != "missing" else ():
        text = text if layout == "plain" else "\ufeff" + text.replace("\n", "\r\n")
        write_file(home / name, "").write_bytes(text.encode())
    before = contents(home)

    shown = invoke("setup", agent, "--dry-run")
    assert shown.exit_code == 0 and contents(home) == before
    done = ask_json(invoke, "setup", agent, "--yes")
    connected = contents(home)
    again = ask_json(invoke, "setup", agent, "--yes")

    assert done["changed"] and not again["changed"]
    assert contents(home) == connected
    for name in before:
        assert connected[name].startswith(b"\xef\xbb\xbf") is (layout == "windows")
        ends = connected[name].count(b"\n") if b"\r" in before[name] else 0
        assert connected[name].count(b"\r\n") == ends
    assert all(file["file"] in shown.output for file in done["files"])
    assert "secret" not in shown.output
    assert ask_json(invoke, "setup", agent, "--remove")["changed"]
    assert contents(home) == before
    assert not any(file.is_symlink() for file in home.rglob("*"))


def test_hooks_of_claude_code(run: Run, settings: Path, environ: dict[str, str], home: Path) -> None:
    """One entry an event, as a program and arguments; others stay, and the entry answers in a project full of traps."""
    done = run("setup", "hooks", "--with", "session-bootstrap")

    assert done.returncode == 0, done.stderr
    after, before = json.loads(settings.read_text("utf-8")), json.loads(SOMEBODY)
    assert {**after, "hooks": 0} == {**before, "hooks": 0}
    assert after["hooks"]["PostToolUse"] == before["hooks"]["PostToolUse"]
    assert after["hooks"]["Stop"][1:] == before["hooks"]["Stop"]
    arguments = {
        event: (handler["args"][handler["args"].index("hook") + 1 :], handler["timeout"])
        for event, [handler] in handlers_in(settings).items()
    }
    assert arguments == {
        "UserPromptSubmit": (["UserPromptSubmit"], 8),
        "SessionStart": (["SessionStart", "--with", "session-bootstrap"], 15),
        "PreCompact": (["PreCompact"], 5),
        "PostCompact": (["PostCompact"], 10),
        "Stop": (["Stop"], 90),
        "SessionEnd": (["SessionEnd"], 5),
        "PostToolUseFailure": (["PostToolUseFailure"], 3),
        "SubagentStart": (["SubagentStart"], 5),
    }
    assert after["hooks"]["SessionStart"][0]["matcher"] == "compact|startup|resume|clear"
    (home / "json.py").write_text("raise SystemExit(2)")
    [handler] = handlers_in(settings)["UserPromptSubmit"]
    answer = subprocess.run(
        [handler["command"], *handler["args"]],
        check=True, input="{}", capture_output=True, text=True, cwd=home, env=environ,
    )  # fmt: skip
    assert json.loads(answer.stdout)["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"
    assert not (home / ".claude.json").exists()


def test_options_that_were_installed_stay(invoke: Invoke, home: Path) -> None:
    """Profile, vault and optional hooks, unless others are given; entries of an older form are replaced."""
    settings = home / ".claude" / "settings.json"
    old = {
        "type": "command",
        "command": "/old/clawmem hook decision-extractor --vault /v.sqlite",
        "timeout": 10,
    }
    neighbours = [{"command": text} for text in ("my-clawmem-notifier", "say done; clawmem hook Stop")]
    write_file(settings, json.dumps({"hooks": {"Stop": [{"hooks": [old, *neighbours]}], "Odd": []}}))

    invoke("setup", "hooks", "--profile", "deep", "--with", "pretool-inject,staleness-check")
    invoke("setup", "hooks")

    hooks = json.loads(settings.read_text("utf-8"))["hooks"]
    assert hooks["Stop"][1]["hooks"] == neighbours
    ours = {event: " ".join(handler["args"]) for event, [handler] in handlers_in(settings).items()}
    assert ours["UserPromptSubmit"].endswith("hook UserPromptSubmit --vault /v.sqlite --profile deep")
    assert ours["PreToolUse"].endswith("--vault /v.sqlite --with pretool-inject")
    assert ours["SessionStart"].endswith("--with staleness-check")
    assert ours["Stop"].endswith("hook Stop --vault /v.sqlite")
    invoke("setup", "hooks", "--profile", "speed")
    assert handlers_in(settings)["UserPromptSubmit"][0]["args"][-1] == "speed"
    assert invoke("setup", "hooks", "--with", "feedback-loop").exit_code == 2
    assert invoke("setup", "hooks", "--profile", "fast").exit_code == 2


def test_the_server_of_claude_code(invoke: Invoke, home: Path) -> None:
    """One of another program that has the name is not replaced; other tools are a server of their own."""
    file = write_file(home / ".claude.json", '{"mcpServers": {"clawmem": {"command": "somebody-else"}}}')
    refused = invoke("setup", "mcp")
    assert refused.exit_code == 4 and "another server is called 'clawmem'" in refused.stderr
    file.write_text('{"projects": {}}')

    invoke("setup", "mcp")
    invoke("--vault", "work.sqlite", "setup", "mcp", "--tools", "files")
    invoke("setup", "mcp", "--tools", "all")
    invoke("setup", "mcp")

    servers = json.loads(file.read_text())["mcpServers"]
    assert servers["clawmem"]["args"][-4:] == ["clawmem", "mcp", "--tools", "all"]
    vault = str((home / "work.sqlite").resolve())
    assert servers["clawmem-files"]["args"][-5:] == ["mcp", "--vault", vault, "--tools", "files"]
    assert not (home / ".claude").exists()
    (home / "other").mkdir()
    invoke("--vault", "other/work.sqlite", "setup", "claude-code")
    invoke("setup", "claude-code")
    vault = str((home / "other" / "work.sqlite").resolve())
    assert json.loads(file.read_text())["mcpServers"]["clawmem"]["args"][-4:-2] == ["--vault", vault]
    assert handlers_in(home / ".claude" / "settings.json")["Stop"][0]["args"][-2:] == ["--vault", vault]
    invoke("setup", "claude-code", "--remove")
    assert json.loads(file.read_text()) == {"projects": {}}


def test_variables_are_passed_on(invoke: Invoke, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Vault, folders and settings, because agents start in a clean environment; credentials are not."""
    vault, config = home / "my vault.sqlite", home / "conf"
    passed = {"INDEX_PATH": str(vault), "CLAWMEM_CONFIG_DIR": str(config), "CLAWMEM_PROFILE": "deep"}
    for name, value in {**passed, "CLAWMEM_EMBED_API_KEY": "k", "CLAWMEM_SESSION_ID": "s"}.items():
        monkeypatch.setenv(name, value)
    file = write_file(home / ".codex" / "config.toml", TOML)

    assert "not found here" not in invoke("setup", "codex").stderr

    assert "Hermes was not found here" in invoke("setup", "hermes", "--dry-run").stderr
    text = file.read_text()
    entry = tomllib.loads(text)["mcp_servers"]["clawmem"]
    assert text.startswith(TOML.partition("[projects")[0].rstrip())
    assert entry["required"] is True and entry["env"] == passed
    assert not ask_json(invoke, "setup", "codex")["changed"]
    [handler] = handlers_in(home / ".codex" / "hooks.json")["UserPromptSubmit"]
    assert f"--vault '{vault}' --env CLAWMEM_CONFIG_DIR={config}" in handler["command"]


def test_replaced_values_are_shown_and_set_back(invoke: Invoke, home: Path) -> None:
    """Also after other changes in the meantime; OpenClaw permits access to conversations on request alone."""
    file = write_file(home / ".openclaw" / "openclaw.json", JSON5)

    shown = invoke("setup", "openclaw")
    assert "lines added." in shown.output and "'memory-core'" in shown.output
    assert '"slots"' not in shown.output
    assert f"kept as {file}.before-clawmem" in shown.output
    text = file.read_text()
    plugins = JSON5_FORMAT.parse(text)["plugins"]
    assert plugins["slots"] == {"memory": "clawmem"} and plugins["load"]["paths"][1:] == ["/opt/other"]
    assert (Path(plugins["load"]["paths"][0]) / "openclaw.plugin.json").is_file()
    assert "allowConversationAccess" not in text and "gateway: { port: 0x4951, 'mode': 'local'" in text
    invoke("setup", "openclaw", "--yes")
    assert JSON5_FORMAT.parse(file.read_text())["plugins"]["entries"]["clawmem"]["hooks"]
    file.write_text(file.read_text().replace("0x4951", "0x4952"))
    invoke("setup", "openclaw", "--remove")

    expected = JSON5.replace("0x4951", "0x4952")
    assert JSON5_FORMAT.parse(file.read_text()) == JSON5_FORMAT.parse(expected)
    assert "// of the gateway" in file.read_text() and "greeting: 'it\\'s" in file.read_text()
    assert not Path(f"{file}.before-clawmem").exists()


@pytest.mark.parametrize(
    ("agent", "name", "before", "written", "edited", "after"),
    [
        ("gemini", ".gemini/settings.json", '{"a": 1 // mine\n}', "// mine", "// new", '{"a": 1 // new\n}'),
        ("claude-code", ".claude.json", '{"a": "\u2028\\ud83d\\ude00", "hooks": {}}', "", "", None),
        ("claude-code", ".claude.json", '{"mcpServers": {"x": {"command": "mcp", "args": ["run", "clawmem.py"]}}}', "", "", None),
        ("claude-code", ".claude.json", "{}", '"command": ', '"timeout": 9, "command": ', None),
        ("claude-code", ".claude.json", '{"mcpServers": {"clawmem": {"command": "/ts/clawmem", "args": ["mcp"]}}}', "", "", None),
        ("claude-code", ".claude.json", "{}", '"command": ', '"env": {"CLAWMEM_LLM_API_KEY": "x"}, "command": ', None),
        ("codex", ".codex/config.toml", f"[mcp_servers.clawmem.env]\nA = '1'\n{OLD_ENTRY}{APART}", "", "", APART),
        ("openclaw", ".openclaw/openclaw.json",
         '{"plugins": {"load": {"paths": ["/old/integrations/openclaw/"]}, "slots": {"memory": "lancedb"}}}\n', "", "",
         '{"plugins": {"slots": {"memory": "lancedb"}}}\n'),
    ],
)  # fmt: skip
def test_settings_in_unusual_states(
    invoke: Invoke, home: Path, agent: str, name: str, before: str, written: str, edited: str, after: str | None,
) -> None:  # fmt: skip
    """What a person writes afterwards stays, and so do values beside an entry of an earlier installation."""
    file = write_file(home / name, before)
    assert invoke("setup", agent).exit_code == 0
    file.write_text(file.read_text("utf-8").replace(written, edited, 1), "utf-8")
    assert not ask_json(invoke, "setup", agent)["changed"]
    assert invoke("setup", agent, "--remove").exit_code == 0

    expected = before if after is None else after
    assert "".join(file.read_text("utf-8").split()) == "".join(expected.split())
    assert not any(word in str(path) for path in home.glob(".*/*") for word in (f".{BACKUP}", "hooks.json"))


def test_hermes(invoke: Invoke, home: Path) -> None:
    """The provider is selected in place, and its folder is linked."""
    file = write_file(home / ".hermes" / "config.yaml", YAML_TEXT)

    assert "+  provider: clawmem" in invoke("setup", "hermes", "--dry-run").output
    assert "hermes memory status. Undo:" in invoke("setup", "hermes", "--profile", "speed").output

    assert file.read_text() == YAML_TEXT.replace("mem0", "clawmem").replace("    ", "  ")
    assert (home / ".hermes" / "plugins" / "clawmem" / "plugin.yaml").is_file()
    assert json.loads((home / ".hermes" / "clawmem.json").read_text())["profile"] == "speed"
    invoke("setup", "hermes", "--remove")
    assert "provider: mem0" in file.read_text()


def test_gemini_has_events_and_units_of_its_own(invoke: Invoke, home: Path) -> None:
    file = write_file(home / ".gemini" / "settings.json", COMMENTED)
    invoke("setup", "gemini")

    settings = JSON5_FORMAT.parse(file.read_text())
    [ours], [other] = [group["hooks"] for group in settings["hooks"]["BeforeAgent"]]
    assert ours["timeout"] == 8000 and ours["command"].endswith("hook BeforeAgent")
    assert other["command"] == "date" and "matcher" not in settings["hooks"]["SessionStart"][0]
    assert "// from Priya" in file.read_text()


@pytest.mark.parametrize(
    ("agent", "name", "text", "place"),
    [
        ("openclaw", ".openclaw/openclaw.json", "{\n  a: 'x,\n}", "line 2, column 6"),
        ("gemini", ".gemini/settings.json", '{"hooks": {"BeforeAgent": "date"}}', "hooks.BeforeAgent must be a list"),
        ("hooks", ".claude/settings.json", '{ // mine\n "model": "opus"}', "line 1"),
        ("hooks", ".claude/settings.json", '{"hooks": {"Stop": ["say done"]}}', "hooks.Stop[] must be an object"),
        ("hooks", ".claude/settings.json", "[]", "no mapping"),
        ("codex", ".codex/config.toml", 'model = "x"\n[mcp', "line 2"),
        ("codex", ".codex/config.toml", "mcp_servers = 3\n", "mcp_servers must be an object"),
        ("hermes", ".hermes/config.yaml", "memory: off\n", "memory must be an object"),
        ("hermes", ".hermes/config.yaml", "a: 1\nb: [\n", "line 3"),
        ("opencode", ".config/opencode/plugin/clawmem.js", "// mine", "is not ours"),
        ("curator", ".claude/agents/clawmem-curator.md", "# My own curator", "is not ours"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_edited(
    invoke: Invoke, home: Path, agent: str, name: str, text: str, place: str
) -> None:
    """Refused with its name and the place; no file of the agent is touched."""
    write_file(home / name, text)
    before = contents(home)

    done = invoke("setup", agent)

    assert done.exit_code == 4
    assert name.rpartition("/")[2] in done.stderr and place in done.stderr
    assert contents(home) == before


def test_links_modes_and_other_folders_stay(
    invoke: Invoke, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Settings that are kept elsewhere are changed there, with the rights they had; new ones are private."""
    file = write_file(home / "dotfiles.json", SOMEBODY)
    file.chmod(0o640)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "other"))
    (home / "other").mkdir()
    (home / "other" / "settings.json").symlink_to(file)
    elsewhere = {"GEMINI_CLI_HOME": home / "gemini", "OPENCLAW_CONFIG_PATH": home / "claw.json"}
    for variable, path in elsewhere.items():
        monkeypatch.setenv(variable, str(path))

    for agent in ("claude-code", "gemini", "openclaw"):
        invoke("setup", agent)

    assert handlers_in(home / "gemini" / ".gemini" / "settings.json") and (home / "claw.json").exists()
    assert (home / "other" / "settings.json").is_symlink() and handlers_in(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    file.chmod(0o400)
    assert "is read-only" in invoke("setup", "hooks", "--remove").stderr and handlers_in(file)
    servers = home / "other" / ".claude.json"
    assert stat.S_IMODE(servers.stat().st_mode) == 0o600
    servers.unlink()
    servers.symlink_to(servers.name)
    assert "cannot be read: Too many levels of symbolic links" in invoke("setup", "--yes").stdout
    servers.unlink()
    servers.symlink_to(home / "gone" / "servers.json")
    assert f"Make {home / 'gone'}, or remove the link" in invoke("setup", "claude-code").stderr
    assert not (home / "gone").exists()


def test_commands_at_once_lose_no_entry(run: Run, settings: Path, home: Path) -> None:
    """Each starts from the settings that the one before wrote, and so keeps its options."""
    parts = [("hooks", "--profile", "deep"), ("mcp",), ("hooks", "--with", "staleness-check"), ("curator",)]
    words = [f"word {number}" for number in range(50_000)]  # takes time
    write_file(settings, json.dumps({**json.loads(SOMEBODY), "spinnerVerbs": words}))
    run("vault", "path")  # starts the fork server
    with ThreadPoolExecutor(len(parts)) as pool:
        done = [*pool.map(lambda part: run("setup", *part), parts)]

    assert not any(process.returncode for process in done), [process.stderr for process in done]
    options = {
        word for event in handlers_in(settings).values() for handler in event for word in handler["args"]
    }
    assert {"deep", "staleness-check"} <= options
    assert json.loads((home / ".claude.json").read_text("utf-8"))["mcpServers"].keys() == {"clawmem"}


def test_an_edit_of_another_program_meanwhile_stays(
    invoke: Invoke, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was made after the settings were read, and before they are written."""
    file = write_file(home / ".claude" / "settings.json", SOMEBODY)

    def edit(*texts: Any, **options: Any) -> Any:
        write_file(file, SOMEBODY.replace("opus", "haiku"))
        return unified_diff(*texts, **options)

    monkeypatch.setattr(installed, "unified_diff", edit)
    invoke("setup", "claude-code")

    assert json.loads(file.read_text("utf-8"))["model"] == "haiku" and handlers_in(file)
    for line in (
        '    "model": "haiku",   "permissions": { "allow": ["Bash(ls)"] },',
        *SOMEBODY.splitlines()[-3:],
    ):
        assert f"{line}\n" in file.read_text("utf-8")  # the layout of a person stays


def test_the_settings_of_a_project(invoke: Invoke, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Below the current folder; an agent without such settings refuses."""
    (home / "project").mkdir()
    monkeypatch.chdir(home / "project")

    for agent in ("claude-code", "codex", "gemini", "opencode"):
        assert invoke("setup", agent, "--project").exit_code == 0
    made = contents(home / "project")
    assert f"Codex in {home / 'project'}: connected\n" in invoke("setup", "--check").stdout
    for agent in ("claude-code", "codex", "gemini", "opencode"):
        assert invoke("setup", agent, "--project", "--remove").exit_code == 0

    assert {".claude/settings.local.json", ".mcp.json", "opencode.json"} < made.keys()
    assert not contents(home / "project")
    assert invoke("setup", "hermes", "--project").exit_code == 4


@pytest.mark.parametrize("editor", ["vscode", "cursor", "zed", "windsurf", "json"])
def test_editors_get_an_entry_to_copy(invoke: Invoke, home: Path, editor: str) -> None:
    """Stdout has the text alone; nothing is written."""
    before = contents(home)
    shown = invoke("setup", editor)
    [member] = json.loads(shown.stdout).values()
    assert member["clawmem"]["args"][-3:] == ["-m", "clawmem", "mcp"]
    assert "Add this to" in shown.stderr and contents(home) == before


def test_the_curator(invoke: Invoke, home: Path) -> None:
    """Its file starts this installation; every command that it names exists."""
    file = home / ".claude" / "agents" / "clawmem-curator.md"
    done = invoke("setup", "curator")

    text = file.read_text("utf-8")
    assert (
        re.search(r"^    .*python.* -m clawmem$", text, re.MULTILINE) and 'Say "curate memory"' in done.stdout
    )
    page = (INTEGRATIONS / "curator" / "clawmem-curator.md").read_text("utf-8")
    for command in sorted(set(re.findall(r"`clawmem ([a-z][a-z -]*)", page))):
        helped = invoke(*(word for word in command.split() if not word.startswith("-")), "--help")
        assert helped.exit_code == 0, command
        assert all(word in helped.stdout for word in command.split() if word.startswith("--"))
    head = page.split("---")[1]
    assert "tools: Bash, Read, Glob, Grep" in head
    assert all(f'"{trigger}"' in head for trigger in ("curate memory", "run curator", "memory maintenance"))
    assert ask_json(invoke, "setup", "curator", "--remove")["changed"] and not file.exists()


def test_installed_agents_are_found(invoke: Invoke, home: Path) -> None:
    """By their folder or program; without a terminal they are listed with the command, and ``--yes`` connects them."""
    assert "No agent was found" in invoke("setup").output
    (home / ".gemini").mkdir()
    write_file(home / "bin" / "codex", "#!/bin/sh\n").chmod(0o755)
    before = contents(home)

    shown = invoke("setup")

    assert "Gemini CLI would be changed" in shown.output and "clawmem setup --yes" in shown.output
    planned = ask_json(invoke, "setup", "--yes", "--dry-run")
    assert [(client["client"], client["changed"]) for client in planned["clients"]] == [
        ("codex", True),
        ("gemini", True),
    ]
    assert contents(home) == before
    assert invoke("setup", "--yes").exit_code == 0
    assert "Codex: connected." in invoke("setup").output
    for words in (("setup", "--remove"), ("setup", "emacs")):
        assert invoke(*words).exit_code == 2


def test_an_agent_that_cannot_be_connected_does_not_stop_the_others(invoke: Invoke, home: Path) -> None:
    """Each is reported, and the exit code is not 0. A broken config file of clawmem is noticed before any of them."""
    (home / ".codex").mkdir()
    (home / ".gemini" / "settings.json").mkdir(parents=True)  # cannot be read
    config = write_file(home / ".config" / "clawmem" / "config.yaml", "server: [\n")
    refused = invoke("setup", "--yes")
    assert refused.exit_code == 4 and "config.yaml" in refused.output and not contents(home)
    config.write_text("")

    done = invoke("setup", "--yes", "--json")

    assert done.exit_code == 4
    codex, gemini = json.loads(done.stdout)["clients"]
    assert codex["changed"] and "cannot be read" in gemini["error"]
    assert "FAIL  Gemini CLI: whether it is connected is unknown" in invoke("setup", "--check").output


def test_a_check_starts_what_is_configured(
    invoke: Invoke, home: Path, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The very commands of the settings; what is gone, silent or prints something else is named with the remedy."""
    assert "No agent is connected" in invoke("setup", "--check").output
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("INDEX_PATH", str(home / "other.sqlite"))
        missing = invoke("setup", "gemini", "--dry-run").stderr
    assert f"Run: clawmem --vault {home / 'other.sqlite'} bootstrap PATH" in missing
    assert "There is no vault" in invoke("setup", "gemini").stderr
    empty = invoke("setup", "--check")
    assert empty.exit_code == 1
    assert "There is no vault at" in empty.output and "Run: clawmem bootstrap" in empty.output
    assert "Run: clawmem setup" not in empty.output
    invoke("bootstrap", notes)
    assert "There is no vault" not in invoke("setup", "gemini").stderr
    assert "ok    Gemini CLI: hooks and tools answer" in invoke("setup", "--check").output
    file = home / ".gemini" / "settings.json"
    working = file.read_text()
    [ours] = json.loads(working)["hooks"]["BeforeAgent"][0]["hooks"]
    monkeypatch.setattr("clawmem.adapters.system.commands.tool_answer", lambda *_: "")  # it answers

    for command, fault, remedy in (
        ("/gone/clawmem hook BeforeAgent", "127", "clawmem setup gemini"),
        ("echo clawmem hook BeforeAgent", "instead of a JSON object", "clawmem setup gemini"),
        (f"{ours['command']} --vault /gone/x.sqlite", "no vault at /gone/x.sqlite", "bootstrap"),
    ):
        settings = json.loads(working)
        settings["hooks"]["BeforeAgent"][0]["hooks"][0]["command"] = command
        file.write_text(json.dumps(settings))
        done = invoke("setup", "--check")
        assert done.exit_code == 1
        assert "FAIL  Gemini CLI" in done.output and fault in done.output
        assert remedy in done.output


@pytest.fixture
def quick_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every hook and server of a client answer without being started, which costs a second each."""
    monkeypatch.setattr("clawmem.adapters.system.commands.hook_answer", lambda *_: {"continue": True})
    monkeypatch.setattr("clawmem.adapters.system.commands.tool_answer", lambda *_: "")


@pytest.mark.usefixtures("quick_answers")
def test_a_check_sees_what_was_undone_in_part(invoke: Invoke, home: Path, notes: Path) -> None:
    """Another memory in the slot, an entry that is off, a provider or a link that is gone; what was never connected is fine."""
    invoke("bootstrap", notes)
    openclaw, hermes = home / ".openclaw" / "openclaw.json", home / ".hermes" / "config.yaml"
    for agent in ("openclaw", "hermes"):
        invoke("setup", agent)
    working, provider = openclaw.read_text(), hermes.read_text()
    for text, changed, fault in (
        ('"memory": "clawmem"', '"memory": "memory-core"', 'plugins.slots.memory is "memory-core" now'),
        ('"enabled": true', '"enabled": false', "plugins.entries.clawmem.enabled is false now"),
        (
            '"plugins": {',
            '"plugins": {"deny": ["clawmem"], ',
            'has plugins.deny: "clawmem", so that no hook runs',
        ),
        (
            '"plugins": {',
            '"plugins": {"enabled": false, ',
            "has plugins.enabled: false, so that no hook runs",
        ),
        (str(INTEGRATIONS), "/gone", 'plugins.load.paths is ["/gone/openclaw"] now'),
    ):
        openclaw.write_text(working.replace(text, changed))
        assert f"{openclaw} {fault}. R" in invoke("setup", "--check").stdout
    hermes.write_text("memory: {provider: mem0}")
    assert 'memory.provider is "mem0" now' in invoke("setup", "--check").stdout
    hermes.write_text(provider)
    (home / ".hermes" / "plugins" / "clawmem").unlink()
    assert "plugins/clawmem does not exist" in invoke("setup", "--check").stdout
    invoke("setup", "opencode")
    (home / ".config" / "opencode" / "plugin" / "clawmem.js").unlink()
    assert "clawmem.js does not exist" in invoke("setup", "--check").stdout
    for agent in ("openclaw", "hermes", "opencode"):
        invoke("setup", agent, "--remove")
    write_file(openclaw, '{"plugins": {"enabled": false}}')
    assert "No agent is connected" in invoke("setup", "--check").output


@pytest.mark.usefixtures("quick_answers")
def test_doctor_names_what_is_wrong_with_the_settings(
    invoke: Invoke, notes: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hooks that are missing or doubled, in a project once more, or installed beside the plugin."""
    settings = home / ".claude" / "settings.json"
    assert invoke("bootstrap", notes).exit_code == 0
    assert "Undo: clawmem setup hooks --remove" in invoke("setup", "hooks").output
    assert "ok    Claude Code: hooks answer" in invoke("doctor").output
    working = json.loads(settings.read_text("utf-8"))

    changed = json.loads(settings.read_text("utf-8"))
    del changed["hooks"]["Stop"]
    changed["hooks"]["PreCompact"] *= 2
    settings.write_text(json.dumps(changed))
    assert (
        "have hooks of PreCompact more than once. Run: clawmem setup claude-code" in invoke("doctor").output
    )
    changed["hooks"]["PreCompact"] = working["hooks"]["PreCompact"]
    settings.write_text(json.dumps(changed))
    assert "lack hooks of Stop" in invoke("doctor").output

    settings.write_text(json.dumps({**working, "disableAllHooks": True}))
    assert "has disableAllHooks: true, so that no hook runs" in invoke("doctor").output
    settings.write_text("")
    assert "settings.json is empty. Run: clawmem setup claude-code" in invoke("doctor").output

    settings.write_text(json.dumps({**working, **PLUGIN}))
    beside = invoke("doctor")
    assert beside.exit_code == 1 and "installed twice, by the clawmem plugin" in beside.output
    refused = invoke("setup", "hooks")
    assert refused.exit_code == 4 and "plugin is switched on" in refused.stderr
    assert invoke("setup", "claude-code", "--remove").exit_code == 0
    assert "Claude Code: connected by the clawmem plugin" in invoke("doctor").output

    settings.write_text(json.dumps(working))
    (home / "project").mkdir()
    monkeypatch.chdir(home / "project")
    invoke("setup", "claude-code", "--project", "--profile", "deep")
    assert f"once more in {home / 'project'}" in invoke("doctor").output


def test_null_is_an_empty_file(invoke: Invoke, home: Path) -> None:
    """An agent whose settings are null is connected as one without settings; a list is refused."""
    configs = {"opencode": ".config/opencode/opencode.json", "hermes": ".hermes/config.yaml"}
    for agent in ("claude-code", "gemini", "openclaw", *configs):
        name = configs.get(
            agent, f".{agent.split('-')[0]}/{'settings' if agent != 'openclaw' else agent}.json"
        )
        file = write_file(home / name, "[]\n")
        assert f"{file}: it is no mapping" in invoke("setup", agent).stderr
        file.write_text("null\n")
        assert "nothing to change" not in invoke("setup", agent, "--yes").stdout
        assert "clawmem" in file.read_text() and not file.read_text().startswith("null")


def test_what_stays_without_an_agent(invoke: Invoke, remembered: Invoke, home: Path) -> None:
    """The last removal names the memory and the command that deletes it; one of several agents says nothing."""
    was_empty, broken = home / ".gemini" / "settings.json", home / ".claude" / "settings.json"
    was_empty.parent.mkdir(exist_ok=True)
    was_empty.write_text("")
    for agent in ("codex", "gemini"):
        invoke("setup", agent)
    vault = home / ".cache" / "clawmem" / "index.sqlite"

    assert "The memory stays" not in invoke("setup", "codex", "--remove").stdout
    broken.parent.mkdir(exist_ok=True)
    broken.write_text("{")
    result = invoke("setup", "codex", "--remove")
    assert (result.exit_code, f"{broken} is not valid JSON" in result.stdout) == (0, True)
    broken.unlink()
    copy = vault.with_name("index.sqlite.bak")
    copy.write_text("mine")
    removed = invoke("setup", "gemini", "--remove").stdout
    assert "is empty" not in invoke("doctor").output
    assert (f"rm -rf {vault}" in removed, f"{copy}" in removed) == (True, False)
    assert "the server was stopped" not in removed  # as none ran
    assert "openclaw plugins uninstall clawmem" in invoke("setup", "openclaw", "--remove").stdout
    other = vault.replace(home / "other.sqlite")
    invoke("--vault", other, "setup", "codex")
    assert f"rm -rf {other}" in invoke("setup", "codex", "--remove").stdout  # which the entries named
    assert json.loads(was_empty.read_text()) == {}
