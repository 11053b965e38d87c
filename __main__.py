"""``python -m clawmem``."""

from clawmem.app.cli.main import main

if __name__ == "__main__":
    main()
