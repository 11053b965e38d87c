"""Models that are downloaded or taken from a file: interrupted, continued, refused, and never there in part."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

import pytest
from command_line import Invoke
from llama_server import Role, write_model
from scripted_server import Answer, ReceivedRequest, ScriptedReply, ScriptedServer, scripted

from clawmem.adapters.models import catalogue
from clawmem.adapters.models.catalogue import PUBLISHED, Model, RemoteFile
from clawmem.ports.errors import ConfigError

pytestmark = pytest.mark.skipif(
    not (find_spec("xllamacpp") and find_spec("gguf") and find_spec("huggingface_hub")),
    reason="needs pip install xllamacpp gguf huggingface-hub",
)

COMMIT = "0" * 40
Serve = Callable[[Answer], ScriptedServer]


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Starts a stand-in for huggingface.co, where models are then fetched."""
    with ExitStack() as stack:

        def start(answer: Answer) -> ScriptedServer:
            server = stack.enter_context(scripted(answer))
            monkeypatch.setenv("HF_ENDPOINT", server.url)
            return server

        yield start


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tiny") / "tiny.gguf"
    write_model(Role.EMBED, path)
    return path


@pytest.fixture
def published(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> catalogue.PublishedModel:
    """The embedder of the catalogue, with the tiny model in the place of the published file."""
    content = tiny.read_bytes()
    remote = RemoteFile("some/tiny", COMMIT, "tiny.gguf", len(content), sha256(content).hexdigest())
    embedder = next(model for model in PUBLISHED if model.name == "embeddinggemma")
    changed = embedder._replace(files={"model.gguf": remote})
    others = [model for model in PUBLISHED if model is not embedder]
    monkeypatch.setattr(catalogue, "PUBLISHED", (*others, changed))
    return changed


def hub(content: bytes, *, cut_off_at: int = 0) -> Answer:
    """The hub with one file, whose first transfer breaks off after so many bytes."""
    cuts = iter([cut_off_at] if cut_off_at else [])
    etag = sha256(content).hexdigest()

    def answer(asked: ReceivedRequest) -> ScriptedReply:
        start = int(asked.headers.get("range", "bytes=0-").removeprefix("bytes=").split("-")[0] or 0)
        headers = {"ETag": f'"{etag}"', "X-Repo-Commit": COMMIT, "Accept-Ranges": "bytes"}
        rest = content[start:]
        if start:
            headers["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
        if asked.method == "GET" and (cut := next(cuts, 0)):
            return ScriptedReply(rest[:cut], 206 if start else 200, headers, claimed=len(rest))
        return ScriptedReply(rest, 206 if start else 200, headers)

    return answer


def test_it_is_added_by_command_used_and_removed(
    published: catalogue.PublishedModel, serve: Serve, tiny: Path, invoke: Invoke, tmp_path: Path
) -> None:
    """``models add`` says how much it is, ``use`` makes it the vault's, ``remove`` takes it away."""
    serve(hub(tiny.read_bytes(), cut_off_at=1000))
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "sessions.md").write_text("# Sessions\n\nLogin sessions live in Redis.\n", "utf-8")

    added = invoke("models", "add", "embeddinggemma")
    assert (added.exit_code, "name: embeddinggemma" in added.stdout) == (0, True), added.output
    assert _state(invoke)["origin"] == "published"

    assert invoke("models", "use", "embeddinggemma").exit_code == 0
    assert invoke("bootstrap", notes).exit_code == 0
    assert json.loads(invoke("--json", "status").stdout)["model"].startswith("llama.cpp:embeddinggemma:")
    assert json.loads(invoke("--json", "query", "--mode", "vectors", "Redis").stdout)["results"]

    assert invoke("models", "remove", "embeddinggemma").exit_code == 2
    assert invoke("models", "use", "static").exit_code == 0
    assert invoke("models", "remove", "embeddinggemma").exit_code == 0
    assert not _state(invoke)["there"]


def test_without_leave_it_is_not(published: catalogue.PublishedModel, serve: Serve, tmp_path: Path) -> None:
    """Nobody's machine fetches a gigabyte unasked."""
    server = serve(hub(b""))

    with pytest.raises(ConfigError, match=r"clawmem models add embeddinggemma.*FILE"):
        Model(published, tmp_path / "models").opened()

    assert server.asked == []


@pytest.mark.parametrize(
    "answer",
    [
        hub(b"other bytes" * 1000),
        lambda asked: ScriptedReply(b"", 404),
        lambda asked: ScriptedReply(b"<html>", 401),
        lambda asked: ScriptedReply(b"no http", is_raw=True),
    ],
    ids=["other bytes", "404", "401", "no http"],
)
def test_what_cannot_be_had_says_why_and_what_to_do(
    published: catalogue.PublishedModel, serve: Serve, tmp_path: Path, answer: Answer
) -> None:
    """There is one sentence, and no file."""
    serve(answer)
    model = Model(published, tmp_path / "models")

    with pytest.raises(ConfigError, match=r"could not be downloaded|differs from the published") as caught:
        model.add(None)

    assert " FILE" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not model.is_there()
    assert list(tmp_path.rglob("*.gguf")) == []


@pytest.mark.slow
def test_the_published_models(invoke: Invoke) -> None:
    """The real ones are fetched, have their hashes, and do what they are for: two gigabytes."""
    for model in (model for model in PUBLISHED if model.files):
        assert invoke("models", "add", model.name).exit_code == 0


def _state(invoke: Invoke) -> dict[str, object]:
    rows = json.loads(invoke("--json", "models", "list").stdout)["models"]
    return next(row for row in rows if row["name"] == "embeddinggemma")
