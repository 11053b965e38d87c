"""What a prompt makes a cold process load: that, and not the answer, is most of what it pays."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest
from command_line import Invoke
from programs import modules_of_hook
from server_process import serving

PROMPT = "why did we move the login sessions to Postgres?"
# The frameworks of the other interfaces, and libraries that run models.
NEVER = {
    "httpx2", "mcp", "onnxruntime", "rich", "typer", "wordllama",
}  # fmt: skip
CONTAINER = {
    "asyncio",
    "dependency_injector",
    "fastapi",
    "starlette",
    "clawmem.app.bootstrap.container",
    "clawmem.adapters.sqlite.vault",
}
SETTINGS = {"clawmem.adapters", "clawmem.app.settings", "pydantic", "apsw"}
MODELS = {"clawmem.adapters.models", "numpy", "tokenizers"}


def loaded(environ: dict[str, str], home: Path, prompt: str, profile: str) -> tuple[str, set[str]]:
    """The answer to *prompt*, and the modules that its process has loaded by then."""
    event = {"hook_event_name": "UserPromptSubmit", "session_id": uuid4().hex, "prompt": prompt}
    return modules_of_hook("context-surfacing", event, cwd=home, env={**environ, "CLAWMEM_PROFILE": profile})


def test_what_a_served_prompt_loads(embedded: None, environ: dict[str, str], home: Path) -> None:
    """What asks the server and nothing of what answers: no storage, no rules and no models."""
    alone = {
        "clawmem.adapters",
        "clawmem.app.bootstrap",
        "clawmem.app.settings",
        "clawmem.domain",
        "apsw",
        "pydantic",
    }

    with serving(environ, home, "--port", "0", "--no-watch"):
        for _ in range(5):  # on a busy machine the hook does not wait for the server, and answers alone
            told, modules = loaded(environ, home, PROMPT, "balanced")
            if not (needless := among(modules, NEVER | CONTAINER | MODELS | alone)):
                break

    assert told
    assert needless == set()


def among(modules: set[str], names: set[str]) -> set[str]:
    """Which of *names*, modules or whole packages, were loaded."""
    return {name for name in names if any(f"{module}.".startswith(f"{name}.") for module in modules)}


@pytest.fixture
def embedded(invoke: Invoke, bootstrapped: Path) -> None:
    """A vault that holds the notes with their vectors."""


@pytest.mark.parametrize(
    ("prompt", "profile", "left_alone"),
    [
        ("hi", "balanced", NEVER | CONTAINER | MODELS | SETTINGS),
        ("/compact", "balanced", NEVER | CONTAINER | MODELS | SETTINGS),
        (PROMPT, "speed", NEVER | MODELS),
        (PROMPT, "balanced", NEVER),
    ],
)
def test_what_a_prompt_loads(
    embedded: None, environ: dict[str, str], home: Path, prompt: str, profile: str, left_alone: set[str]
) -> None:
    """
    A greeting reads no settings and opens no vault; by words nothing of models is loaded; no prompt loads the frameworks of other interfaces.

    The answer is there all the same.
    """
    told, modules = loaded(environ, home, prompt, profile)

    assert among(modules, left_alone) == set()
    assert bool(told) == (prompt == PROMPT)
    assert ("clawmem.adapters.models.local" in modules) == (prompt == PROMPT and profile == "balanced")
