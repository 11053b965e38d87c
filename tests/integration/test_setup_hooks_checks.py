"""What doctor, bootstrap and the plugin make of installed hooks."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from client_files import OLD_FORM, SOMEBODY, edit_hooks, group_of, names_in, put_hooks
from command_process import Run
from hypothesis import given
from hypothesis import strategies as st

from clawmem.app.client.hook_registry import EVENTS
from clawmem.app.services.maintenance.machine_checks import hook_check
from clawmem.app.services.setup.hooks import installed
from clawmem.app.services.setup.settings_file import JSON, Document
from clawmem.app.services.setup.steps import run_steps


def test_beside_the_plugin_it_is_refused(run: Run, settings: Path) -> None:
    """Either the plugin or the settings; taking ours out is possible all the same."""
    run("setup", "hooks")
    both = json.loads(settings.read_text("utf-8"))
    settings.write_text(json.dumps({**both, "enabledPlugins": {"clawmem@market": True}}), "utf-8")

    refused = run("setup", "hooks")

    assert refused.returncode == 4
    assert "plugin is switched on" in refused.stderr
    assert not hook_check(settings.parent)().ok
    assert run("setup", "hooks", "--remove").returncode == 0
    assert hook_check(settings.parent)().ok


def test_a_plugin_that_is_switched_off_does_not_count(run: Run, settings: Path) -> None:
    """Nor does one of another name."""
    plugins = {"enabledPlugins": {"clawmem@market": False, "clawmem-theme@market": True}}
    settings.write_text(json.dumps(plugins), "utf-8")

    assert run("setup", "hooks").returncode == 0


def test_doctor_names_a_program_that_is_gone(settings: Path) -> None:
    """An environment that was deleted leaves entries behind; the client would only say that a hook failed."""
    put_hooks(settings.parent, group_of())

    found = hook_check(settings.parent)()

    assert not found.ok
    assert "/opt/python" in found.detail
    assert found.way_out == "Run: clawmem setup hooks"


def test_doctor_sees_an_entry_of_either_form(settings: Path) -> None:
    """An event and one of its hooks, each with an entry: the hook runs twice."""
    command = (sys.executable, "-m", "clawmem", "hook")
    event = group_of((*command, "Stop"))
    put_hooks(settings.parent, event, group_of((*command, "feedback-loop")))

    found = hook_check(settings.parent)()
    assert "has feedback-loop more than once and lacks context-surfacing" in found.detail
    assert "clawmem setup hooks" in found.way_out


def test_doctor_looks_into_the_project(settings: Path, tmp_path: Path) -> None:
    """A project that brings the hooks as well; the very same entry counts once, as it does for the client."""
    program = tmp_path / "clawmem"
    program.touch()
    mine, other = (
        [group_of((str(command), "hook", event)) for event in EVENTS] for command in (program, "clawmem")
    )
    project = tmp_path / "project"
    put_hooks(settings.parent, *mine)

    put_hooks(project / ".claude", *mine)
    assert hook_check(settings.parent, project)().ok
    put_hooks(project / ".claude", *other)
    twice = hook_check(settings.parent, project)()

    assert not twice.ok
    assert "feedback-loop" in twice.detail and str(project) in twice.detail
    assert hook_check(settings.parent)().ok


def test_doctor_looks_at_the_hooks(run: Run, notes: Path, settings: Path) -> None:
    """Installed by ``bootstrap --hooks`` they are all well; installed twice they are not."""
    assert "work from the next session on" in run("bootstrap", notes, "--hooks").stdout
    assert "ok    hooks of Claude Code: " in run("doctor").stdout
    both = json.loads(settings.read_text("utf-8"))
    settings.write_text(json.dumps({**both, "enabledPlugins": {"clawmem@market": True}}), "utf-8")

    done = run("doctor")

    assert done.returncode == 1
    assert "FAIL  hooks of Claude Code: installed twice" in done.stdout
    assert "clawmem setup hooks --remove" in done.stdout


def test_bootstrap_leaves_settings_alone(run: Run, bootstrapped: Path, settings: Path) -> None:
    """Nobody's settings are edited unasked."""
    assert settings.read_text("utf-8") == SOMEBODY


NAMES = st.sampled_from(["model", "hooks", "env", "größe", 'a "quoted" name'])

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=2),
    max_leaves=5,
)


@given(st.dictionaries(NAMES, VALUES), st.sampled_from([None, 2, "\t"]), NAMES, VALUES)
def test_one_member_changes_and_no_other(
    whole: dict[str, Any], indent: int | str | None, name: str, value: Any
) -> None:
    """However the file is written; and what is put in can be taken out again."""
    text = json.dumps(whole, indent=indent)
    document = Document(JSON, text)

    document.drop(("absent",))
    assert document.text == text
    document.put((name,), value)
    assert list(json.loads(document.text).items()) == list({**whole, name: value}.items())
    document.drop((name,))
    assert json.loads(document.text) == {key: member for key, member in whole.items() if key != name}


def test_whose_an_entry_is(tmp_path: Path) -> None:
    """Ours are told by what they run, not by where they stand."""
    hooks = {
        "Stop": [
            {"hooks": [OLD_FORM, {"command": "my-clawmem-notifier"}]},
            {"hooks": [{"command": "clawmem", "args": ["hook", "handoff-generator"]}]},
            {"hooks": [{"command": "echo", "args": ["clawmem", "status"]}]},
        ],
        "Odd": [],
    }

    assert [name for name, _ in installed(hooks)] == ["decision-extractor", "handoff-generator"]
    file = tmp_path / "settings.json"
    file.write_text(json.dumps({"hooks": hooks}), "utf-8")
    run_steps([edit_hooks(tmp_path)], remove=True)
    assert json.loads(file.read_text("utf-8"))["hooks"] == {
        "Stop": [
            {"hooks": [{"command": "my-clawmem-notifier"}]},
            {"hooks": [{"command": "echo", "args": ["clawmem", "status"]}]},
        ],
        "Odd": [],
    }


def test_hooks_over_http_are_refused_and_replaced(run: Run, settings: Path) -> None:
    """They print an error at every turn while no server runs; what an earlier version installed is replaced."""
    refused = run("setup", "hooks", "--http", "http://127.0.0.1:7438/")
    assert refused.returncode == 2 and "without it" in refused.stderr
    over_http = {
        "type": "http",
        "url": "http://127.0.0.1:7438/hooks/context-surfacing",
        "headers": {"Authorization": "Bearer $CLAWMEM_API_TOKEN"},
        "timeout": 8,
    }
    told = json.loads(settings.read_text("utf-8"))
    told["hooks"] = {**told.get("hooks", {}), "UserPromptSubmit": [{"matcher": "", "hooks": [over_http]}]}
    settings.write_text(json.dumps(told), "utf-8")
    found = hook_check(settings.parent)()
    assert not found.ok and "context-surfacing" in found.detail and "setup hooks" in found.way_out

    assert run("setup", "hooks").returncode == 0

    handlers = [
        handler
        for groups in json.loads(settings.read_text("utf-8"))["hooks"].values()
        for group in groups
        for handler in group["hooks"]
    ]
    assert over_http not in handlers
    assert names_in(settings).count("context-surfacing") == 1
    assert hook_check(settings.parent)().ok
