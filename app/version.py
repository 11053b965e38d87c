"""Version of the package."""

from importlib import import_module

try:
    VERSION: str = import_module("clawmem.app._version").VERSION
except ModuleNotFoundError:  # a tree that was never built
    VERSION = "0.1.0"
