"""Watcher and server as services of the user's own session: one description, written as each system wants it."""

from __future__ import annotations

import plistlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from clawmem.app.services.setup.text_file import TextFile
from clawmem.ports.errors import ConfigError

RESTARTS_AFTER_S = 5
STOPS_WITHIN_S = 20  # a little more than either takes


class Service(NamedTuple):
    """
    ``name`` is what its file is called by; ``command`` is the program with its arguments; ``variables`` are those that
    it needs of the environment.
    """

    name: str
    description: str
    command: Sequence[str]
    variables: Mapping[str, str]


class Manager(NamedTuple):
    """
    What starts services on a system.

    ``file`` is below the home folder, ``{name}`` the name of the service; ``begin`` and ``end`` are commands, where
    ``{file}`` stands for its path.
    """

    file: str
    text: Callable[[Service], str]
    begin: Sequence[str]
    end: Sequence[str]


@dataclass(frozen=True, slots=True)
class UnitChange:
    """What became of the file of a service, or would: ``text`` is all of it, empty when it is to go."""

    file: str
    text: str
    changed: bool
    next: str


def systemd_unit(service: Service) -> str:
    """*service* as a unit of systemd."""
    environment = (
        f'Environment="{_escaped(f"{name}={value}")}"' for name, value in service.variables.items()
    )
    # A dollar stands for a variable in commands, and in commands alone.
    command = " ".join(f'"{_escaped(word).replace("$", "$$")}"' for word in service.command)
    return "\n".join(
        [
            "[Unit]",
            f"Description={service.description}",
            "",
            "[Service]",
            "Type=simple",
            *environment,
            f"ExecStart={command}",
            "Restart=on-failure",
            f"RestartSec={RESTARTS_AFTER_S}",
            f"TimeoutStopSec={STOPS_WITHIN_S}",
            "",
            "[Install]",
            "WantedBy=default.target",
            "",
        ]
    )


def launch_agent(service: Service) -> str:
    """*service* as an agent of launchd."""
    agent = {
        "Label": f"clawmem.{service.name}",
        "ProgramArguments": list(service.command),
        "EnvironmentVariables": dict(service.variables),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": RESTARTS_AFTER_S,
        "ExitTimeOut": STOPS_WITHIN_S,
        "ProcessType": "Background",
    }
    return plistlib.dumps(agent).decode("utf-8")


_UNIT = "clawmem-{name}.service"
MANAGERS = {
    "linux": Manager(
        f".config/systemd/user/{_UNIT}",
        systemd_unit,
        ("systemctl", "--user", "enable", "--now", _UNIT),
        ("systemctl", "--user", "disable", "--now", _UNIT),
    ),
    "darwin": Manager(
        "Library/LaunchAgents/clawmem.{name}.plist",
        launch_agent,
        ("launchctl", "load", "-w", "{file}"),
        ("launchctl", "unload", "-w", "{file}"),
    ),
}


def manager_of(platform: str) -> Manager:
    """
    What starts services there; *platform* as `sys.platform` has it.

    Raises:
        ConfigError: nothing that we know of.
    """
    if platform not in MANAGERS:
        raise ConfigError(
            "Services are installed for systemd and launchd. Let this system start: clawmem watch"
        )
    return MANAGERS[platform]


class InstallService:
    """Writes or deletes the file of one service below *home*; repeating it changes nothing."""

    def __init__(self, manager: Manager, home: Path, name: str, *, dry_run: bool = False) -> None:
        self._manager = manager
        self._name = name
        self._file = TextFile(home / manager.file.format(name=name))
        self._dry_run = dry_run

    def install(self, service: Service) -> UnitChange:
        """Raises `ConfigError` when the file cannot be written."""
        text = self._manager.text(service)
        changed = self._file.read() != text
        if changed and not self._dry_run:
            self._file.write(text)
        return UnitChange(str(self._file.path), text, changed, self.shell(self._manager.begin))

    def remove(self) -> UnitChange:
        """Raises `ConfigError` when the file cannot be deleted."""
        changed = self._file.read() is not None
        if changed and not self._dry_run:
            self._file.delete()
        return UnitChange(str(self._file.path), "", changed, self.shell(self._manager.end))

    def shell(self, command: Sequence[str]) -> str:
        """*command* as a person types it."""
        import shlex

        return shlex.join(word.format(file=self._file.path, name=self._name) for word in command)


def _escaped(text: str) -> str:
    """*text* between the double quotes of a unit; a percent sign begins a placeholder there."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("\n", "\\n")
