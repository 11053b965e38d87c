"""Hooks over a vault whose indexes another backend keeps: found where the config file says, at no cost to the others."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from command_line import Invoke, write_file

from clawmem.app.interfaces.hooks.handlers import HookContext, context_surfacing
from clawmem.app.interfaces.hooks.protocol import HookEvent

PROMPT = "Where do login sessions live, and for how many days?"


def served_by(environ: dict[str, str]) -> tuple[str, str]:
    """Who answers a hook, by words and by meaning."""
    with HookContext(environ).services() as services:
        assert services
        return services.vault.lexical.method, services.vault.vectors.method


@pytest.mark.skipif(not find_spec("lancedb"), reason="needs the extra lancedb")
def test_an_index_elsewhere(
    invoke: Invoke, notes: Path, home: Path, tmp_path: Path, environ: dict[str, str]
) -> None:
    """The options say where it is; the hook asks it there, and not the vault in its place."""
    config = home / ".config/clawmem/config.yaml"
    write_file(config, f"backend_options:\n  uri: '{tmp_path}/elsewhere'\n")
    assert invoke("--backend", "lancedb", "bootstrap", notes).exit_code == 0

    assert served_by(environ) == ("lancedb", "lancedb")
    # In this process, which has loaded the engine: that alone may take a new one longer than an answer may.
    assert "Redis for 14 days" in context_surfacing(HookEvent(prompt=PROMPT), HookContext(environ))

    config.write_text("", "utf-8")
    assert "does not exist" in served_by(environ)[0]
