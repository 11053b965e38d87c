"""What a prompt makes a cold process load: that, and not the answer, is most of what it pays."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest
from server_process import serving
from typer.testing import Result

Invoke = Callable[..., Result]

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "notes"
BY_TYPING = re.compile(r"^\s*from typing import .*\bNamedTuple\b", re.MULTILINE)
PROMPT = "why did we move the login sessions to Postgres?"
# The frameworks of the other doors, what runs models, what brings OpenSSL along for a number between 0 and 1, and
# dataclasses, of which each costs a cold process a millisecond: what crosses a port on this path is a named tuple.
NEVER = {
    "asyncio", "dataclasses", "dependency_injector", "httpx2", "importlib.metadata", "hashlib", "inspect",
    "logging", "mcp", "numpy", "onnxruntime", "pydantic", "random", "rich", "ruamel", "secrets", "socket", "sqlite_vec",
    "starlette", "tokenizers", "typer", "wordllama", "clawmem.app.container", "clawmem.app.settings", "clawmem.domain.capture.extraction",
    "clawmem.domain.retrieval.temporal_grammar",
}  # fmt: skip
MODELS = {"clawmem.adapters.models", "clawmem.adapters.http", "queue"}
VAULT = {"clawmem.ports.errors", "clawmem.ports.records", "datetime"}


def loaded(
    environ: dict[str, str], home: Path, prompt: str, profile: str, first: str = ""
) -> tuple[str, set[str]]:
    """The answer to *prompt*, and the modules that its process has loaded by then; it does *first* before all else."""
    code = (
        f"{first}\n"
        "import os, sys\n"
        "leave, already = os._exit, {*sys.modules}\n"  # what finds an editable installation is not ours
        "os._exit = lambda code: (os.write(2, ' '.join({*sys.modules} - already).encode()), leave(code))\n"
        "sys.argv = ['clawmem', 'hook', 'context-surfacing']\n"
        "from clawmem.app.main import main\n"
        "main()\n"
    )
    event = {"hook_event_name": "UserPromptSubmit", "session_id": uuid4().hex, "prompt": prompt}
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        input=json.dumps(event).encode(),
        capture_output=True,
        cwd=home,
        env={**environ, "CLAWMEM_PROFILE": profile},
    )
    told = json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    return told, set(done.stderr.decode().split())


def test_what_a_served_prompt_loads(embedded: None, environ: dict[str, str], home: Path) -> None:
    """What asks the server and nothing of what answers: neither paths nor types nor the library's sockets."""
    alone = {"clawmem.adapters.sqlite", "clawmem.domain", "apsw", "pathlib", "socket", "typing"}
    without_tools = "import sys\nfor name in ('pathlib', 'typing', 'socket'): sys.modules.pop(name, None)\n"

    with serving(environ, home, "--port", "0", "--no-watch"):
        told, modules = loaded(environ, home, PROMPT, "balanced", first=without_tools)

    assert told
    assert among(modules, NEVER | MODELS | VAULT | alone) == set()


def test_tuples_are_made_cheaply(embedded: None, environ: dict[str, str], home: Path) -> None:
    """Whatever a prompt loads makes its tuples with ``clawmem.ports.named_tuple``: ``typing`` takes three times as long."""
    _, modules = loaded(environ, home, PROMPT, "balanced")
    files = {
        name: ROOT.joinpath(*name.split(".")[1:]).with_suffix(".py")
        for name in modules
        if name.startswith("clawmem.")
    }

    dear = {
        name for name, file in files.items() if file.is_file() and BY_TYPING.search(file.read_text("utf-8"))
    }

    assert dear == {"clawmem.ports.named_tuple"}  # for type checkers


def among(modules: set[str], names: set[str]) -> set[str]:
    """Which of *names*, modules or whole packages, were loaded."""
    return {name for name in names if any(f"{module}.".startswith(f"{name}.") for module in modules)}


@pytest.fixture
def embedded(invoke: Invoke, notes: Path) -> None:
    """A vault that holds the notes with their vectors."""
    assert invoke("bootstrap", notes).exit_code == 0


@pytest.mark.parametrize(
    ("prompt", "profile", "left_alone"),
    [
        ("hi", "balanced", NEVER | MODELS | VAULT),
        ("/compact", "balanced", NEVER | MODELS | VAULT),
        (PROMPT, "speed", NEVER | MODELS),
        (PROMPT, "balanced", NEVER),
    ],
)
def test_what_a_prompt_loads(
    embedded: None, environ: dict[str, str], home: Path, prompt: str, profile: str, left_alone: set[str]
) -> None:
    """
    A greeting opens no vault; by words nothing of models is loaded; by meaning neither numpy nor a tokenizer is.

    The answer is there all the same.
    """
    told, modules = loaded(environ, home, prompt, profile)

    files = {"clawmem.adapters.files", "clawmem.adapters.files.regular"}  # the settings are read with these
    adapters = {name for name in modules if name.startswith("clawmem.adapters.")} - files
    assert among(modules, left_alone) == set()
    assert (adapters == {"clawmem.adapters.sqlite", "clawmem.adapters.sqlite.silent_turn"}) == (
        prompt != PROMPT
    )
    assert bool(told) == (prompt == PROMPT)
    assert ("clawmem.adapters.models.static_pure" in modules) == (prompt == PROMPT and profile == "balanced")


def test_numpy_would_say_the_same(invoke: Invoke, environ: dict[str, str], home: Path) -> None:
    """The block over the example notes, with the static vectors as every other door reads them."""
    assert invoke("bootstrap", EXAMPLES).exit_code == 0
    asked = "how are the backups tested, and who restores them?"
    patient = (
        "from clawmem.domain.surfacing import profiles as p\n"
        "p.PROFILES = {'balanced': p.PROFILES['balanced']._replace(vector_s=30.0, deadline_s=60.0)}\n"
        "from clawmem.app.interfaces.hooks import registry as r\n"
        "r.HOOKS['context-surfacing'] = r.HOOKS['context-surfacing']._replace(patience_s=60)\n"
    )
    by_the_library = "from clawmem.adapters.models import static_pure; static_pure.KNOWN = ''"

    told, modules = loaded(environ, home, asked, "balanced", first=patient)
    again, with_numpy = loaded(environ, home, asked, "balanced", first=patient + by_the_library)

    assert ("numpy" in modules, "numpy" in with_numpy) == (False, True)
    assert told.count("\n**") > 2
    assert told == again
