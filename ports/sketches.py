"""Ports for sketches: binary token embeddings of each line, one bit per vector component, and their store."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from clawmem.ports.records import FragmentKey

Sketch = bytes  # rows of dimensions / 8 bytes: the whole text, then each word; empty if nothing is known


class Sketcher(Protocol):
    """Model that returns a contextual vector for each word of a text, not only one for the whole text."""

    @property
    def fingerprint(self) -> str:
        """Return the identifier of the model; sketches of different models are not comparable."""

    @property
    def dimensions(self) -> int:
        """Return the number of bits per row, a multiple of 8."""

    def sketch(self, texts: Sequence[str], without: Collection[str] = ()) -> list[Sketch]:
        """
        Return the sketches of *texts*, in order; queries and documents are encoded the same way.

        A bit tells whether a component of the vector is above zero; the first component is the highest bit of
        the first byte. Punctuation and the tokens in *without* (lower case) are omitted. The sketch of a text
        does not depend on the other texts.

        Raises:
            EmbeddingError, ModelError: the model cannot be used.
        """


def sketcher_of(embedder: object) -> Sketcher | None:
    """Return the sketcher of an embedder; most embedders only have vectors for whole texts and return ``None``."""
    found: Sketcher | None = getattr(embedder, "sketcher", None)
    return found


class SketchCounts(NamedTuple):
    """Numbers of lines of active documents that have a sketch, and that wait for one."""

    made: int = 0
    pending: int = 0


class SketchStore(Protocol):
    """
    Store of the sketches of lines, from one model at a time.

    A sketch is deleted with its line: a document that is saved again starts without sketches.
    """

    def fingerprint(self) -> str | None:
        """Return the model of the stored sketches; ``None`` before the first `begin`."""

    def begin(self, fingerprint: str) -> None:
        """Store sketches of this model from now on; the sketches of another model are deleted."""

    def pending(self, limit: int, after: FragmentKey | None = None) -> list[FragmentKey]:
        """Return up to *limit* lines of active documents without a sketch, in order, starting after *after*."""

    def store(self, fingerprint: str, sketches: Mapping[FragmentKey, Sketch]) -> None:
        """
        Store sketches; sketches of lines that no longer exist are ignored.

        Raises:
            ModelMismatch: the store holds sketches of another model.
        """

    def of(self, keys: Iterable[FragmentKey]) -> dict[FragmentKey, Sketch]:
        """Return the sketches of those of these lines that have one."""

    def counts(self) -> SketchCounts:
        """Return the progress counts."""
