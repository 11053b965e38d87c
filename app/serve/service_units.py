"""Watcher and server as services of the user session: one description for systemd and launchd."""

from __future__ import annotations

import plistlib
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from clawmem.app.environment.private_files import make_folder, write_whole
from clawmem.ports.errors import ConfigError

RESTARTS_AFTER_S = 5
STOPS_WITHIN_S = 20  # slightly more than watcher and server need to stop
SYSTEMD_UNIT = f"""\
[Unit]
Description={{description}}

[Service]
Type=simple
{{environment}}ExecStart={{command}}
Restart=on-failure
RestartSec={RESTARTS_AFTER_S}
TimeoutStopSec={STOPS_WITHIN_S}

[Install]
WantedBy=default.target
"""


class Service(NamedTuple):
    """A service: the program with its arguments, and its environment variables."""

    description: str
    command: Sequence[str]
    variables: Mapping[str, str]


class Manager(NamedTuple):
    """The service manager of a system: the unit's path below the home folder, its text, and the commands for it."""

    file: str
    text: Callable[[str, Service], str]
    begin: str
    end: str


class UnitChange(NamedTuple):
    """The change to the file of a service, made or planned: ``text`` is its new content, empty if it is removed."""

    file: str
    text: str
    changed: bool
    next: str


def systemd_unit(name: str, service: Service) -> str:
    """Return *service* as a systemd unit."""

    def quoted(text: str) -> str:  # a percent sign starts a specifier
        escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("\n", "\\n")
        return f'"{escaped}"'

    assignments = (quoted(f"{variable}={value}") for variable, value in service.variables.items())
    return SYSTEMD_UNIT.format(
        description=service.description,
        environment="".join(f"Environment={assignment}\n" for assignment in assignments),
        # A dollar sign starts a variable in commands, but not in Environment.
        command=" ".join(quoted(word.replace("$", "$$")) for word in service.command),
    )


def launch_agent(name: str, service: Service) -> str:
    """Return *service* as a launchd agent."""
    agent = {
        "Label": f"clawmem.{name}",
        "ProgramArguments": list(service.command),
        "EnvironmentVariables": dict(service.variables),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": RESTARTS_AFTER_S,
        "ExitTimeOut": STOPS_WITHIN_S,
        "ProcessType": "Background",
    }
    return plistlib.dumps(agent).decode("utf-8")


MANAGERS = {
    "linux": Manager(
        ".config/systemd/user/clawmem-{name}.service",
        systemd_unit,
        "systemctl --user enable --now clawmem-{name}.service",
        "systemctl --user disable --now clawmem-{name}.service",
    ),
    "darwin": Manager(
        "Library/LaunchAgents/clawmem.{name}.plist",
        launch_agent,
        "launchctl load -w {file}",
        "launchctl unload -w {file}",
    ),
}


def change_service(
    platform: str, home: Path, name: str, service: Service | None, *, dry_run: bool = False
) -> UnitChange:
    """
    Write the file of the service *name* below *home*, or delete it without a *service*; repeating either changes nothing.

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
    text = manager.text(name, service) if service else ""
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
    return UnitChange(str(file), text, before != text, command.format(file=shlex.quote(str(file)), name=name))
