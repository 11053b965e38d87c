"""``clawmem setup hooks``: what stands in the client's settings afterwards, and what still does."""

from __future__ import annotations

import errno
import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from client_files import OLD_FORM, SOMEBODY, edit_hooks, group_of, names_in
from command_line import Invoke
from command_process import Run

from clawmem.app.client.hook_registry import HOOKS
from clawmem.app.services.setup.hooks import call_of
from clawmem.app.services.setup.steps import run_steps
from clawmem.ports.errors import ConfigError


def test_installing_keeps_everything_that_is_not_ours(run: Run, settings: Path) -> None:
    """Other keys stay, other tools' hooks come first; a second time changes nothing, removal undoes it."""
    done = run("setup", "hooks")

    assert done.returncode == 0, done.stderr
    text, before = settings.read_text("utf-8"), json.loads(SOMEBODY)
    after = json.loads(text)
    assert {**after, "hooks": 0} == {**before, "hooks": 0}
    assert after["hooks"]["PostToolUse"] == before["hooks"]["PostToolUse"]
    assert after["hooks"]["Stop"][0] == before["hooks"]["Stop"][0]
    assert set(names_in(settings)) == {name for name, hook in HOOKS.items() if hook.is_default}
    assert "nothing to change" in run("setup", "hooks").stdout
    assert settings.read_text("utf-8") == text
    assert settings.with_name("settings.json.before-clawmem").read_text("utf-8") == SOMEBODY
    assert "the hooks are out" in run("setup", "hooks", "--remove").stdout
    assert run("setup", "hooks", "--remove").returncode == 0
    assert settings.read_text("utf-8") == SOMEBODY


def test_one_entry_for_each_event(run: Run, settings: Path) -> None:
    """With the matchers and the time of all its hooks, as a program and arguments, without a shell."""
    run("setup", "hooks", "--with", "session-bootstrap")

    ours = {}
    for event, groups in json.loads(settings.read_text("utf-8"))["hooks"].items():
        for group in (one for one in groups if call_of(one["hooks"][0])):
            (handler,) = group["hooks"]
            assert Path(handler["command"]).is_file()
            assert event not in ours
            arguments = handler["args"]
            ours[event] = (arguments[arguments.index("hook") :], group["matcher"], handler["timeout"])
    assert ours == {
        "UserPromptSubmit": (["hook", "UserPromptSubmit"], "", 8),
        "SessionStart": (
            ["hook", "SessionStart", "--with", "session-bootstrap"],
            "compact|startup|resume|clear",
            15,
        ),
        "PreCompact": (["hook", "PreCompact"], "", 5),
        "PostCompact": (["hook", "PostCompact"], "", 10),
        "Stop": (["hook", "Stop"], "", 90),
    }


def test_what_is_installed_works(run: Run, settings: Path, environ: dict[str, str], home: Path) -> None:
    """The command of an entry, started in a project full of traps, answers."""
    run("setup", "hooks")
    (home / "json.py").write_text("raise SystemExit(2)")
    handler = json.loads(settings.read_text("utf-8"))["hooks"]["UserPromptSubmit"][0]["hooks"][0]

    done = subprocess.run(
        [handler["command"], *handler["args"]],
        check=False, input="{}", capture_output=True, text=True, cwd=home, env=environ,
    )  # fmt: skip

    assert done.returncode == 0
    assert json.loads(done.stdout)["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"


def test_renewing_replaces_what_was_ours(run: Run, settings: Path) -> None:
    """An entry of an older form goes, its neighbour in the same group stays, a new profile comes."""
    before = json.loads(SOMEBODY)
    before["hooks"]["Stop"][0]["hooks"].append(OLD_FORM)
    settings.write_text(json.dumps(before), "utf-8")

    run("setup", "hooks", "--profile", "deep")

    after = json.loads(settings.read_text("utf-8"))["hooks"]
    assert after["Stop"][0]["hooks"] == json.loads(SOMEBODY)["hooks"]["Stop"][0]["hooks"]
    assert names_in(settings).count("decision-extractor") == 1
    assert after["UserPromptSubmit"][0]["hooks"][0]["args"][-2:] == ["--profile", "deep"]
    assert "--profile" not in after["PreCompact"][0]["hooks"][0]["args"]


def test_an_installation_of_one_entry_for_each_hook_is_migrated(run: Run, settings: Path) -> None:
    """Its profile, vault and optional hooks stay; entries of others stay where they are."""
    old = json.loads(SOMEBODY)
    for name, hook in HOOKS.items():
        if hook.is_default or name == "staleness-check":
            options = [
                "--vault",
                "/data/work.sqlite",
                *(["--profile", "deep"] * (name == "context-surfacing")),
            ]
            command = ("/opt/python", "-I", "-m", "clawmem", "hook", name, *options)
            group = group_of(command, hook.matcher, hook.patience_s)
            old["hooks"].setdefault(hook.event, []).append(group)
    settings.write_text(json.dumps(old), "utf-8")

    assert run("setup", "hooks").returncode == 0

    after, others = json.loads(settings.read_text("utf-8"))["hooks"], json.loads(SOMEBODY)["hooks"]
    assert after["PostToolUse"] == others["PostToolUse"]
    assert after["Stop"][0] == others["Stop"][0] and len(after["Stop"]) == 2
    vault = ["--vault", "/data/work.sqlite"]
    assert [
        after[event][-1]["hooks"][0]["args"][-len(end) :]
        for event, end in (
            ("UserPromptSubmit", ["hook", "UserPromptSubmit", *vault, "--profile", "deep"]),
            ("SessionStart", ["hook", "SessionStart", *vault, "--with", "staleness-check"]),
            ("Stop", ["hook", "Stop", *vault]),
        )
    ] == [
        ["hook", "UserPromptSubmit", *vault, "--profile", "deep"],
        ["hook", "SessionStart", *vault, "--with", "staleness-check"],
        ["hook", "Stop", *vault],
    ]
    assert run("setup", "hooks", "--remove").returncode == 0
    assert json.loads(settings.read_text("utf-8")) == json.loads(SOMEBODY)


def test_hooks_for_codex_are_shown(run: Run, settings: Path, environ: dict[str, str], home: Path) -> None:
    """One shell command for each event, which works; nothing is changed."""
    shown = run("setup", "hooks", "--client", "codex", "--profile", "speed")

    groups = json.loads(shown.stdout)["hooks"]
    command = groups["UserPromptSubmit"][0]["hooks"][0]["command"]
    done = subprocess.run(
        command, shell=True, check=True, input="{}", capture_output=True, text=True, cwd=home, env=environ
    )
    assert command.endswith("hook UserPromptSubmit --profile speed")
    assert json.loads(done.stdout)["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"
    assert groups["Stop"][0]["hooks"][0]["timeout"] == 90
    assert "hooks.json" in shown.stderr
    assert settings.read_text("utf-8") == SOMEBODY
    assert run("setup", "hooks", "--client", "cursor").returncode == 2


def test_a_dry_run_shows_the_file_and_leaves_it(run: Run, settings: Path) -> None:
    """What it prints is what it would write."""
    shown = run("setup", "hooks", "--dry-run")
    assert settings.read_text("utf-8") == SOMEBODY
    assert len(list(settings.parent.iterdir())) == 1

    run("setup", "hooks")

    assert shown.stdout.rstrip("\n") == settings.read_text("utf-8").rstrip("\n")


def test_without_settings_they_are_made(run: Run, home: Path) -> None:
    """Readable by their owner alone; taken out again, no file is left."""
    run("setup", "hooks")

    file = home / ".claude" / "settings.json"
    assert set(json.loads(file.read_text("utf-8"))) == {"hooks"}
    if sys.platform != "win32":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    run("setup", "hooks", "--remove")
    assert not file.exists()


def test_the_client_s_own_variable_counts(run: Run, settings: Path, home: Path) -> None:
    """``CLAUDE_CONFIG_DIR`` says where the settings are."""
    run("setup", "hooks", CLAUDE_CONFIG_DIR=str(home / "other"))

    assert (home / "other" / "settings.json").exists()
    assert settings.read_text("utf-8") == SOMEBODY


@pytest.mark.parametrize(
    "text",
    [
        '{ // my settings\n "model": "opus"}',
        '{"model": "opus",}',
        "[]",
        '{"hooks": []}',
        '{"hooks": {"Stop": {"hooks": [{"type": "command", "command": "say done"}]}}}',
        '{"hooks": {"UserPromptSubmit": "echo"}}',
        '{"hooks": {"Stop": ["say done"]}}',
        '{"hooks": {"Stop": [{"hooks": "say done"}]}}',
        '{"a": 1, "a": 2}',
        "{",
    ],
)
def test_what_is_no_plain_object_is_refused(invoke: Invoke, settings: Path, text: str) -> None:
    """With a sentence that names the file, which stays as it is."""
    settings.write_text(text, "utf-8")

    for option in ((), ("--remove",), ("--dry-run",)):
        done = invoke("setup", "hooks", *option)

        assert done.exit_code == 4
        assert str(settings) in done.stderr
        assert settings.read_text("utf-8") == text


def test_the_copy_of_the_settings_is_named_when_it_is_made(invoke: Invoke, settings: Path) -> None:
    """The first time; later there is none."""
    copy = f"{settings}.before-clawmem"

    assert copy in invoke("setup", "hooks").stdout
    assert "before-clawmem" not in invoke("setup", "hooks", "--remove").stdout
    assert not Path(copy).exists()
    assert json.loads(invoke("--json", "setup", "hooks").stdout)["backup"] == copy
    (settings.parent.parent / ".claude.json").write_text("{}", "utf-8")
    assert ".claude.json.before-clawmem" in invoke("setup", "mcp").stdout


def test_more_hooks_on_request(run: Run, settings: Path) -> None:
    """Those that are not installed unasked have to be named; others are wrong usage."""
    assert run("setup", "hooks", "--with", "pretool-inject").returncode == 0
    assert "pretool-inject" in names_in(settings)
    assert run("setup", "hooks", "--with", "feedback-loop").returncode == 2
    assert run("setup", "hooks", "--profile", "fast").returncode == 2


def test_a_vault_of_its_own_is_passed_on(run: Run, settings: Path, home: Path) -> None:
    """The vault of the command line is the vault of the hooks."""
    run("--vault", "work.sqlite", "setup", "hooks")

    handler = json.loads(settings.read_text("utf-8"))["hooks"]["PreCompact"][0]["hooks"][0]
    assert handler["args"][-2:] == ["--vault", str((home / "work.sqlite").resolve())]


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_a_link_stays_a_link(run: Run, settings: Path, home: Path) -> None:
    """Settings that are kept elsewhere are changed there, with the rights they had."""
    kept = home / "dotfiles.json"
    settings.rename(kept)
    kept.chmod(0o640)
    settings.symlink_to(kept)

    run("setup", "hooks")

    assert settings.is_symlink()
    assert "hooks" in json.loads(kept.read_text("utf-8"))
    assert stat.S_IMODE(kept.stat().st_mode) == 0o640


def test_line_ends_and_marks_stay(settings: Path) -> None:
    """As an editor of another system wrote them."""
    settings.write_bytes(b"\xef\xbb\xbf" + SOMEBODY.replace("\n", "\r\n").encode())

    run_steps([edit_hooks(settings.parent, group_of())])

    content = settings.read_bytes()
    assert content.startswith(b"\xef\xbb\xbf{\r\n")
    assert content.count(b"\n") == content.count(b"\r\n")


def test_what_somebody_else_writes_meanwhile_is_not_lost(settings: Path) -> None:
    """The client may save its settings between our reading and our writing."""
    mine = edit_hooks(settings.parent, group_of())
    mine.plan()
    settings.write_text('{"model": "haiku"}', "utf-8")

    with pytest.raises(ConfigError, match="another program"):
        mine.apply()

    assert settings.read_text("utf-8") == '{"model": "haiku"}'
    assert not list(settings.parent.glob(".*"))


@pytest.mark.parametrize("files", [0, 1])
def test_a_full_disk_changes_nothing(
    invoke: Invoke, settings: Path, home: Path, monkeypatch: pytest.MonkeyPatch, files: int
) -> None:
    """Whether the copy of the settings or the settings themselves find no room."""
    room, write_bytes = iter([True] * files), Path.write_bytes

    def write(path: Path, content: bytes) -> int:
        if next(room, False):
            return write_bytes(path, content)
        path.touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", write)
    done = invoke("setup", "hooks")

    assert done.exit_code == 4 and "No space left" in done.stderr
    assert [file.name for file in settings.parent.iterdir()] == ["settings.json"]
    assert settings.read_text("utf-8") == SOMEBODY


def test_a_folder_that_cannot_be_written(settings: Path) -> None:
    """A sentence, and nothing half-written: a folder stands where the draft would."""
    (settings.parent / "settings.json.before-clawmem").write_text("kept")
    edit = edit_hooks(settings.parent, group_of())
    edit.plan()
    settings.unlink()
    settings.mkdir()

    with pytest.raises(ConfigError):
        edit.apply()


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("clawmem --vault /v.sqlite hook context-surfacing", ["--vault", "/v.sqlite"]),
        ("CLAWMEM_PROFILE=speed clawmem hook context-surfacing", ["--profile", "speed"]),
        ("clawmem hook --profile speed context-surfacing", ["--profile", "speed"]),
        ("INDEX_PATH=/v.sqlite clawmem hook UserPromptSubmit", ["--vault", "/v.sqlite"]),
    ],
)
def test_an_old_entry_keeps_its_options_in_any_form(
    invoke: Invoke, home: Path, command: str, options: list[str]
) -> None:
    """Profile and vault before or after ``hook``, or as variables, are found and kept."""
    settings = home / ".claude" / "settings.json"
    settings.parent.mkdir()
    old = {"hooks": [{"type": "command", "command": command}]}
    settings.write_text(json.dumps({"hooks": {"UserPromptSubmit": [old]}}), "utf-8")

    assert invoke("setup", "hooks", "--no-server").exit_code == 0

    [group] = json.loads(settings.read_text("utf-8"))["hooks"]["UserPromptSubmit"]
    [handler] = group["hooks"]
    assert " ".join(options) in " ".join(handler["args"])
