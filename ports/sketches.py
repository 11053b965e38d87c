"""Ports: what a model makes of each line, a bit for each number, and where it is kept."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol

from clawmem.ports.named_tuple import NamedTuple
from clawmem.ports.records import FragmentKey

Sketch = (
    bytes  # rows of dimensions / 8 bytes: the text as a whole, then its words; empty: nothing is known of it
)


class Sketcher(Protocol):
    """A model that has a vector for each word of a text, in its context, and not for the whole alone."""

    @property
    def fingerprint(self) -> str:
        """The model; sketches of different ones cannot be compared."""
        ...

    @property
    def dimensions(self) -> int:
        """Bits a row; a multiple of 8."""
        ...

    def sketch(self, texts: Sequence[str], without: Collection[str] = ()) -> list[Sketch]:
        """
        The sketches of *texts*, in their order; questions and documents are read alike.

        A bit says whether a number of the vector is above zero, the first number's bit the highest of the
        first byte. Tokens of *without*, lower case, and punctuation are left out. A text gives the same sketch
        whatever others come along.

        Raises:
            EmbeddingError, ModelError: the model cannot be used.
        """
        ...


def sketcher_of(embedder: object) -> Sketcher | None:
    """What an embedder sketches with; most have a vector for the whole text alone."""
    found: Sketcher | None = getattr(embedder, "sketcher", None)
    return found


class SketchCounts(NamedTuple):
    """Lines of active documents that have a sketch, and that wait for one."""

    made: int = 0
    pending: int = 0


class SketchStore(Protocol):
    """
    The sketches of lines, of one model at a time.

    A line's sketch goes with the line: a document that is written anew begins without any.
    """

    def fingerprint(self) -> str | None:
        """The model that the sketches are of; ``None`` while nobody began."""
        ...

    def begin(self, fingerprint: str) -> None:
        """Keep sketches of this model from now on; those of another are forgotten."""
        ...

    def pending(self, limit: int, after: FragmentKey | None = None) -> list[FragmentKey]:
        """Up to *limit* lines of active documents without a sketch, in their order, those behind *after*."""
        ...

    def store(self, fingerprint: str, sketches: Mapping[FragmentKey, Sketch]) -> None:
        """
        Keep sketches; of a line that is gone meanwhile nothing is kept.

        Raises:
            ModelMismatch: the store keeps those of another model.
        """
        ...

    def of(self, keys: Iterable[FragmentKey]) -> dict[FragmentKey, Sketch]:
        """The sketches that these lines have."""
        ...

    def counts(self) -> SketchCounts:
        """How far they are."""
        ...
