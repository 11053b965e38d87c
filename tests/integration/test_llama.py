"""Models run by llama.cpp in this process: what they are, when they are loaded, and what a file may be."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

import pytest
from llama_server import Role, write_model
from programs import run_program
from waiting import eventually

from clawmem.adapters.llama import model_file
from clawmem.adapters.llama.embedder import LlamaEmbedder
from clawmem.adapters.llama.engine import Engine, IsCancelled
from clawmem.adapters.llama.factories import local_embedder, local_generator, local_reranker
from clawmem.adapters.llama.generator import LlamaGenerator
from clawmem.adapters.llama.gguf import Header, NotGguf, read_header
from clawmem.adapters.llama.gguf import Role as GgufRole
from clawmem.adapters.llama.gguf_model import GgufModel
from clawmem.adapters.llama.loading import Llama
from clawmem.adapters.llama.published import ALL, EMBEDDER, GENERATOR, RERANKER
from clawmem.contracts.samples import cosine, floats
from clawmem.ports.errors import ConfigError, InputTooLong, ModelUnavailable

pytestmark = pytest.mark.skipif(
    not (find_spec("xllamacpp") and find_spec("gguf")), reason="needs pip install xllamacpp gguf"
)

SENTENCE = "The bees left the hive at noon. "
ENDLESS = {
    "messages": [{"role": "user", "content": "On?"}],
    "max_tokens": 1900,
    "ignore_eos": True,
    "stream": True,
}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of each role."""
    made = tmp_path_factory.mktemp("written")
    for role in Role:
        write_model(role, made / f"{role}.gguf")
    return made


@pytest.fixture
def folder(written: Path, tmp_path: Path) -> Path:
    """The folder of models, with a model of each role in the places of the published ones."""
    for model in ALL:
        (tmp_path / f"{model.name}.gguf").write_bytes((written / f"{model.role}.gguf").read_bytes())
    return tmp_path


@pytest.fixture
def generator(folder: Path) -> Iterator[LlamaGenerator]:
    made = local_generator(folder)
    yield made
    made.close()


class TestFiles:
    def test_the_header_says_what_a_model_is(self, written: Path) -> None:
        """Role, context and width are read without llama.cpp."""
        found = {role: read_header(written / f"{role}.gguf") for role in Role}

        assert {role: header.role for role, header in found.items()} == {role: role for role in Role}
        assert found[Role.EMBED] == Header("bert", "", GgufRole.EMBED, context=512, width=64)
        assert found[Role.GENERATE] == Header("llama", "", GgufRole.GENERATE, context=2048, width=64)

    @pytest.mark.parametrize("share", [0.0, 0.0001, 0.01, 0.2, 0.6, 0.9])
    def test_a_file_that_was_cut_off_is_refused(self, written: Path, tmp_path: Path, share: float) -> None:
        """Wherever a file ends, it is one sentence and not a fault of llama.cpp."""
        content = (written / "embed.gguf").read_bytes()
        path = tmp_path / "cut.gguf"
        path.write_bytes(content[: int(len(content) * share)])

        with pytest.raises(ConfigError, match=r"not a model for llama\.cpp"):
            model_file.known(path)

    def test_any_damage_of_a_header_is_found_or_harmless(self, written: Path, tmp_path: Path) -> None:
        """A byte that changed in the header is refused as damage, or read as another header, and nothing else."""
        path = tmp_path / "damaged.gguf"
        path.write_bytes((written / "embed.gguf").read_bytes())
        refused = 0
        with path.open("r+b", buffering=0) as file:
            for place in range(0, 2000, 3):
                was = os.pread(file.fileno(), 1, place)
                os.pwrite(file.fileno(), bytes([was[0] ^ 0xFF]), place)
                try:
                    read_header(path)
                except NotGguf:
                    refused += 1
                os.pwrite(file.fileno(), was, place)

        assert refused > 100
        assert read_header(path).width == 64

    def test_a_file_that_is_cut_off_at_its_very_end_is_refused_by_llama(self, folder: Path) -> None:
        """What only the weights show is a sentence, too, when they are loaded."""
        path = folder / f"{EMBEDDER.name}.gguf"
        path.write_bytes(path.read_bytes()[:-10])

        embedder = local_embedder(folder)

        with pytest.raises(ConfigError, match=r"cannot load .*models add|pip install --upgrade xllamacpp"):
            embedder.embed_query("bees")
        embedder.close()

    @pytest.mark.parametrize(
        ("place", "put", "says"),
        [
            (EMBEDDER, Role.GENERATE, "to generate"),
            (EMBEDDER, Role.RERANK, "to rerank"),
            (GENERATOR, Role.EMBED, "to embed"),
            (RERANKER, Role.EMBED, "to embed"),
            (RERANKER, Role.GENERATE, "to generate"),
        ],
    )
    def test_a_model_of_another_kind_is_refused(
        self, folder: Path, written: Path, place: object, put: Role, says: str
    ) -> None:
        """llama.cpp would rank with any model, and give it numbers that mean nothing."""
        name = getattr(place, "name", "")
        (folder / f"{name}.gguf").write_bytes((written / f"{put}.gguf").read_bytes())
        make = {EMBEDDER: local_embedder, GENERATOR: local_generator, RERANKER: local_reranker}

        with pytest.raises(ConfigError, match=says):
            make[place](folder)  # type: ignore[index]

    def test_the_hash_is_read_once(self, folder: Path) -> None:
        """It is kept beside the file, and read anew when the file is another one."""
        path = folder / f"{EMBEDDER.name}.gguf"
        first = model_file.known(path)
        note = model_file.facts_file(path)
        note.write_text(note.read_text("utf-8").replace(first.sha256, "kept"), "utf-8")

        assert first.sha256 == sha256(path.read_bytes()).hexdigest()
        assert model_file.known(path).sha256 == "kept"
        os.utime(path, ns=(1, 1))
        assert model_file.known(path) == model_file.known(path)
        assert model_file.known(path).sha256 == first.sha256

    @pytest.mark.parametrize("noted", ["", "{", "[]", '{"size": 1}', "null"])
    def test_a_note_that_cannot_be_read_is_made_anew(self, folder: Path, noted: str) -> None:
        """What lies beside a model is a convenience."""
        path = folder / f"{EMBEDDER.name}.gguf"
        model_file.facts_file(path).write_text(noted, "utf-8")

        assert model_file.known(path).width == 64
        assert json.loads(model_file.facts_file(path).read_text("utf-8"))["width"] == 64

    def test_nothing_there_says_how_to_get_it(self, tmp_path: Path) -> None:
        """Without a file and without leave to download there is no model."""
        for make, model in (
            (local_embedder, EMBEDDER),
            (local_generator, GENERATOR),
            (local_reranker, RERANKER),
        ):
            with pytest.raises(ConfigError, match=f"clawmem models add {model.name}"):
                make(tmp_path, may_download=False)


class TestEmbedder:
    def test_the_fingerprint_follows_the_file(self, folder: Path, written: Path) -> None:
        """Other weights are another space; where they lie changes nothing."""
        first = local_embedder(folder).fingerprint
        path = folder / f"{EMBEDDER.name}.gguf"
        assert first.startswith(f"llama.cpp:embeddinggemma:{sha256(path.read_bytes()).hexdigest()[:12]}:")
        assert first.endswith(":plain:64")

        content = bytearray(path.read_bytes())
        content[-1] ^= 1
        path.write_bytes(content)

        assert local_embedder(folder).fingerprint != first

    def test_a_long_text_is_cut_and_not_refused(self, folder: Path) -> None:
        """What the model cannot read at once is read as far as it goes: the rest has no influence."""
        embedder = local_embedder(folder)

        (long,) = embedder.embed_documents([SENTENCE * 1000])
        (beginning,) = embedder.embed_documents([SENTENCE * 10])

        assert cosine(long, beginning) > 0.9
        assert len(floats(long)) == 64
        embedder.close()

    def test_nothing_is_loaded_before_it_is_used(self, folder: Path) -> None:
        """Name and length come from the file's header; llama.cpp is not imported for them."""
        code = (
            "import sys\nfrom clawmem.adapters.llama.factories import local_embedder\n"
            "made = local_embedder(sys.argv[1]); made.fingerprint, made.dimensions\n"
            "assert 'xllamacpp' not in sys.modules and not made.engine.is_loaded\n"
            "made.embed_query('bees')\nassert made.engine.is_loaded"
        )

        run_program(code, folder, env=_environ())

    def test_llama_says_nothing_of_its_own(self, folder: Path) -> None:
        """Neither output holds a word of the library, and no error either when the process ends."""
        code = (
            "import sys\nfrom clawmem.adapters.llama.factories import local_embedder\n"
            "local_embedder(sys.argv[1]).embed_query('bees')"
        )

        done = run_program(code, folder, env=_environ())

        assert (done.stdout, done.stderr) == ("", "")


class TestEngine:
    def test_an_idle_model_is_let_go_and_comes_back(self, folder: Path) -> None:
        """After a while without a question the memory is free; the next one loads the model anew."""
        embedder = LlamaEmbedder(GgufModel(EMBEDDER, folder), idle_s=0.05)
        before = embedder.embed_query("bees")
        assert embedder.engine.is_loaded

        eventually(lambda: not embedder.engine.is_loaded)

        assert embedder.embed_query("bees") == before
        embedder.close()

    def test_a_late_answer_is_given_up_and_stopped(self, generator: LlamaGenerator) -> None:
        """Who waits too long is told so, and the model is free for others before it wrote all it could."""
        generator.generate("Go.", timeout_s=30, max_tokens=1)
        pieces: list[object] = []

        def work(llama: Llama, given_up: IsCancelled) -> None:
            llama.handle_chat_completions(ENDLESS, lambda piece: bool(pieces.append(piece)) or given_up())

        with pytest.raises(ModelUnavailable, match=r"not done in 0\.05 s\. Do without such models"):
            generator.engine.ask(work, timeout_s=0.05)
        generator.generate("Next.", timeout_s=30, max_tokens=1)

        assert 0 < len(pieces) < 1900

    def test_a_question_that_waits_in_vain_is_never_worked_on(self, folder: Path) -> None:
        """A model that is busy for longer than somebody has time for does not get to his question."""
        engine = Engine(GgufModel(EMBEDDER, folder))
        busy, done, worked = threading.Event(), threading.Event(), []
        holder = threading.Thread(
            target=engine.ask,
            args=(lambda llama, given_up: busy.set() or done.wait(10),),
            kwargs={"timeout_s": 20},
        )
        holder.start()
        busy.wait(10)

        with pytest.raises(ModelUnavailable):
            engine.ask(lambda llama, given_up: worked.append(1), timeout_s=0.05)
        done.set()
        holder.join()
        engine.ask(lambda llama, given_up: worked.append(2), timeout_s=10)

        assert worked == [2]
        engine.close()

    def test_questions_of_many_threads_are_answered(self, folder: Path) -> None:
        """Eight threads get the vectors that one would have got."""
        embedder = local_embedder(folder)
        texts = [f"{SENTENCE} {n}" for n in range(24)]
        expected = embedder.embed_documents(texts)
        found: dict[int, list[bytes]] = {}

        def ask(n: int) -> None:
            found[n] = embedder.embed_documents(texts[n::8])

        threads = [threading.Thread(target=ask, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert found == {n: expected[n::8] for n in range(8)}
        embedder.close()

    def test_an_error_is_told_to_who_asked_and_to_nobody_else(self, generator: LlamaGenerator) -> None:
        """After a refusal the model answers as before."""
        before = generator.generate("Bees?", timeout_s=30, max_tokens=5)

        with pytest.raises(InputTooLong, match="Give it less text"):
            generator.generate(SENTENCE * 2000, timeout_s=30, max_tokens=5)

        assert generator.generate("Bees?", timeout_s=30, max_tokens=5) == before

    def test_a_closed_model_answers_nobody(self, generator: LlamaGenerator) -> None:
        """Neither who waits when it is closed nor who comes later; an answer that was given stays given."""
        generator.generate("Go.", timeout_s=30, max_tokens=1)
        answered: list[str] = []
        caught: list[BaseException] = []

        def wait() -> None:
            try:
                answered.append(generator.generate("On and on.", timeout_s=60, max_tokens=1900))
            except ModelUnavailable as error:
                caught.append(error)

        waiting = [threading.Thread(target=wait) for _ in range(40)]  # more than are answered in the meantime
        for one in waiting:
            one.start()
        time.sleep(0.05)
        generator.close()
        for one in waiting:
            one.join(60)

        assert not generator.engine.is_loaded
        assert len(answered) + len(caught) == len(waiting)
        assert caught
        with pytest.raises(ModelUnavailable, match="closed"):
            generator.generate("Go.", timeout_s=30, max_tokens=1)

    def test_a_process_that_ends_meanwhile_ends_in_order(self, folder: Path) -> None:
        """An answer that was given up does not keep the process, and does not bring it down."""
        code = (
            "import sys, time\nfrom clawmem.adapters.llama.factories import local_generator\n"
            "from clawmem.ports.errors import ModelUnavailable\n"
            "made = local_generator(sys.argv[1]); made.generate('Go.', timeout_s=30, max_tokens=1)\n"
            "try: made.generate('On.', timeout_s=0.02, max_tokens=1900)\n"
            "except ModelUnavailable: print('late')"
        )

        done = run_program(code, folder, check=False, env=_environ(), timeout=30)

        assert (done.returncode, done.stdout, done.stderr) == (0, "late\n", "")


def _environ() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
