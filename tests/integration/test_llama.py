"""Models run by llama.cpp in this process: what they are, when they are loaded, and what a file may be."""

from __future__ import annotations

import os
import shutil
import sys
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

import pytest
from llama_server import Role, write_model
from programs import run_program
from waiting import eventually

from clawmem.adapters.models.api import ApiEmbedder
from clawmem.adapters.models.catalogue import known_models, model_named
from clawmem.adapters.models.llama import LlamaServer
from clawmem.adapters.models.store import ModelFolder
from clawmem.contracts.samples import cosine, floats
from clawmem.ports.errors import ConfigError

pytestmark = pytest.mark.skipif(
    not (find_spec("xllamacpp") and find_spec("gguf")), reason="needs pip install xllamacpp gguf"
)

SENTENCE = "The bees left the hive at noon. "


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("written")
    for role in Role:
        write_model(role, made / f"{role}.gguf")
    return made


@pytest.fixture(scope="module")
def installed(written: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of models, with a model of each role in the places of the published ones."""
    folder = tmp_path_factory.mktemp("installed")
    for model in (
        model_named(name, folder) for name in ("embeddinggemma", "qmd-query-expansion", "qwen3-reranker")
    ):
        model.add(written / f"{model.role}.gguf")
    return folder


@pytest.fixture
def folder(installed: Path, tmp_path: Path) -> Path:
    """The same, to be changed."""
    return Path(shutil.copytree(installed, tmp_path / "models"))


def local_embedder(folder: Path | str) -> ApiEmbedder:
    made = model_named("embeddinggemma", folder).opened()
    assert isinstance(made, ApiEmbedder)
    return made


class TestFiles:
    def test_the_header_says_what_a_model_is(self, folder: Path) -> None:
        """Architecture, context and width are known without loading the model again."""
        models = {
            model.role: model for model in known_models(folder) if model.is_there() and model.name != "static"
        }
        facts = {role: model.manifest().facts for role, model in models.items()}

        assert facts["embed"] == {"architecture": "bert", "title": "", "context": 512, "dimensions": 64}
        assert facts["generate"] == {"architecture": "llama", "title": "", "context": 2048, "dimensions": 64}
        assert models["embed"].dimensions == 64

    @pytest.mark.parametrize("share", [0.0, 0.0001, 0.01, 0.2, 0.6, 0.9, 0.99999])
    def test_a_file_that_was_cut_off_is_refused(self, written: Path, tmp_path: Path, share: float) -> None:
        """Wherever a file ends, it is one sentence and not a fault of llama.cpp, and nothing is installed."""
        content = (written / "embed.gguf").read_bytes()
        path = tmp_path / "cut.gguf"
        path.write_bytes(content[: int(len(content) * share)])
        model = model_named("embeddinggemma", tmp_path / "models")

        with pytest.raises(ConfigError, match=r"no GGUF file|model to|llama\.cpp cannot load"):
            model.add(path)

        assert not model.is_there()
        assert list((tmp_path / "models").iterdir()) == []

    @pytest.mark.parametrize(
        ("place", "role"),
        [
            ("embeddinggemma", "generate"),
            ("embeddinggemma", "rerank"),
            ("qmd-query-expansion", "embed"),
            ("qwen3-reranker", "embed"),
            ("qwen3-reranker", "generate"),
        ],
    )
    def test_a_model_of_another_kind_is_refused(
        self, tmp_path: Path, written: Path, place: str, role: str
    ) -> None:
        """llama.cpp would rank with any model, and give it numbers that mean nothing."""
        with pytest.raises(ConfigError, match=f"a model to {role}"):
            model_named(place, tmp_path).add(written / f"{role}.gguf")


class TestEmbedder:
    def test_the_fingerprint_follows_the_file(self, folder: Path, written: Path) -> None:
        """Other weights are another space; where they lie changes nothing."""
        first = local_embedder(folder).fingerprint
        path = folder / "embeddinggemma" / "model.gguf"
        assert first.startswith(f"llama.cpp:embeddinggemma:{sha256(path.read_bytes()).hexdigest()[:12]}:")
        assert first.endswith(":plain:64")

        content = bytearray(path.read_bytes())
        content[-1] ^= 1
        other = folder / "other.gguf"
        other.write_bytes(content)
        model_named("embeddinggemma", folder).add(other)

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
            "import sys\nfrom clawmem.adapters.models.catalogue import model_named\n"
            "made = model_named('embeddinggemma', sys.argv[1]).opened(); made.fingerprint, made.dimensions\n"
            "assert 'xllamacpp' not in sys.modules and made.server._llama is None\n"
            "made.embed_query('bees')\nassert made.server._llama is not None"
        )

        run_program(code, folder, env=_environ())

    def test_llama_says_nothing_of_its_own(self, folder: Path) -> None:
        """Neither output holds a word of the library, and no error either when the process ends."""
        code = (
            "import sys\nfrom clawmem.adapters.models.catalogue import model_named\n"
            "model_named('embeddinggemma', sys.argv[1]).opened().embed_query('bees')"
        )

        done = run_program(code, folder, env=_environ())

        assert (done.stdout, done.stderr) == ("", "")


class TestEngine:
    def test_an_idle_model_is_let_go_and_comes_back(self, folder: Path) -> None:
        """After a while without a question the memory is free; the next one loads the model anew."""
        embedder = ApiEmbedder(LlamaServer(ModelFolder(folder, "embeddinggemma"), "embed", idle_s=0.05))
        before = embedder.embed_query("bees")
        assert embedder.server._llama is not None

        eventually(lambda: embedder.server._llama is None)

        assert embedder.embed_query("bees") == before
        embedder.close()

    def test_a_process_that_ends_meanwhile_ends_in_order(self, folder: Path) -> None:
        """An answer that was given up does not keep the process, and does not bring it down."""
        code = (
            "import sys, time\nfrom clawmem.adapters.models.catalogue import model_named\n"
            "from clawmem.ports.errors import ModelUnavailable\n"
            "made = model_named('qmd-query-expansion', sys.argv[1]).opened(); made.generate('Go.', timeout_s=30, max_tokens=1)\n"
            "try: made.generate('On.', timeout_s=0.02, max_tokens=1900)\n"
            "except ModelUnavailable: print('late')"
        )

        done = run_program(code, folder, check=False, env=_environ(), timeout=30)

        assert (done.returncode, done.stdout, done.stderr) == (0, "late\n", "")


def _environ() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
