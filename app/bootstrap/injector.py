"""
The package dependency-injector without its integrations.

It imports every web framework and settings library of a list that is installed, for integrations that are not used
here. That takes three times as long as all of its own code, and half of the time of a prompt that no server answers.
"""

import sys

_HIDDEN = {"fastapi", "starlette", "werkzeug", "fast_depends", "pydantic_settings"} - sys.modules.keys()
sys.modules.update(dict.fromkeys(_HIDDEN))  # type: ignore[arg-type]
try:
    from dependency_injector import containers, providers
finally:
    for _name in _HIDDEN:
        del sys.modules[_name]

__all__ = ["containers", "providers"]
