"""``clawmem install-service``: the file that is left, and what the system is told."""

from __future__ import annotations

import configparser
import json
import plistlib
import shlex
import sys
from functools import partial
from pathlib import Path

import pytest
from command_line import Invoke

from clawmem.app.serve.service_units import (
    MANAGERS,
    Service,
    change_service,
    launch_agent,
    systemd_unit,
)

ODD = Service(
    "clawmem: keeps up",
    ("/opt/my python/bin/python", "-I", "-m", "clawmem", "watch", "--vault", '/a "b"/50%/$HOME/c\\d.sqlite'),
    {"XDG_CONFIG_HOME": "/home/me/my %config"},
)

linux = pytest.mark.skipif(sys.platform != "linux", reason="the unit of this system is another one")


def unit(text: str) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(text)
    return parser


def test_every_system_is_told_the_same() -> None:
    """Whatever stands in a path, the program gets it as it is."""
    said = unit(systemd_unit("watcher", ODD))["Service"]
    words = shlex.split(said["ExecStart"].replace("%%", "%").replace("$$", "$"))
    agent = plistlib.loads(launch_agent("watcher", ODD).encode())

    assert tuple(words) == tuple(ODD.command) == tuple(agent["ProgramArguments"])
    assert said["Environment"] == '"XDG_CONFIG_HOME=/home/me/my %%config"'
    assert agent["EnvironmentVariables"] == ODD.variables


@pytest.mark.parametrize("platform", sorted(MANAGERS))
def test_installed_once(tmp_path: Path, platform: str) -> None:
    """Again changes nothing; removed it is gone; a dry run writes nothing."""
    file = tmp_path / MANAGERS[platform].file.format(name="watcher")
    change = partial(change_service, platform, tmp_path, "watcher")
    assert change(ODD, dry_run=True).changed
    assert not file.exists()

    first, again = change(ODD), change(ODD)
    assert (first.changed, again.changed) == (True, False)
    assert file.read_text("utf-8") == first.text
    assert [path.name for path in file.parent.iterdir()] == [file.name]
    assert change(None, dry_run=True).changed
    assert (change(None).changed, change(None).changed) == (True, False)
    assert not file.exists()


@linux
def test_the_command(invoke: Invoke, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The unit runs the watcher of this installation, over the vault that this shell would use."""
    monkeypatch.setenv("INDEX_PATH", str(home / "my vault.sqlite"))
    file = home / ".config/systemd/user/clawmem-watcher.service"
    shown = invoke("install-service", "--dry-run")
    assert not file.exists()
    done = json.loads(invoke("install-service", "--json").output)

    assert (done["file"], done["changed"]) == (str(file), True)
    assert file.read_text("utf-8") == shown.output
    words = shlex.split(unit(shown.output)["Service"]["ExecStart"])
    assert words[0] == sys.executable
    assert words[-3:] == ["watch", "--vault", str(home / "my vault.sqlite")]
    assert "nothing to change" in invoke("install-service").output
    assert "disable --now clawmem-watcher.service" in invoke("install-service", "--remove").output
    assert not file.exists()


@linux
def test_the_server(invoke: Invoke, home: Path) -> None:
    """A service of its own, beside the watcher's; what is no service, or not the server's to do, is refused."""
    folder = home / ".config" / "systemd" / "user"
    done = json.loads(invoke("install-service", "serve", "--json").output)
    invoke("install-service")

    assert done["next"] == "systemctl --user enable --now clawmem-serve.service"
    assert shlex.split(unit(done["text"])["Service"]["ExecStart"])[-3:-1] == ["serve", "--vault"]
    assert {path.name for path in folder.iterdir()} == {"clawmem-serve.service", "clawmem-watcher.service"}
    assert invoke("install-service", "serve", "--remove").exit_code == 0
    assert {path.name for path in folder.iterdir()} == {"clawmem-watcher.service"}
    assert invoke("install-service", "everything").exit_code == 2
