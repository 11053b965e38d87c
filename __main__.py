"""``python -m clawmem``."""

from clawmem.app.interfaces.cli.main import main

if __name__ == "__main__":
    main()
