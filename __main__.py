"""``python -m clawmem``."""

import sys


def main() -> None:
    """Run `clawmem.app.main.main`; Ctrl-C also ends the process without a traceback while modules are imported."""
    try:
        from clawmem.app.main import main as run_command

        run_command()
    except KeyboardInterrupt:
        sys.stderr.write("clawmem: interrupted.\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
