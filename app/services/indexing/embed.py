"""Embedding and sketching of pending texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from clawmem.domain.documents.markdown import with_columns
from clawmem.domain.maintenance.embedding_policy import keeps_vectors
from clawmem.domain.retrieval.late_interaction import READ
from clawmem.domain.text.vocabulary import STOP_WORDS
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import (
    BadVector,
    ClawmemError,
    EmbeddingError,
    InputTooLong,
    ModelError,
    ModelMismatch,
)
from clawmem.ports.indexes import EmbeddingCounts, EmbeddingStore, SketchStore
from clawmem.ports.models import Embedder, Sketcher, for_background, sketcher_of
from clawmem.ports.records import FragmentKey, Vector
from clawmem.ports.storage import Transactions

SKETCH_BATCH = 256  # lines per transaction, the most that a killed run loses

BATCH = 256  # texts per transaction: about 30 ms of writing, and the most that a killed run loses
DISCARDED_AT_ONCE = 1000  # vectors per transaction: well under 50 ms of writing
ALLOWED_FAILURES = 0.1  # share of texts; a model that fails on more of them does not take over
Progress = Callable[[int, int], None]
GoOn = Callable[[int, int], bool]  # texts that were tried, all texts
OlderModel = Callable[[str], Embedder]


class SketchPending:
    """Makes missing sketches batch by batch; an interrupted run can be continued at any point."""

    def __init__(self, documents: DocumentStore, sketches: SketchStore, transactions: Transactions) -> None:
        self._documents = documents
        self._sketches = sketches
        self._transactions = transactions

    def __call__(self, sketcher: Sketcher, *, progress: Progress = lambda done, total: None) -> int:
        """
        Run until every line has a sketch by *sketcher*; return the number of new sketches.

        Raises:
            EmbeddingError, ModelError: the model failed; sketches made before are kept.
        """
        self._sketches.begin(sketcher.fingerprint)
        total, made = self._sketches.waiting(), 0
        after: FragmentKey | None = None
        while batch := self._sketches.pending(SKETCH_BATCH, after):
            self._sketch(batch, sketcher)
            made, after = made + len(batch), batch[-1]
            progress(made, max(total, made))
        return made

    def _sketch(self, keys: Sequence[FragmentKey], sketcher: Sketcher) -> None:
        texts = self._texts(keys)
        # Repeated lines, such as "Thanks!" in chats, are sketched once.
        distinct = list(dict.fromkeys(texts.values()))
        known = dict(zip(distinct, sketcher.sketch(distinct, STOP_WORDS), strict=True))
        with self._transactions.writing():
            made = {key: known[text] for key, text in texts.items()}
            self._sketches.store(sketcher.fingerprint, made)

    def _texts(self, keys: Sequence[FragmentKey]) -> dict[FragmentKey, str]:
        """Return the texts of the lines, reading each body once; lines deleted in between are left out."""
        spans = self._documents.spans(keys)
        texts: dict[FragmentKey, str] = {}
        for document_id, of_document in groupby(sorted(spans), key=lambda key: key.document_id):
            body = self._documents.body(document_id) or ""
            texts |= {key: with_columns(body, spans[key].start, spans[key].end)[:READ] for key in of_document}
        return texts


@dataclass(slots=True)
class EmbedReport:
    """
    Counts of one run: texts embedded, texts that failed, and unused vectors that were deleted.

    ``stopped`` means that the model failed, not a single text: the remaining texts wait for another run. ``replaced``
    is the model whose vectors were replaced in this run, ``waiting_for`` the one whose vectors could not be replaced,
    with the reason in ``error``. ``paused`` means that the caller ended the run. ``sketched`` counts lines, if the serving model can make sketches.
    """

    embedded: int = 0
    failed: int = 0
    cleaned: int = 0
    error: str | None = None
    stopped: bool = False
    paused: bool = False
    replaced: str | None = None
    waiting_for: str | None = None
    sketched: int = 0


class EmbedPending:
    """
    Embeds texts without vectors, batch by batch; an interrupted run can be continued at any point.

    If the serving vectors are of another model, those of the chosen model are built next to them. Until they are
    complete, the older ones answer, and new texts get vectors of both models; then one transaction replaces all.

    Args:
        embedder: The chosen model.
        older: Returns the model of a fingerprint, for new texts; raises if it is unavailable.
        by_name: Whether the model was chosen by name. If not, the vault keeps the model of its vectors (`keeps_vectors`).
    """

    def __init__(
        self,
        embeddings: EmbeddingStore,
        transactions: Transactions,
        make_sketches: SketchPending,
        embedder: Embedder,
        older: OlderModel | None = None,
        *,
        by_name: bool = True,
    ) -> None:
        self._embeddings = embeddings
        self._transactions = transactions
        self._make_sketches = make_sketches
        self._chosen = self._embedder = for_background(embedder)
        self._older_of = older or self._no_other
        self._by_name = by_name

    def __call__(
        self,
        *,
        force: bool = False,
        progress: Progress = lambda done, total: None,
        go_on: GoOn = lambda done, total: True,
    ) -> EmbedReport:
        """
        Run until nothing is pending, or *go_on* returns False after a batch; with *force* rebuild every vector next to
        the serving ones, by the chosen model.

        Raises:
            ModelMismatch: the model was not chosen by name, and that of the vault is unavailable; nothing was changed.
            EmbeddingError, ModelError: the chosen model has no known fingerprint.
        """
        report = EmbedReport()
        self._embedder = self._chosen if force else self._unforced()
        fillings = self._begun(report, force)
        total = self._pending(fillings)
        while True:
            while any(filling.advance(BATCH) for filling in fillings):
                _add_up(report, fillings)
                progress(report.embedded, max(total, report.embedded))
                if not go_on(report.embedded + report.failed, max(total, report.embedded)):
                    report.paused = self._pending(fillings) > 0
                    if report.paused:
                        return report
            if not fillings[-1].building or self._has_ended(fillings[-1], report):
                break
        while self._embeddings.discard(DISCARDED_AT_ONCE):
            pass
        self._sketch(report, progress)
        return report

    def add(self, *, progress: Progress = lambda done, total: None) -> EmbedReport:
        """
        Embed new texts by the model of the vectors that answer, and do not continue a change to another model.

        Raises:
            ModelMismatch: that model is unavailable.
        """
        report = EmbedReport()
        self._embedder = self._older(self._embeddings.fingerprint() or "")
        filling = self._filler(self._embedder)
        total = self._pending([filling])
        while filling.advance(BATCH):
            progress(filling.embedded, max(total, filling.embedded))
        _add_up(report, [filling])
        self._sketch(report, progress)
        return report

    def counts(self) -> EmbeddingCounts:
        """Return the progress of the serving vectors."""
        return self._embeddings.counts()

    @property
    def serves(self) -> bool:
        """Whether a run without force adds to the vectors of the vault. Raises as a run does."""
        return self._embeddings.building() is None and self._embeddings.fingerprint() in (
            None,
            self._unforced().fingerprint,
        )

    # -- beginning ----------------------------------------------------------------------------------

    def _begun(self, report: EmbedReport, force: bool) -> list[SpaceFiller]:
        """Return the spaces to fill, the serving one first."""
        # The fingerprint may need a request to a server, so get it outside the transaction.
        asked = self._embedder.fingerprint
        with self._transactions.writing():
            report.cleaned = self._embeddings.clean()
            self._choose_space(asked, force)
        building = [self._filler(self._embedder, building=True)] if self._embeddings.building() else []
        return [*self._serving(asked), *building] or [self._filler(self._embedder)]

    def _unforced(self) -> Embedder:
        """Return the model of a run without force."""
        if self._by_name:
            return self._chosen
        serving, building = self._embeddings.fingerprint(), self._embeddings.building()
        kept = keeps_vectors(serving, building.fingerprint if building else None, self._chosen.fingerprint)
        return self._older(serving or "") if kept else self._chosen

    def _choose_space(self, asked: str, force: bool) -> None:
        """Begin, continue or give up a space under construction, so that it is the requested one."""
        serving, building = self._embeddings.fingerprint(), self._embeddings.building()
        is_asked_for = building is not None and building.fingerprint == asked
        if serving is None:
            if force:
                self._embeddings.clear()  # including texts that were given up
            self._embeddings.give_up()
        elif force or (serving != asked and not is_asked_for):
            self._embeddings.begin(asked)
        elif not is_asked_for:
            self._embeddings.give_up()

    def _serving(self, asked: str) -> list[SpaceFiller]:
        stored = self._embeddings.fingerprint()
        if stored in (None, asked):
            return [self._filler(self._embedder)]
        try:
            return [self._filler(self._older(stored or ""))]
        except (EmbeddingError, ModelError):
            return []  # new texts are found by lexical search until the new vectors take over

    def _filler(self, embedder: Embedder, *, building: bool = False) -> SpaceFiller:
        return SpaceFiller(self._embeddings, self._transactions, embedder, building=building)

    def _older(self, fingerprint: str) -> Embedder:
        return for_background(self._older_of(fingerprint))

    def _no_other(self, fingerprint: str) -> Embedder:
        raise ModelMismatch(fingerprint, self._chosen.fingerprint)

    def _sketch(self, report: EmbedReport, progress: Progress) -> None:
        """Sketch lines after all vectors are complete, as search works without sketches."""
        sketcher = sketcher_of(self._embedder)
        if report.stopped or sketcher is None:
            return
        if self._embeddings.fingerprint() != sketcher.fingerprint:
            return  # another model serves; its search would ignore these sketches
        try:
            report.sketched = self._make_sketches(sketcher, progress=progress)
        except (EmbeddingError, ModelError) as error:
            report.error, report.stopped = str(error), True

    # -- taking over --------------------------------------------------------------------------------

    def _pending(self, fillings: Sequence[SpaceFiller]) -> int:
        return sum(self._embeddings.counts(building=filling.building).pending for filling in fillings)

    def _has_ended(self, filling: SpaceFiller, report: EmbedReport) -> bool:
        """Let the new vectors take over if they can; return False if there is more to embed first."""
        if filling.stopped:
            self._look_who_stopped_it(report)
            return True
        serving, counts = self._embeddings.fingerprint(), self._embeddings.counts(building=True)
        if _reads_too_little(counts):
            report.waiting_for = serving
            report.error = f"{counts.failed} of {counts.stored + counts.failed} texts cannot be embedded"
            return True
        with self._transactions.writing():
            if not self._embeddings.take_over():
                return self._embeddings.building() is None
        report.replaced = serving
        return True

    def _look_who_stopped_it(self, report: EmbedReport) -> None:
        """Clear the error if another process completed the same work."""
        if (
            self._embeddings.building() is None
            and self._embeddings.fingerprint() == self._embedder.fingerprint
        ):
            report.stopped, report.error = False, None


def _reads_too_little(counts: EmbeddingCounts) -> bool:
    """Whether the model failed on so many texts that the older vectors are better; one text is always allowed."""
    allowed = max(1, ALLOWED_FAILURES * (counts.stored + counts.failed)) if counts.stored else 0
    return counts.failed > allowed


def _add_up(report: EmbedReport, fillings: Sequence[SpaceFiller]) -> None:
    """Add up the counts of all spaces; the status comes from the last one, which is of the chosen model."""
    report.embedded = sum(filling.embedded for filling in fillings)
    report.failed = sum(filling.failed for filling in fillings)
    report.error = next((f.error for f in reversed(fillings) if f.error), None)
    report.stopped = fillings[-1].stopped


@dataclass(slots=True)
class SpaceFiller:
    """
    Fills the serving embedding space, or the one under construction, and counts the results.

    ``stopped`` means that the model failed, not a single text; ``error`` is the last error.
    """

    embeddings: EmbeddingStore
    transactions: Transactions
    embedder: Embedder
    building: bool = False
    embedded: int = field(default=0, init=False)
    failed: int = field(default=0, init=False)
    stopped: bool = field(default=False, init=False)
    error: str | None = field(default=None, init=False)

    def advance(self, limit: int) -> bool:
        """Embed the next *limit* texts; return whether there were any."""
        batch = [] if self.stopped else self.embeddings.pending(limit, building=self.building)
        if batch:
            self._embed(batch)
        return bool(batch)

    def _embed(self, batch: Sequence[tuple[str, str]]) -> None:
        try:
            vectors = self.embedder.embed_documents([text for _, text in batch])
        except (EmbeddingError, ModelError) as error:
            self._excuse(batch, error)
            return
        known = {name: vector for (name, _), vector in zip(batch, vectors, strict=True) if any(vector)}
        wordless = [name for name, _ in batch if name not in known]
        self._store(known)
        if wordless and not self.stopped:
            self._fail(wordless, "the model knows no word of it")

    def _excuse(self, batch: Sequence[tuple[str, str]], error: ClawmemError) -> None:
        """Stop if the model fails; for an unreadable text, halve the batch to find it."""
        if isinstance(error, BadVector | ModelError | ModelMismatch) and not isinstance(error, InputTooLong):
            self._stop(error)
        elif len(batch) == 1:
            self._fail([batch[0][0]], str(error))
        else:
            half = len(batch) // 2
            for part in (batch[:half], batch[half:]):
                if not self.stopped:
                    self._embed(part)

    def _store(self, vectors: Mapping[str, Vector]) -> None:
        try:
            with self.transactions.writing():
                self.embeddings.store(self.embedder.fingerprint, vectors, building=self.building)
        except (ModelMismatch, ModelError) as error:  # another model took over, here or at the server
            self._stop(error)
        else:
            self.embedded += len(vectors)

    def _fail(self, text_hashes: Sequence[str], error: str) -> None:
        with self.transactions.writing():
            self.embeddings.fail(text_hashes, error, building=self.building)
        self.failed += len(text_hashes)
        self.error = error

    def _stop(self, error: ClawmemError) -> None:
        self.error, self.stopped = str(error), True
