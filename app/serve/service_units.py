"""Watcher and server as services of the user session: one description for systemd and launchd."""

from __future__ import annotations

import plistlib
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from clawmem.app.environment.private_files import make_folder, write_whole
from clawmem.ports.errors import ConfigError

RESTARTS_AFTER_S = 5
STOPS_WITHIN_S = 20  # slightly more than watcher and server need to stop
SYSTEMD_UNIT = """\
[Unit]
Description={description}

[Service]
Type=simple
{environment}ExecStart={command}
Restart=on-failure
RestartSec={restart}
TimeoutStopSec={stop}

[Install]
WantedBy=default.target
"""


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

    def quoted(text: str) -> str:  # a percent sign starts a specifier
        escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("\n", "\\n")
        return f'"{escaped}"'

    return SYSTEMD_UNIT.format(
        description=service.description,
        environment="".join(
            f"Environment={quoted(f'{name}={value}')}\n" for name, value in service.variables.items()
        ),
        # A dollar sign starts a variable in commands, but not in Environment.
        command=" ".join(quoted(word.replace("$", "$$")) for word in service.command),
        restart=RESTARTS_AFTER_S,
        stop=STOPS_WITHIN_S,
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


def change_service(
    platform: str, home: Path, name: str, service: Service | None, *, dry_run: bool = False
) -> UnitChange:
    """
    Write the file of *service* below *home*, or delete that of *name*; repeating either changes nothing.

    Args:
        platform: A value of `sys.platform`.

    Raises:
        ConfigError: the platform is not supported, or the file cannot be changed.
    """
    if platform not in MANAGERS:
        raise ConfigError(
            "Services are installed for systemd and launchd. Let this system start: clawmem watch"
        )
    manager = MANAGERS[platform]
    file = home / manager.file.format(name=name)
    text = manager.text(service) if service else ""
    try:
        before = file.read_text("utf-8") if file.exists() else ""
        if before != text and not dry_run:
            if service:
                make_folder(file.parent)
                write_whole(file, text.encode())
            else:
                file.unlink()
    except OSError as error:
        raise ConfigError(f"{file} cannot be changed: {error.strerror}. It is as it was.") from error
    command = manager.begin if service else manager.end
    following = shlex.join(word.format(file=file, name=name) for word in command)
    return UnitChange(str(file), text, before != text, following)
