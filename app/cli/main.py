"""The ``clawmem`` command."""

from __future__ import annotations

import sys

VERSION = "0.1.0"


def main() -> None:
    """Run the command line of this process; what answers at once answers before anything is imported."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        sys.stdout.write(f"clawmem {VERSION}\n")
        return
    from clawmem.app.cli.command_line import cli

    cli()
