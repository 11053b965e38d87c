from __future__ import annotations

import mmap
from array import array
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from clawmem.adapters.models.token_cache import TokenCache
from clawmem.ports.errors import EmbeddingError
from clawmem.ports.records import Vector

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]
    Ints = npt.NDArray[np.integer]

ROWS, DIMENSIONS = 32_000, 256

_TENSOR = "embedding.weight"
_MAX_HEADER = 64 * 1024 - 8
_LET_GO: int | None = getattr(mmap, "MADV_DONTNEED", None)  # None where the system does not have it


class Weights(NamedTuple):
    """A vector for each token, (32 000, 256) float16, in a memory-mapped file."""

    mapped: mmap.mmap
    table: npt.NDArray[np.float16]

    def rows(self, tokens: Ints) -> Floats:
        """
        Return the vectors of *tokens*, (n, 256) float32.

        The mapped pages are released afterwards and stay in the system's cache. Otherwise a long-lived
        process would finally hold the whole file in memory.
        """
        import numpy as np

        found = self.table[tokens].astype(np.float32)
        if _LET_GO is not None:
            self.mapped.madvise(_LET_GO)
        return found


@cache  # there is only one file
def weights_in(path: Path) -> Weights:
    """Map the weights in *path*. Raises `EmbeddingError` if the file has another layout."""
    import numpy as np

    offset = checked_offset(path)
    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    numbers = np.frombuffer(mapped, "<f2", ROWS * DIMENSIONS, offset)
    return Weights(mapped, numbers.reshape(ROWS, DIMENSIONS))


def missing(reason: str) -> EmbeddingError:
    """Return the error for a file of the package that is missing or damaged."""
    return EmbeddingError(
        f"The static vectors cannot be loaded: {reason}. Run: pip install --force-reinstall wordllama"
    )


def checked_offset(path: Path) -> int:
    """Return the byte offset of the numbers in the file. Raises `EmbeddingError` if the file has another layout."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = _header(file.read(length)) if length <= _MAX_HEADER else {}
    tensor = header.get(_TENSOR, {})
    size = 2 * ROWS * DIMENSIONS
    expected = {"dtype": "F16", "shape": [ROWS, DIMENSIONS], "data_offsets": [0, size]}
    if tensor != expected or path.stat().st_size != 8 + length + size:
        raise missing(f"{path} is damaged or has another format")
    return 8 + length


def _header(raw: bytes) -> dict[str, Any]:
    import json

    try:
        return dict(json.loads(raw))
    except (ValueError, TypeError):
        return {}


_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"

_EDGE = 64 * 1024  # bytes that are hashed at each end of a file
_BATCH_TEXTS = 1024
_BATCH_CHARS = 256 * 1024  # a tokenizer needs about 300 bytes per token
_SLICE = 1024  # tokens of a piece of a long text, on which the rounding of its sum depends
_GATHERED = (
    256  # tokens of short texts that are gathered at once: a quarter of a megabyte, which fits the CPU cache
)
# Rows of a kilobyte would share few places of the CPU cache, and adding a column would take three times as long.
_WIDTH = DIMENSIONS + 8


class StaticEmbedder:
    """
    ``Embedder`` without running a model: the mean of one stored vector per token.

    Reads the weights in the ``wordllama`` package and never imports the package. Files are opened on first
    use, and of the weights only the needed rows are read.
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
        from clawmem.ports.digests import sha256

        edges = b"".join(_edges(path) for path in (self.weights_path, self.tokenizer_path))
        return f"wordllama:l2_supercat:256:{sha256(edges).hexdigest()[:12]}"

    def embed_query(self, text: str) -> Vector:
        return self.embed_documents([text])[0]

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        return [vector for batch in _batches(texts) for vector in self._embed(batch)]

    def token_sums(self, texts: Sequence[str]) -> Floats:
        """Return the sum of each text's token vectors, (n, 256) float32, unnormalized."""
        import numpy as np

        ids = self._ids([whole_characters(text) for text in texts])
        lengths = np.fromiter(map(len, ids), dtype=np.int64, count=len(ids))
        tokens = np.frombuffer(b"".join(ids), np.intc)
        return self._sums(np.clip(tokens, 0, ROWS - 1), lengths)

    def _ids(self, texts: list[str]) -> list[array[int]]:
        """Return the token ids of each text."""
        return self._tokens.ids(texts)

    def _embed(self, texts: list[str]) -> Iterator[Vector]:
        """Yield the vector of each text; a long one is alone in its batch, and summed part by part."""
        import numpy as np

        if len(texts) == 1:
            sums: Floats = np.sum([self.token_sums([part]) for part in _parts(texts[0])], axis=0)
        else:
            sums = self.token_sums(texts)
        return (vector.tobytes() for vector in _unit(sums))

    def _sums(self, tokens: Ints, lengths: Ints) -> Floats:
        """Return the sum of the rows of each text: (n, 256) float32."""
        import numpy as np

        sums = np.zeros((len(lengths), DIMENSIONS), dtype=np.float32)
        known = np.flatnonzero(np.bincount(tokens, minlength=1))
        nth = np.empty(ROWS, dtype=np.int64)  # the place of each token in known
        nth[known] = np.arange(len(known))
        # once per distinct token instead of per occurrence, which halves the time
        rows = np.zeros((len(known), _WIDTH), dtype=np.float32)
        rows[:, :DIMENSIONS] = self._weights.rows(known)
        texts, starts = _pieces(lengths)
        ends = np.append(starts[1:], len(tokens))
        first = 0
        while first < len(starts):
            last = max(first + 1, int(np.searchsorted(ends, starts[first] + _GATHERED, side="right")))
            gathered = rows.take(nth[tokens[starts[first] : ends[last - 1]]], axis=0)[:, :DIMENSIONS]
            parts = np.add.reduceat(gathered, starts[first:last] - starts[first], axis=0)
            # two pieces of one text are never gathered at once, because all but its last piece fill a slice
            sums[texts[first:last]] += parts
            first = last
        return sums

    @cached_property
    def _weights(self) -> Weights:
        return weights_in(self.weights_path)

    @cached_property
    def _tokens(self) -> TokenCache:
        return _tokens_in(self.tokenizer_path)


# Cached per process: embedding of queries and comparison of words use the same files.
@cache
def _tokens_in(path: Path) -> TokenCache:
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # tokenizers raises nothing more specific
        raise missing(f"{path} is damaged or has another format") from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return TokenCache(tokenizer)


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


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    """Group consecutive texts into batches whose tokens fit in memory; a longer text is a batch of its own."""
    batch: list[str] = []
    chars = 0
    for text in texts:
        if batch and (len(batch) == _BATCH_TEXTS or chars + len(text) > _BATCH_CHARS):
            yield batch
            batch, chars = [], 0
        batch.append(text)
        chars += len(text)
    if batch:
        yield batch


def _parts(text: str) -> Iterator[str]:
    """
    Split *text* into parts whose tokens fit in memory, after a blank, else after a line end, else anywhere.

    No token continues behind a blank, and the tokenizer puts one before each part, so the tokens of parts that are cut
    there are those of the whole text.
    """
    start = 0
    while len(text) - start > _BATCH_CHARS:
        low, high = start + _BATCH_CHARS // 2, start + _BATCH_CHARS
        blank = text.rfind(" ", low, high)
        line_end = text.rfind("\n", low, high) + 1
        end = blank if blank >= 0 else line_end or high
        yield text[start:end]
        start = end + (blank >= 0)
    yield text[start:]


def whole_characters(text: str) -> str:
    """Return *text* with question marks for characters that UTF-8 cannot encode (unpaired surrogates)."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _pieces(lengths: Ints) -> tuple[Ints, Ints]:
    """
    Split texts into pieces of at most one slice; return the text and the first token of each piece, (m,) and
    (m,).

    Texts are split from their own start, so that a sum has the same rounding in every batch. A text without
    tokens has no piece.
    """
    import numpy as np

    counts = -(-lengths // _SLICE)
    texts = np.repeat(np.arange(len(lengths)), counts)
    nth = np.arange(len(texts)) - np.repeat(np.cumsum(counts) - counts, counts)
    return texts, np.repeat(np.cumsum(lengths) - lengths, counts) + nth * _SLICE


def _unit(sums: Floats) -> Floats:
    """Return little-endian rows of unit length; a row of zeros stays zero."""
    import numpy as np

    norms = np.linalg.norm(sums, axis=1, keepdims=True)
    return (sums / np.where(norms > 0, norms, 1)).astype("<f4")
