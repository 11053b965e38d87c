"""Watcher and server as services of the user session, for systemd and launchd."""

from __future__ import annotations

import plistlib
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from clawmem.ports.errors import ConfigError

RESTARTS_AFTER_S = 5
STOPS_WITHIN_S = 20  # slightly more than watcher and server need to stop


class Unit(NamedTuple):
    """The file of a service and its text, and the commands that begin and end its start at every login."""

    file: Path
    text: str
    begin: str
    end: str


def unit_of(
    platform: str,
    home: Path,
    name: str,
    description: str,
    command: Sequence[str],
    variables: Mapping[str, str],
) -> Unit:
    """
    Return the unit of the service *name*, which runs *command* with the environment *variables*.

    Args:
        platform: A value of `sys.platform`.

    Raises:
        ConfigError: the platform is not supported.
    """
    if platform == "linux":
        unit = f"clawmem-{name}.service"
        # A dollar sign starts a variable in commands, but not in Environment.
        start = " ".join(_quoted(word.replace("$", "$$")) for word in command)
        environment = "".join(
            f"Environment={_quoted(f'{name}={value}')}\n" for name, value in variables.items()
        )
        text = f"""\
[Unit]
Description={description}

[Service]
Type=simple
{environment}ExecStart={start}
Restart=on-failure
RestartSec={RESTARTS_AFTER_S}
TimeoutStopSec={STOPS_WITHIN_S}

[Install]
WantedBy=default.target
"""
        control = f"systemctl --user {{}} --now {unit}"
        file = home / ".config" / "systemd" / "user" / unit
        return Unit(file, text, control.format("enable"), control.format("disable"))
    if platform == "darwin":
        agent = {
            "Label": f"clawmem.{name}",
            "ProgramArguments": list(command),
            "EnvironmentVariables": dict(variables),
            "RunAtLoad": True,
            "KeepAlive": {"SuccessfulExit": False},
            "ThrottleInterval": RESTARTS_AFTER_S,
            "ExitTimeOut": STOPS_WITHIN_S,
            "ProcessType": "Background",
        }
        file = home / "Library" / "LaunchAgents" / f"clawmem.{name}.plist"
        begin, end = (f"launchctl {verb} -w {shlex.quote(str(file))}" for verb in ("load", "unload"))
        return Unit(file, plistlib.dumps(agent).decode("utf-8"), begin, end)
    raise ConfigError("Services are installed for systemd and launchd. Let this system start: clawmem watch")


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return '"' + escaped.replace("%", "%%") + '"'  # a percent sign starts a specifier
