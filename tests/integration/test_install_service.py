"""``clawmem install-service``: the file that is left, and what the system is told."""

from __future__ import annotations

import configparser
import json
import shlex
import sys
from pathlib import Path

import pytest
from command_line import Invoke

from clawmem.app.serve.commands import unit_of

COMMAND = (
    "/opt/my python/bin/python",
    "-I",
    "-m",
    "clawmem",
    "watch",
    "--vault",
    '/a "b"/50%/$HOME/c\\d.sqlite',
)
VARIABLES = {"XDG_CONFIG_HOME": "/home/me/my %config"}

linux = pytest.mark.skipif(sys.platform != "linux", reason="the unit of this system is another one")


def unit(text: str) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(text)
    return parser


def test_systemd_is_told_the_same() -> None:
    """Whatever stands in a path, the program gets it as it is."""
    section = unit(unit_of(COMMAND, VARIABLES))["Service"]
    words = shlex.split(section["ExecStart"].replace("%%", "%").replace("$$", "$"))

    assert tuple(words) == COMMAND
    assert section["Environment"] == '"XDG_CONFIG_HOME=/home/me/my %%config"'


@linux
def test_the_command(invoke: Invoke, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The unit runs the watcher of this installation, over the vault that this shell would use."""
    monkeypatch.setenv("INDEX_PATH", str(home / "my vault.sqlite"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "xdg"))
    file = home / "xdg/systemd/user/clawmem-watcher.service"
    assert "bootstrap PATH" in invoke("install-service").stderr
    invoke("vault", "init")
    done = json.loads(invoke("install-service", "--json").output)

    text = file.read_text("utf-8")
    assert (done["file"], done["text"]) == (str(file), text)
    words = shlex.split(unit(text)["Service"]["ExecStart"])
    assert words[0] == sys.executable
    assert words[-3:] == ["watch", "--vault", str(home / "my vault.sqlite")]
    assert f'Environment="INDEX_PATH={home}/my vault.sqlite"' in text
    assert "systemctl --user stop clawmem-watcher.service" in invoke("install-service", "--remove").output
    assert not file.exists()
    assert "There is no service" in invoke("install-service", "--remove").output
