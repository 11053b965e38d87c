"""Static word vectors: a text is the mean of one stored vector for each of its tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from clawmem.ports.errors import EmbeddingError
from clawmem.ports.records import Vector

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from tokenizers import Tokenizer

    Floats = npt.NDArray[np.float32]

ROWS, DIMENSIONS = 32_000, 256

_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_EDGE = 64 * 1024  # bytes that are hashed at each end of a file
_PART_CHARS = 256 * 1024  # a tokenizer needs about 300 bytes per token
_SLICE = 1024  # tokens whose vectors are in memory at once, a megabyte


class StaticEmbedder:
    """
    ``Embedder`` without running a model: the mean of one stored vector per token.

    Reads the weights in the ``wordllama`` package and never imports the package. Files are opened on first
    use.
    """

    dimensions = DIMENSIONS
    in_process = True

    def __init__(self, folder: Path | None = None) -> None:
        """
        Find the files of the package.

        Args:
            folder: Folder of the installed package; None to find it.

        Raises:
            EmbeddingError: the package or one of its files is missing.
        """
        package = folder or _package()
        self.weights_path = _present(package / _WEIGHTS)
        self.tokenizer_path = _present(package / _TOKENIZER)

    @cached_property
    def fingerprint(self) -> str:
        from hashlib import sha256

        edges = b"".join(_edges(path) for path in (self.weights_path, self.tokenizer_path))
        return f"wordllama:l2_supercat:256:{sha256(edges).hexdigest()[:12]}"

    def embed_query(self, text: str) -> Vector:
        return self.embed_documents([text])[0]

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        return [vector.astype("<f4").tobytes() for vector in map(_unit, self.token_sums(texts))]

    def token_sums(self, texts: Sequence[str]) -> Floats:
        """Return the sum of each text's token vectors, (n, 256) float32, unnormalized."""
        import numpy as np

        sums = np.zeros((len(texts), DIMENSIONS), np.float32)
        for row, text in zip(sums, texts, strict=True):
            for part in _parts(whole_characters(text)):
                tokens = np.minimum(self._ids(part), ROWS - 1)
                for start in range(0, len(tokens), _SLICE):
                    row += self._table[tokens[start : start + _SLICE]].sum(axis=0, dtype=np.float32)
        return sums

    def _ids(self, text: str) -> list[int]:
        """Return the token ids of *text*."""
        # the fast variant omits offsets
        return self._tokenizer.encode_batch_fast([text], add_special_tokens=False)[0].ids

    @cached_property
    def _table(self) -> npt.NDArray[np.float16]:
        return _table_in(self.weights_path)

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return _tokenizer_in(self.tokenizer_path)


# Cached per process: embedding of queries and comparison of words use the same files.
@cache
def _table_in(path: Path) -> npt.NDArray[np.float16]:
    """Return the vector of each token, (32 000, 256). Raises `EmbeddingError` if the file has another layout."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        table = load_file(path)["embedding.weight"]
    except (SafetensorError, KeyError, OSError) as error:
        raise missing(f"{path} is damaged or has another format") from error
    if table.shape != (ROWS, DIMENSIONS) or table.dtype != "float16":
        raise missing(f"{path} is damaged or has another format")
    return table


@cache
def _tokenizer_in(path: Path) -> Tokenizer:
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # tokenizers raises nothing more specific
        raise missing(f"{path} is damaged or has another format") from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def missing(reason: str) -> EmbeddingError:
    """Return the error for a file of the package that is missing or damaged."""
    return EmbeddingError(
        f"The static vectors cannot be loaded: {reason}. Run: pip install --force-reinstall wordllama"
    )


def _package() -> Path:
    spec = find_spec("wordllama")  # finds the package without importing it
    if spec is None or not spec.submodule_search_locations:
        raise missing("the wordllama package is not installed")
    return Path(spec.submodule_search_locations[0])


def _present(path: Path) -> Path:
    if not path.is_file():
        raise missing(f"{path} does not exist")
    return path


def _edges(path: Path) -> bytes:
    """Return size, beginning and end of a file, which distinguish any two releases without reading 16 MB."""
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(_EDGE)
        file.seek(max(0, size - _EDGE))
        return size.to_bytes(8, "little") + head + file.read(_EDGE)


def _parts(text: str) -> Iterator[str]:
    """
    Split *text* into parts whose tokens fit in memory, after a blank, else after a line end, else anywhere.

    No token continues behind a blank, and the tokenizer puts one before each part, so the tokens of parts that are cut
    there are those of the whole text.
    """
    start = 0
    while len(text) - start > _PART_CHARS:
        low, high = start + _PART_CHARS // 2, start + _PART_CHARS
        blank = text.rfind(" ", low, high)
        line_end = text.rfind("\n", low, high) + 1
        end = blank if blank >= 0 else line_end or high
        yield text[start:end]
        start = end + (blank >= 0)
    yield text[start:]


def whole_characters(text: str) -> str:
    """Return *text* with question marks for characters that UTF-8 cannot encode (unpaired surrogates)."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _unit(row: Floats) -> Floats:
    """Return *row* scaled to unit length; zeros stay zeros."""
    import numpy as np

    length = np.linalg.norm(row)
    return row / length if length > 0 else row
