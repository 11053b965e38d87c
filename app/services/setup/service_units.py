"""Watcher and server as services of the user session: one description for systemd and launchd."""

from __future__ import annotations

import plistlib
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from clawmem.app.services.setup.steps import TextFile
from clawmem.ports.errors import ConfigError

RESTARTS_AFTER_S = 5
STOPS_WITHIN_S = 20  # slightly more than watcher and server need to stop


class Service(NamedTuple):
    """
    A service: ``name`` is part of its file name, ``command`` the program with its arguments, and ``variables`` its
    environment variables.
    """

    name: str
    description: str
    command: Sequence[str]
    variables: Mapping[str, str]


class Manager(NamedTuple):
    """
    The service manager of a system.

    ``file`` is a path below the home folder, where ``{name}`` is the name of the service; ``begin`` and ``end`` are
    commands, where ``{file}`` is that path.
    """

    file: str
    text: Callable[[Service], str]
    begin: Sequence[str]
    end: Sequence[str]


@dataclass(frozen=True, slots=True)
class UnitChange:
    """The change to the file of a service, made or planned: ``text`` is its new content, empty if it is removed."""

    file: str
    text: str
    changed: bool
    next: str


def systemd_unit(service: Service) -> str:
    """Return *service* as a systemd unit."""
    environment = (
        f'Environment="{_escaped(f"{name}={value}")}"' for name, value in service.variables.items()
    )
    # A dollar sign starts a variable in commands, but not in Environment.
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
    """Return *service* as a launchd agent."""
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
    Return the service manager of *platform*, which is a value of `sys.platform`.

    Raises:
        ConfigError: the platform is not supported.
    """
    if platform not in MANAGERS:
        raise ConfigError(
            "Services are installed for systemd and launchd. Let this system start: clawmem watch"
        )
    return MANAGERS[platform]


class InstallService:
    """Writes or deletes the file of one service below *home*. Repeating either changes nothing."""

    def __init__(self, manager: Manager, home: Path, name: str, *, dry_run: bool = False) -> None:
        self._manager = manager
        self._name = name
        self._file = TextFile(home / manager.file.format(name=name))
        self._dry_run = dry_run

    def install(self, service: Service) -> UnitChange:
        """Write the service file and return the change. Raises `ConfigError` if it cannot be written."""
        text = self._manager.text(service)
        changed = self._file.read() != text
        if changed and not self._dry_run:
            self._file.write(text)
        return UnitChange(str(self._file.path), text, changed, self.shell(self._manager.begin))

    def remove(self) -> UnitChange:
        """Delete the service file and return the change. Raises `ConfigError` if it cannot be deleted."""
        changed = self._file.read() is not None
        if changed and not self._dry_run:
            self._file.delete()
        return UnitChange(str(self._file.path), "", changed, self.shell(self._manager.end))

    def shell(self, command: Sequence[str]) -> str:
        """Return *command* as a shell command line."""
        return shlex.join(word.format(file=self._file.path, name=self._name) for word in command)


def _escaped(text: str) -> str:
    """Escape *text* for double quotes in a unit, where a percent sign starts a specifier."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("\n", "\\n")
