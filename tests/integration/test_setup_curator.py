"""``clawmem setup curator``: the file that is left, and that what it names is there."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from command_line import Invoke

from clawmem.app.services.setup.clients import CURATOR_FILE as FILE
from clawmem.app.services.setup.clients import INTEGRATIONS, curator_page
from clawmem.app.services.setup.steps import run_steps
from clawmem.ports.errors import ConfigError

PAGE = (INTEGRATIONS / "curator" / "clawmem-curator.md").read_text("utf-8")
COMMAND = ["/opt/my python", "-m", "clawmem"]


def changes(folder: Path, *more: str, remove: bool = False, dry_run: bool = False) -> bool:
    """Install the agent, or take it out, and return whether its file changed."""
    [change] = run_steps([curator_page(folder, [*COMMAND, *more])], remove=remove, dry_run=dry_run)
    return change.changed


def test_installed_once(tmp_path: Path) -> None:
    """Again changes nothing; a newer text takes the place of ours; a dry run writes nothing; removed it is gone."""
    assert changes(tmp_path, dry_run=True)
    assert not (tmp_path / FILE).exists()

    assert [changes(tmp_path) for _ in range(2)] == [True, False]
    assert "    '/opt/my python' -m clawmem\n" in (tmp_path / FILE).read_text("utf-8")
    assert [path.name for path in (tmp_path / FILE).parent.iterdir()] == ["clawmem-curator.md"]
    assert changes(tmp_path, "--vault", "work")

    assert changes(tmp_path, remove=True, dry_run=True)
    assert (tmp_path / FILE).exists()
    assert [changes(tmp_path, remove=True) for _ in range(2)] == [True, False]
    assert not (tmp_path / FILE).exists()


@pytest.mark.parametrize("remove", [False, True])
def test_what_is_somebody_elses_stays(tmp_path: Path, remove: bool) -> None:
    """An agent of the same file name that is not ours is neither overwritten nor deleted."""
    (tmp_path / FILE).parent.mkdir()
    (tmp_path / FILE).write_text("My own curator, named after clawmem-curator", "utf-8")

    with pytest.raises(ConfigError, match="not ours"):
        changes(tmp_path, remove=remove)
    assert (tmp_path / FILE).read_text("utf-8").startswith("My own")


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    """It says which file, and leaves nothing behind."""
    (tmp_path / "agents").write_text("a file", "utf-8")

    with pytest.raises(ConfigError, match="clawmem-curator"):
        changes(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["agents"]


def test_by_the_command_line(invoke: Invoke, home: Path) -> None:
    """It stands among the client's agents, starts this installation, and says how it is taken out."""
    shown = invoke("setup", "curator", "--dry-run").stdout
    assert not (home / ".claude").exists()
    done = invoke("setup", "curator")

    text = (home / ".claude" / FILE).read_text("utf-8")
    assert text.rstrip() == shown.rstrip()
    assert re.search(r"^    .*python.* -m clawmem$", text, re.MULTILINE)
    assert "--remove" in done.stdout
    assert json.loads(invoke("setup", "curator", "--json").stdout)["changed"] is False
    assert "the agent is out" in invoke("setup", "curator", "--remove").stdout
    assert not (home / ".claude" / FILE).exists()


def test_every_command_is_one(invoke: Invoke) -> None:
    """What the agent is told to run exists, with the options that it is told of."""
    named = set(re.findall(r"`clawmem ([a-z][a-z -]*)", PAGE))
    assert {"curate", "lifecycle status", "consolidate --dry-run", "graph build"} <= {
        one.strip() for one in named
    }
    for command in sorted(named):
        verbs = [word for word in command.split() if not word.startswith("-")]
        helped = invoke(*verbs, "--help")
        assert helped.exit_code == 0, command
        assert all(word in helped.stdout for word in command.split() if word.startswith("--"))
    head = PAGE.split("---")[1]
    assert "tools: Bash, Read, Glob, Grep" in head
    assert all(f'"{said}"' in head for said in ("curate memory", "run curator", "memory maintenance"))
