"""A model that is downloaded: cut off, gone on with, refused, and never there in part."""

from __future__ import annotations

import json
import os
import resource
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

import pytest
from command_line import Invoke
from llama_server import Role, write_model
from scripted_server import ReceivedRequest, ScriptedReply, ScriptedServer, scripted

from clawmem.adapters.llama import download as downloading
from clawmem.adapters.llama import published
from clawmem.adapters.llama.download import RemoteFile, download
from clawmem.adapters.llama.factories import local_embedder
from clawmem.adapters.llama.gguf_model import GgufModel
from clawmem.adapters.llama.model_file import part_of
from clawmem.ports.errors import ConfigError, ModelUnavailable

Answer = Callable[[ReceivedRequest], ScriptedReply]
Serve = Callable[[Answer], ScriptedServer]

CONTENT = bytes(range(256)) * 1000
HALF = len(CONTENT) // 2


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits before the next try, and no proxy stands between."""
    monkeypatch.setattr(downloading, "PAUSE_S", 0.0)
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Servers that end with the test."""
    with ExitStack() as stack:
        yield lambda answer: stack.enter_context(scripted(answer))


def in_parts(content: bytes, cut_off_at: int | None = None) -> Answer:
    """A server that knows of parts; with *cut_off_at* it hangs up there, once."""
    cuts = [] if cut_off_at is None else [cut_off_at]

    def answer(asked: ReceivedRequest) -> ScriptedReply:
        start = int(asked.headers["range"].removeprefix("bytes=").rstrip("-"))
        rest = content[start:]
        sent = rest[: cuts.pop()] if cuts else rest
        return ScriptedReply(
            sent, 206, {"Content-Range": f"bytes {start}-/{len(content)}"}, claimed=len(rest)
        )

    return answer


def remote(url: str, content: bytes = CONTENT, hash_: str = "") -> RemoteFile:
    """What is expected there."""
    return RemoteFile(f"{url}/m.gguf", len(content), hash_ or sha256(content).hexdigest())


def test_it_arrives_whole_and_tells_how_far_it_is(serve: Serve, tmp_path: Path) -> None:
    """The file is the one that was sent, nothing is left beside it, and every step was told."""
    steps: list[tuple[int, int]] = []

    download(
        remote(serve(in_parts(CONTENT)).url),
        tmp_path / "new" / "m.gguf",
        progress=lambda done, total: steps.append((done, total)),
    )

    assert (tmp_path / "new" / "m.gguf").read_bytes() == CONTENT
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["m.gguf"]
    assert steps == sorted(steps) and steps[-1] == (len(CONTENT), len(CONTENT))


def test_cut_off_in_the_middle_it_goes_on_there(serve: Serve, tmp_path: Path) -> None:
    """What came is not asked for again."""
    server = serve(in_parts(CONTENT, cut_off_at=HALF))

    download(remote(server.url), tmp_path / "m.gguf")

    assert (tmp_path / "m.gguf").read_bytes() == CONTENT
    assert [one.headers["range"] for one in server.asked] == ["bytes=0-", f"bytes={HALF}-"]


def test_another_process_goes_on_with_it(serve: Serve, tmp_path: Path) -> None:
    """What a broken-off download left is the beginning of the next one."""
    part_of(tmp_path / "m.gguf").write_bytes(CONTENT[:1000])
    server = serve(in_parts(CONTENT))

    download(remote(server.url), tmp_path / "m.gguf")

    assert (tmp_path / "m.gguf").read_bytes() == CONTENT
    assert [one.headers["range"] for one in server.asked] == ["bytes=1000-"]


def test_a_server_that_knows_no_parts_sends_the_whole(serve: Serve, tmp_path: Path) -> None:
    """The beginning that was there is thrown away instead of being doubled."""
    part_of(tmp_path / "m.gguf").write_bytes(CONTENT[:1000])

    download(remote(serve(lambda asked: ScriptedReply(CONTENT)).url), tmp_path / "m.gguf")

    assert (tmp_path / "m.gguf").read_bytes() == CONTENT


def test_a_beginning_that_is_too_long_is_thrown_away(serve: Serve, tmp_path: Path) -> None:
    """A leftover of another file is not in the way."""
    part_of(tmp_path / "m.gguf").write_bytes(CONTENT + b"more")
    server = serve(in_parts(CONTENT))

    download(remote(server.url), tmp_path / "m.gguf")

    assert (tmp_path / "m.gguf").read_bytes() == CONTENT


@pytest.mark.parametrize("sent", [CONTENT[::-1], CONTENT + b"more"], ids=["other bytes", "more bytes"])
def test_another_hash_is_refused(serve: Serve, tmp_path: Path, sent: bytes) -> None:
    """Nothing is installed that was not published, and nothing of it stays."""
    with pytest.raises(ConfigError, match=r"differs from the published one.*Nothing was installed"):
        download(remote(serve(lambda asked: ScriptedReply(sent)).url), tmp_path / "m.gguf")

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (ScriptedReply(b"", 404), "HTTP 404"),
        (ScriptedReply(b"<html>", 401), "HTTP 401"),
        (ScriptedReply(b"", 503), "HTTP 503"),
        (ScriptedReply(hangs_up=True), "0.0 of 0.3 MB"),
        (ScriptedReply(CONTENT[:10], 200, claimed=len(CONTENT)), "closed"),
        (ScriptedReply(b"no http", is_raw=True), "could not be downloaded"),
    ],
    ids=["404", "401", "503", "hangs up", "always cut off", "no http"],
)
def test_what_cannot_be_had_says_why_and_what_to_do(
    serve: Serve, tmp_path: Path, reply: ScriptedReply, says: str
) -> None:
    """After as many tries as make sense there is one sentence, and no file."""
    server = serve(lambda asked: reply)

    with pytest.raises(ConfigError, match="--file FILE") as caught:
        download(remote(server.url), tmp_path / "m.gguf")

    assert says in str(caught.value)
    assert not (tmp_path / "m.gguf").exists()
    assert len(server.asked) <= 2 + downloading.TRIES


def test_nobody_there(tmp_path: Path) -> None:
    """A machine without a network gets the same sentence."""
    with pytest.raises(ConfigError, match="could not be downloaded"):
        download(remote("http://127.0.0.1:9"), tmp_path / "m.gguf")


def test_when_the_time_is_over_what_came_is_kept(serve: Serve, tmp_path: Path) -> None:
    """Who has a second only gets on by a second each time."""
    server = serve(in_parts(CONTENT))

    with pytest.raises(ModelUnavailable, match=r"being downloaded.*clawmem models add m, or try again"):
        download(remote(server.url), tmp_path / "m.gguf", progress=lambda *_: time.sleep(0.5), timeout_s=0.4)
    came = part_of(tmp_path / "m.gguf").stat().st_size
    download(remote(server.url), tmp_path / "m.gguf")

    assert came > 0
    assert server.asked[-1].headers["range"] == f"bytes={came}-"


def test_a_silent_server_is_not_waited_for(serve: Serve, tmp_path: Path) -> None:
    """Who has half a second does not wait for half a minute until the connection counts as dead."""
    server = serve(lambda asked: ScriptedReply(CONTENT, wait_s=30))

    began = time.monotonic()
    with pytest.raises(ModelUnavailable, match="being downloaded"):
        download(remote(server.url), tmp_path / "m.gguf", timeout_s=0.5)
    assert time.monotonic() - began < 20


def test_two_at_a_time_do_not_mix(serve: Serve, tmp_path: Path) -> None:
    """While one downloads a second one is sent away, and spoils nothing."""
    refused: list[str] = []
    target = tmp_path / "m.gguf"
    place = remote(serve(in_parts(CONTENT)).url)

    def another(done: int, total: int) -> None:
        with pytest.raises(ModelUnavailable) as caught:
            download(place, target)
        refused.append(str(caught.value))

    download(place, target, progress=another)

    assert refused and "another process is downloading it" in refused[0]
    assert target.read_bytes() == CONTENT


def test_too_little_room_is_known_before(serve: Serve, tmp_path: Path) -> None:
    """What does not fit on the disk is not begun."""
    server = serve(in_parts(CONTENT))

    with pytest.raises(ConfigError, match=r"has room for .* are missing"):
        download(RemoteFile(server.url, 1 << 60, "0" * 64), tmp_path / "m.gguf")

    assert server.asked == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_disk_that_fills_up(serve: Serve, tmp_path: Path) -> None:
    """A write that fails is one sentence with the remedy; the limit of a file's size stands in for a full disk."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(CONTENT) // 2, limits[1]))
    try:
        with pytest.raises(ConfigError, match=r"cannot be written: File too large"):
            download(remote(serve(in_parts(CONTENT)).url), tmp_path / "m.gguf")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)


def test_a_folder_that_cannot_be_made(serve: Serve, tmp_path: Path) -> None:
    """A file in the place of the folder is named."""
    (tmp_path / "models").write_text("in the way", "utf-8")

    with pytest.raises(ConfigError, match="cannot be written"):
        download(remote(serve(in_parts(CONTENT)).url), tmp_path / "models" / "m.gguf")


@pytest.mark.skipif(
    not (find_spec("xllamacpp") and find_spec("gguf")), reason="needs pip install xllamacpp gguf"
)
class TestModels:
    """From the catalogue to a model that answers, with a tiny one in the place of the published."""

    @pytest.fixture
    def tiny(self, tmp_path: Path) -> Path:
        """A model that makes vectors."""
        path = tmp_path / "tiny.gguf"
        write_model(Role.EMBED, path)
        return path

    @pytest.fixture
    def server(self, serve: Serve, tiny: Path, monkeypatch: pytest.MonkeyPatch) -> ScriptedServer:
        """Where the embedder is published, cut off once."""
        content = tiny.read_bytes()
        made = serve(in_parts(content, cut_off_at=1000))
        changed = published.EMBEDDER._replace(
            url=f"{made.url}/tiny.gguf", size=len(content), sha256=sha256(content).hexdigest()
        )
        for module in ("published", "factories"):
            monkeypatch.setattr(f"clawmem.adapters.llama.{module}.EMBEDDER", changed)
        monkeypatch.setattr(published, "ALL", (changed, *published.ALL[1:]))
        return made

    def test_it_is_fetched_when_it_is_first_used(self, server: ScriptedServer, tmp_path: Path) -> None:
        """With leave nothing is fetched before a text comes, and everything then."""
        embedder = local_embedder(tmp_path / "models", may_download=True)
        assert server.asked == []

        assert len(embedder.embed_query("bees")) == 4 * 64
        assert len(server.asked) == 2
        embedder.close()

    def test_without_leave_it_is_not(self, server: ScriptedServer, tmp_path: Path) -> None:
        """Nobody's machine fetches a gigabyte unasked."""
        with pytest.raises(ConfigError, match=r"clawmem models add embeddinggemma.*--file"):
            local_embedder(tmp_path / "models", may_download=False)

        assert server.asked == []

    def test_it_is_added_by_command_used_and_removed(
        self, server: ScriptedServer, tiny: Path, invoke: Invoke, tmp_path: Path
    ) -> None:
        """``models add`` says how much it is, ``use`` makes it the vault's, ``remove`` takes it away."""
        notes = tmp_path / "notes"
        notes.mkdir()
        (notes / "sessions.md").write_text("# Sessions\n\nLogin sessions live in Redis.\n", "utf-8")

        added = invoke("models", "add", "embeddinggemma")
        size = f"{tiny.stat().st_size / 1e6:.1f} MB"
        assert (added.exit_code, f"embeddinggemma is there ({size})" in added.stdout) == (0, True), (
            added.output
        )
        assert _state(invoke)["origin"] == "published"

        assert invoke("models", "use", "embeddinggemma").exit_code == 0
        assert invoke("bootstrap", notes).exit_code == 0
        assert json.loads(invoke("--json", "status").stdout)["model"].startswith("llama.cpp:embeddinggemma:")
        assert json.loads(invoke("--json", "vsearch", "Redis").stdout)["results"]
        checked = invoke("models", "check", "embeddinggemma")
        assert (checked.exit_code, "texts a second" in checked.stdout) == (0, True)

        assert invoke("models", "remove", "embeddinggemma").exit_code == 2
        assert invoke("models", "use", "static").exit_code == 0
        assert invoke("models", "remove", "embeddinggemma").exit_code == 0
        assert not _state(invoke)["there"]

    def test_a_file_of_ones_own_is_taken_offline(
        self, server: ScriptedServer, invoke: Invoke, tiny: Path
    ) -> None:
        """With ``--file`` nothing is asked of anybody; a file that changes afterwards fails its check."""
        changed = bytearray(tiny.read_bytes())
        changed[-1] ^= 1
        tiny.write_bytes(changed)

        assert invoke("models", "add", "embeddinggemma", "--file", tiny).exit_code == 0
        assert server.asked == []
        state = _state(invoke)
        assert (state["origin"], state["dimensions"], state["role"]) == ("a file of your own", 64, "embed")
        assert invoke("models", "check", "embeddinggemma").exit_code == 0

    @pytest.mark.parametrize("kind", ["missing", "no model", "cut off", "another kind", "weights cut off"])
    def test_what_is_no_such_model_is_refused(
        self, invoke: Invoke, tiny: Path, tmp_path: Path, kind: str
    ) -> None:
        """One sentence, and what was there before stays."""
        assert invoke("models", "add", "embeddinggemma", "--file", tiny).exit_code == 0
        other = tmp_path / "other.gguf"
        if kind == "another kind":
            write_model(Role.GENERATE, other)
        elif kind != "missing":
            keep = {"no model": 0, "cut off": 5000, "weights cut off": tiny.stat().st_size - 9}[kind]
            other.write_bytes(tiny.read_bytes()[:keep] or b"PK\x03\x04 and so on")

        refused = invoke("models", "add", "embeddinggemma", "--file", other)

        assert refused.exit_code == 4, refused.output
        assert len(refused.stderr.splitlines()) == 1 and "Traceback" not in refused.stderr
        assert _state(invoke)["there"]
        assert invoke("models", "check", "embeddinggemma").exit_code == 0

    @pytest.mark.parametrize(
        ("name", "role"), [("qmd-query-expansion", Role.GENERATE), ("qwen3-reranker", Role.RERANK)]
    )
    def test_models_of_the_other_roles(self, invoke: Invoke, tmp_path: Path, name: str, role: Role) -> None:
        """They are added, checked and removed alike, and cannot be chosen for vectors."""
        write_model(role, tmp_path / "m.gguf")

        assert invoke("models", "add", name, "--file", tmp_path / "m.gguf").exit_code == 0
        checked = invoke("models", "check", name)
        assert (checked.exit_code, "ms a question" in checked.stdout) == (0, True), checked.output
        chosen = invoke("models", "use", name)
        assert (chosen.exit_code, "makes no vectors" in chosen.stderr) == (2, True)
        assert invoke("models", "remove", name).exit_code == 0

    def test_one_byte_that_changed_is_found(self, tiny: Path, tmp_path: Path) -> None:
        """`faults` reads the whole file, whatever its time of change says."""
        model = GgufModel(published.EMBEDDER, tmp_path / "models")
        model.add(tiny)
        assert model.faults() == []
        state = model.path.stat()

        content = bytearray(model.path.read_bytes())
        content[-1] ^= 1
        model.path.write_bytes(content)
        os.utime(model.path, ns=(state.st_atime_ns, state.st_mtime_ns))

        assert len(model.faults()) == 1

    @pytest.mark.slow
    def test_the_published_models(self, invoke: Invoke) -> None:
        """The real ones are fetched, have their hashes, and do what they are for: two gigabytes."""
        for model in published.ALL:
            assert invoke("models", "add", model.name).exit_code == 0
            assert invoke("models", "check", model.name).exit_code == 0


def _state(invoke: Invoke) -> dict[str, object]:
    rows = json.loads(invoke("--json", "models", "list").stdout)["models"]
    return next(row for row in rows if row["name"] == "embeddinggemma")
