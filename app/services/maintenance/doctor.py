"""Whether everything is as it should be: storage, folders, words, vectors and the model behind them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from struct import unpack

from clawmem.app.services.indexing.update import Folder
from clawmem.domain.documents.entries import GRAIN_OF
from clawmem.ports.embedder import Embedder
from clawmem.ports.files import FileSource
from clawmem.ports.records import Document, EmbedState, Grain, Vector, embedding_text
from clawmem.ports.vault import Vault

SAMPLE = 20  # stored vectors that are computed again
SAME = 0.999  # cosine of a text's vector then and now; rounding stays far above
NAMED = 3  # documents that a finding names

# A question, a text that means the same, one that does not. Any model worth its memory ranks all six; one
# that answers with constants or noise does not (by chance 1 of 64).
PAIRS = (
    (
        "how to bake sourdough bread",
        "Bake the bread in a hot oven after the sourdough has risen overnight.",
        "The quarterly tax return is due before the end of March.",
    ),
    (
        "database connection timeout error",
        "The connection to the database failed with a timeout.",
        "We planted tomatoes and basil behind the greenhouse.",
    ),
    (
        "which train goes to the airport",
        "Take the train from the central station to reach the airport.",
        "The cello part of this quartet is surprisingly hard.",
    ),
    (
        "my daughter's birthday party",
        "A party for the birthday of our daughter, with cake and balloons.",
        "Compile the kernel module before loading it.",
    ),
    (
        "doctor appointment for knee pain",
        "The doctor examined the painful knee and ordered an x-ray at the next appointment.",
        "Stock prices fell sharply when the bank raised interest rates.",
    ),
    (
        "learning to play the guitar",
        "She practises guitar chords every evening and is learning to play a song.",
        "The volcano erupted and covered the valley with ash.",
    ),
)

STORAGE = "storage"
LEXICAL = "lexical index"
VECTORS = "vectors"
MODEL = "model"
CANARY = "model canary"
STORED = "stored vectors"
CONTENT_TYPES = "content types"

_EMBED_AGAIN = "Run: clawmem embed --force"
_PLACE = attrgetter("collection", "path")


@dataclass(frozen=True, slots=True)
class Finding:
    """One check: its name, whether all is well, what was seen, and what to do (empty when all is well)."""

    check: str
    ok: bool
    detail: str
    way_out: str = ""


class Doctor:
    """
    Examines; changes nothing.

    Reads every fragment's record once, and of vectors a sample; `Verify` compares with the files, too.
    """

    def __init__(
        self, vault: Vault, files: FileSource, folders: Sequence[Folder], embedder: Embedder | None
    ) -> None:
        self._vault = vault
        self._files = files
        self._folders = folders
        self._embedder = embedder

    def __call__(self) -> list[Finding]:
        """Run every check, always in the same order; one that raises is a failed finding."""
        checks: dict[str, Callable[[], Finding]] = {
            STORAGE: self._storage,
            **{f"folder {folder.name}": partial(self._folder, folder) for folder in self._folders},
            LEXICAL: self._lexical,
            VECTORS: self._vectors,
            MODEL: self._model,
            CANARY: self._canary,
            STORED: self._stored,
            CONTENT_TYPES: self._content_types,
        }
        return [_attempt(name, check) for name, check in checks.items()]

    # -- storage, files, words ----------------------------------------------------------------------

    def _storage(self) -> Finding:
        faults = self._vault.check()
        if faults:
            way_out = "Copy the vault away, then move it aside and run: clawmem update"
            return Finding(STORAGE, False, "; ".join(faults), way_out)
        info = self._vault.info()
        detail = f"{info.location}: integrity check and ranking self-test passed (schema {info.schema})"
        return Finding(STORAGE, True, detail)

    def _folder(self, folder: Folder) -> Finding:
        name = f"folder {folder.name}"
        scan = self._files.scan(folder.root, enter=lambda path: False, wanted=lambda path: False)
        if scan.root_exists:
            return Finding(name, True, folder.root)
        way_out = f"Bring the folder back, or run: clawmem collection remove {folder.name}"
        detail = f"{folder.root} is not there or cannot be listed; what the vault has of it is kept"
        return Finding(name, False, detail, way_out)

    def _lexical(self) -> Finding:
        expected = self._fragments_by_grain()
        held = {grain: self._vault.lexical.count(grain) for grain in Grain}
        wrong = [
            f"{grain}: the index holds {held[grain]}, the records {expected[grain]}"
            for grain in Grain
            if held[grain] != expected[grain]
        ]
        if wrong:
            way_out = "Run: clawmem verify  (names the documents), then: clawmem reindex --force"
            return Finding(LEXICAL, False, "; ".join(wrong), way_out)
        return Finding(LEXICAL, True, ", ".join(f"{grain} {held[grain]}" for grain in Grain))

    def _fragments_by_grain(self) -> Counter[Grain]:
        counts: Counter[Grain] = Counter()
        for document in self._vault.documents.latest():
            parts = self._vault.documents.fragments(document.id)
            counts.update(GRAIN_OF[part.kind] for part in parts if part.kind in GRAIN_OF)
        return counts

    # -- vectors ------------------------------------------------------------------------------------

    def _vectors(self) -> Finding:
        counts = self._vault.embeddings.counts()
        detail = (
            f"{counts.stored} texts have one, {counts.pending} wait, {counts.failed} were given up, "
            f"{counts.orphaned} are unused; searched by {self._vault.vectors.method}"
        )
        if counts.failed:
            detail += self._given_up()
            return Finding(VECTORS, False, detail, "Check the model below, then run: clawmem embed --force")
        if counts.pending and self._embedder:
            return Finding(VECTORS, False, detail, "Run: clawmem embed")
        return Finding(VECTORS, True, detail)

    def _given_up(self) -> str:
        documents = sorted(self._vault.documents.latest(), key=_PLACE)
        failed = [d.display_path for d in documents if d.embed_state is EmbedState.FAILED]
        return f"; in {_listed(failed)}" if failed else ""

    def _model(self) -> Finding:
        stored = self._vault.embeddings.fingerprint()
        if self._embedder is None:
            detail = (
                f"none; the vectors of {stored!r} answer nothing" if stored else "none; search is by words"
            )
            return Finding(MODEL, stored is None, detail, "Configure that model again." if stored else "")
        asked = self._embedder.fingerprint
        if stored not in (None, asked):
            return Finding(MODEL, False, f"{asked!r}, but the vectors are of {stored!r}", _EMBED_AGAIN)
        return Finding(MODEL, True, f"{asked!r}, as the vectors" if stored else f"{asked!r}; no vectors yet")

    def _canary(self) -> Finding:
        if self._embedder is None:
            return Finding(CANARY, True, "no model, nothing to try")
        fault = _canary_fault(self._embedder)
        if fault:
            way_out = "Configure another model, or repair this one, then run: clawmem embed --force"
            return Finding(CANARY, False, fault, way_out)
        return Finding(CANARY, True, f"{len(PAIRS)} of {len(PAIRS)} questions are nearest to what they mean")

    def _stored(self) -> Finding:
        if self._embedder is None or self._vault.embeddings.fingerprint() != self._embedder.fingerprint:
            return Finding(STORED, True, "not compared: there are none of this model")
        sample = list(self._sample())
        fresh = self._embedder.embed_documents([text for _, text, _ in sample])
        cosines = [_cosine(vector, new) for (_, _, vector), new in zip(sample, fresh, strict=True)]
        wrong = [
            document.display_path
            for (document, _, _), cosine in zip(sample, cosines, strict=True)
            if not cosine >= SAME
        ]
        if wrong:
            detail = f"{len(wrong)} of {len(sample)} differ from what the model gives now: {_listed(wrong)}"
            return Finding(STORED, False, detail, _EMBED_AGAIN)
        return Finding(STORED, True, f"{len(sample)} computed again, all the same")

    def _sample(self) -> Iterator[tuple[Document, str, Vector]]:
        """A text and its stored vector, one a document, of documents spread evenly over the paths."""
        synced = [d for d in self._vault.documents.latest() if d.embed_state is EmbedState.SYNCED]
        for document in spread(sorted(synced, key=_PLACE), SAMPLE):
            vectors = self._vault.embeddings.of_document(document.id)
            if vectors:
                middle = vectors[len(vectors) // 2]
                texts = {
                    p.seq: embedding_text(p.context, p.text)
                    for p in self._vault.documents.fragments(document.id)
                }
                yield document, texts[middle.key.seq], middle.vector

    # -- for information ----------------------------------------------------------------------------

    def _content_types(self) -> Finding:
        counts = Counter(document.content_type for document in self._vault.documents.latest())
        by_number = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        detail = ", ".join(f"{name} {number}" for name, number in by_number)
        return Finding(CONTENT_TYPES, True, detail or "no documents")


def spread(documents: Sequence[Document], limit: int) -> Sequence[Document]:
    """Every k-th of *documents*, at most *limit*, the first among them."""
    return documents[:: max(1, -(-len(documents) // limit))]


def _attempt(name: str, check: Callable[[], Finding]) -> Finding:
    try:
        return check()
    except Exception as error:  # noqa: BLE001  a doctor that dies of the disease tells nobody
        detail = f"the check failed: {str(error) or type(error).__name__}"
        return Finding(name, False, detail, "Run: clawmem doctor  (once more, nothing else running.)")


def _canary_fault(embedder: Embedder) -> str | None:
    """What is wrong with what the model says of texts whose likeness is known; ``None`` when nothing is."""
    asked = [embedder.embed_query(question) for question, _, _ in PAIRS]
    told = embedder.embed_documents([text for _, same, other in PAIRS for text in (same, other)])
    if any(len(vector) != 4 * embedder.dimensions for vector in (*asked, *told)):
        return f"a vector is not of {embedder.dimensions} dimensions"
    if _is_constant(told) or _is_constant(asked):
        return "different texts get the same vector"
    wrong = [
        question
        for (question, _, _), vector, same, other in zip(PAIRS, asked, told[::2], told[1::2], strict=True)
        if not _cosine(vector, same) > _cosine(vector, other)
    ]
    return (
        f"{len(wrong)} of {len(PAIRS)} questions are not nearest to what they mean: {_listed(wrong)}"
        if wrong
        else None
    )


def _is_constant(vectors: Sequence[Vector]) -> bool:
    return any(_cosine(vectors[0], other) >= SAME for other in vectors[1:])


def _cosine(one: Vector, other: Vector) -> float:
    """The cosine of two vectors, whatever their length; 0 for zeros, NaN for what is not finite or not comparable."""
    a, b = _numbers(one), _numbers(other)
    if len(a) != len(b):
        return math.nan
    lengths = math.hypot(*a) * math.hypot(*b)
    return sum(x * y for x, y in zip(a, b, strict=True)) / lengths if lengths else 0.0


def _numbers(vector: Vector) -> tuple[float, ...]:
    return unpack(f"<{len(vector) // 4}f", vector)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
