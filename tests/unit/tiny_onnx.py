"""An embedding model in ONNX format, made up and small: its files, an archive of them, and its vectors by hand."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import TemplateProcessing

from clawmem.adapters.models import local
from clawmem.adapters.models.local import OnnxEmbedder, OnnxReranker
from clawmem.adapters.models.store import EMBED, RERANK, ModelFolder

Floats = npt.NDArray[np.float32]

DIMENSIONS = 48
WORDS = """
the bees left hive at noon two wooden boats lay in harbour why does build fail on monday café naive uber
we moved login sessions from redis to postgres ninth of june who designs ticket machines error connection
timed out after attempt when did another database and were still lying
""".split()
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789.,?:()"
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *dict.fromkeys(WORDS), *LETTERS]
VOCABULARY += [f"##{letter}" for letter in LETTERS]


def files(seed: int = 7) -> dict[str, bytes]:
    return {"model.onnx": model(seed), "tokenizer.json": tokenizer()}


def install(folder: Path, seed: int = 7) -> OnnxEmbedder:
    """The embedder of the model, installed in *folder* as ``bge-small``."""
    place = ModelFolder(folder, "bge-small")

    def collect(draft: Path) -> Mapping[str, object]:
        for name, content in files(seed).items():
            (draft / name).write_bytes(content)
        return local.inspect(draft, EMBED)

    place.install(collect)
    return OnnxEmbedder(place)


def install_reranker(folder: Path) -> OnnxReranker:
    """The reranker of the small cross-encoder, installed in *folder* as ``ms-marco``."""
    place = ModelFolder(folder, "ms-marco")

    def collect(draft: Path) -> Mapping[str, object]:
        (draft / "model.onnx").write_bytes(cross_encoder())
        (draft / "tokenizer.json").write_bytes(tokenizer())
        return local.inspect(draft, RERANK)

    place.install(collect)
    return OnnxReranker(place)


def wheel(path: Path, content: Mapping[str, bytes]) -> Path:
    """An archive with these files, where a package might have them."""
    with ZipFile(path, "w") as archive:
        for name, file in content.items():
            archive.writestr(f"some_package/model/{name}", file)
    return path


@cache
def tokenizer() -> bytes:
    """A tokenizer of MiniLM's kind, which, as the published one, pads and cuts at 128 unless told otherwise."""
    made = Tokenizer(WordPiece({word: n for n, word in enumerate(VOCABULARY)}, unk_token="[UNK]"))
    made.normalizer = BertNormalizer(lowercase=True)
    made.pre_tokenizer = BertPreTokenizer()
    made.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    made.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]"])
    made.enable_truncation(128)
    made.enable_padding(length=128)
    return made.to_str().encode()


_NAMES = ("input_ids", "attention_mask", "token_type_ids")
# Each token gets half of the mean of all tokens, which makes its vector contextual.
_TRANSFORMER = [
    helper.make_node("Gather", ["table", "input_ids"], ["words"]),
    helper.make_node("Gather", ["types", "token_type_ids"], ["kinds"]),
    helper.make_node("Add", ["words", "kinds"], ["x"]),
    helper.make_node("ReduceMean", ["x", "axis"], ["mean"], keepdims=1),
    helper.make_node("Mul", ["mean", "half"], ["context"]),
    helper.make_node("Add", ["x", "context"], ["sum"]),
    helper.make_node("Tanh", ["sum"], ["activated"]),
    helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
    helper.make_node("Unsqueeze", ["mask", "last"], ["masks"]),
    helper.make_node("Mul", ["activated", "masks"], ["last_hidden_state"]),
]


@cache
def model(seed: int = 7) -> bytes:
    return _saved(_TRANSFORMER, "last_hidden_state", ["b", "t", DIMENSIONS], seed)


@cache
def cross_encoder(seed: int = 7) -> bytes:
    """A model with one output for a pair: the mean of all its vectors."""
    pooled = helper.make_node("ReduceMean", ["last_hidden_state", "axes"], ["mean of all"], keepdims=0)
    column = helper.make_node("Unsqueeze", ["mean of all", "axis"], ["logits"])
    return _saved([*_TRANSFORMER, pooled, column], "logits", ["b", 1], seed)


def _saved(nodes: list[onnx.NodeProto], output: str, shape: list[int | str], seed: int) -> bytes:
    table, types = _tables(seed)
    constants = {
        "table": table,
        "types": types,
        "axis": np.array([1]),
        "axes": np.array([1, 2]),
        "last": np.array([2]),
        "half": np.float32(0.5),
    }
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["b", "t"]) for name in _NAMES],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    opset = [helper.make_opsetid("", 20)]
    content: bytes = helper.make_model(graph, opset_imports=opset, ir_version=10).SerializeToString()
    return content


def forward(text: str) -> tuple[Floats, Floats]:
    """The text's vector and those of its tokens, by hand."""
    reader = Tokenizer.from_str(tokenizer().decode())
    reader.no_padding()
    reader.enable_truncation(256)
    table, types = _tables(7)
    x = table[reader.encode(text).ids] + types[0]
    tokens = np.tanh(x + 0.5 * x.mean(axis=0))
    mean = tokens.mean(axis=0)
    return mean / np.linalg.norm(mean), tokens / np.linalg.norm(tokens, axis=1, keepdims=True)


def _tables(seed: int) -> tuple[Floats, Floats]:
    random = np.random.default_rng(seed)
    return (
        random.normal(0, 0.5, (len(VOCABULARY), DIMENSIONS)).astype(np.float32),
        random.normal(0, 0.1, (2, DIMENSIONS)).astype(np.float32),
    )
