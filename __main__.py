"""``python -m clawmem``."""

from clawmem.app.main import main

if __name__ == "__main__":
    main()
