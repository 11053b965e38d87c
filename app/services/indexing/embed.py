"""Embedding and sketching of pending texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby

from clawmem.domain.documents.markdown import with_columns
from clawmem.domain.maintenance.embedding_policy import keeps_vectors
from clawmem.domain.retrieval.late_interaction import READ
from clawmem.domain.text.vocabulary import STOP_WORDS
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import (
    BadVector,
    EmbeddingError,
    InputTooLong,
    ModelError,
    ModelMismatch,
)
from clawmem.ports.indexes import EmbeddingStore, SketchStore
from clawmem.ports.models import Embedder, Sketcher, for_background, sketcher_of
from clawmem.ports.records import FragmentKey
from clawmem.ports.storage import Transactions

SKETCH_BATCH = 256  # lines per transaction, the most that a killed run loses

BATCH = 256  # texts per transaction: about 30 ms of writing, and the most that a killed run loses
DISCARDED_AT_ONCE = 1000  # vectors per transaction: well under 50 ms of writing
ALLOWED_FAILURES = 0.1  # share of texts; a model that fails on more of them does not take over
MODEL_FAILED = 6  # exit code
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
            texts = self._texts(batch)
            distinct = list(dict.fromkeys(texts.values()))  # "Thanks!" is in many lines of chats
            sketches = dict(zip(distinct, sketcher.sketch(distinct, STOP_WORDS), strict=True))
            with self._transactions.writing():
                by_line = {key: sketches[text] for key, text in texts.items()}
                self._sketches.store(sketcher.fingerprint, by_line)
            made, after = made + len(batch), batch[-1]
            progress(made, max(total, made))
        return made

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
    Counts of one run: texts embedded, failed and waiting, and unused vectors that were deleted.

    ``stopped`` means that the model failed, not a single text: the remaining texts wait for another run. ``replaced``
    is the model whose vectors were replaced in this run, ``waiting_for`` the one whose vectors could not be replaced,
    with the reason in ``error``. ``paused`` means that the caller ended the run. ``sketched`` counts lines, if the serving
    model can make sketches. ``remarks`` are sentences about the indexes.
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
    pending: int = 0
    remarks: list[str] = field(default_factory=list)

    @property
    def is_whole(self) -> bool:
        """Whether the model failed on no text."""
        return not (self.stopped or self.failed)

    @property
    def exit_code(self) -> int:
        """Return 6 where the vectors of another model go on answering."""
        return MODEL_FAILED if self.waiting_for else 0


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
        self._older_of = older
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
                    report.pending = self._pending(fillings)
                    report.paused = report.pending > 0
                    if report.paused:
                        return report
            if not fillings[-1].building or self._has_ended(fillings[-1], report):
                break
        while self._embeddings.discard(DISCARDED_AT_ONCE):
            pass
        self._sketch(report, progress)
        report.pending = self._embeddings.counts().pending
        return report

    @property
    def serves(self) -> bool:
        """Whether a run without force adds to the vectors of the vault. Raises as a run does."""
        serving = self._embeddings.fingerprint()
        return self._embeddings.building() is None and serving in (None, self._unforced().fingerprint)

    def _unforced(self) -> Embedder:
        """Return the model of a run without force."""
        if self._by_name:
            return self._chosen
        serving, building = self._embeddings.fingerprint(), self._embeddings.building()
        new = building.fingerprint if building else None
        is_older = keeps_vectors(serving, new, self._chosen.fingerprint)
        return self._older(serving or "") if is_older else self._chosen

    def _begun(self, report: EmbedReport, force: bool) -> list[SpaceFiller]:
        """Begin, continue or give up a space under construction; return the spaces to fill, the serving one first."""
        embeddings = self._embeddings
        # The fingerprint may need a request to a server, so get it outside the transaction.
        wanted = self._embedder.fingerprint
        with self._transactions.writing():
            report.cleaned = embeddings.clean()
            serving, building = embeddings.fingerprint(), embeddings.building()
            if serving is None and force:
                embeddings.clear()  # including texts that were given up
            is_building = building is not None and building.fingerprint == wanted
            if serving is not None and (force or (serving != wanted and not is_building)):
                embeddings.begin(wanted)
            elif serving is None or not is_building:
                embeddings.give_up()
        fillings = []
        with suppress(
            EmbeddingError, ModelError
        ):  # new texts are found by words until the new vectors take over
            model = self._embedder if serving in (None, wanted) else self._older(serving or "")
            fillings.append(SpaceFiller(embeddings, self._transactions, model))
        if embeddings.building():
            fillings.append(SpaceFiller(embeddings, self._transactions, self._embedder, building=True))
        return fillings

    def _older(self, fingerprint: str) -> Embedder:
        if self._older_of is None:
            raise ModelMismatch(fingerprint, self._chosen.fingerprint)
        return for_background(self._older_of(fingerprint))

    def _sketch(self, report: EmbedReport, progress: Progress) -> None:
        """Sketch lines after all vectors are complete, as search works without sketches, if this model serves."""
        sketcher = sketcher_of(self._embedder)
        if report.stopped or sketcher is None or self._embeddings.fingerprint() != sketcher.fingerprint:
            return
        try:
            report.sketched = self._make_sketches(sketcher, progress=progress)
        except (EmbeddingError, ModelError) as error:
            report.error, report.stopped = str(error), True

    def _pending(self, fillings: Sequence[SpaceFiller]) -> int:
        return sum(self._embeddings.counts(building=filling.building).pending for filling in fillings)

    def _has_ended(self, filling: SpaceFiller, report: EmbedReport) -> bool:
        """Let the new vectors take over if they can; return False if there is more to embed first."""
        serving, building = self._embeddings.fingerprint(), self._embeddings.building()
        if filling.stopped:
            if (
                building is None and serving == self._embedder.fingerprint
            ):  # another process has done this work
                report.stopped, report.error = False, None
            return True
        counts = self._embeddings.counts(building=True)
        # The older vectors are better than those of a model that fails on many texts; one is always allowed.
        allowed = max(1, ALLOWED_FAILURES * (counts.stored + counts.failed)) if counts.stored else 0
        if counts.failed > allowed:
            report.waiting_for = serving
            report.error = f"{counts.failed} of {counts.stored + counts.failed} texts cannot be embedded"
            return True
        with self._transactions.writing():
            if not self._embeddings.take_over():
                return self._embeddings.building() is None
        report.replaced = serving
        return True


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
        """Embed *batch*; stop if the model fails. For a text that it cannot read, halve the batch to find it."""
        try:
            vectors = self.embedder.embed_documents([text for _, text in batch])
        except (EmbeddingError, ModelError) as error:
            if isinstance(error, BadVector | ModelError | ModelMismatch) and not isinstance(
                error, InputTooLong
            ):
                self.error, self.stopped = str(error), True
            elif len(batch) == 1:
                self._fail([batch[0][0]], str(error))
            else:
                half = len(batch) // 2
                for part in (batch[:half], batch[half:]):
                    if not self.stopped:
                        self._embed(part)
            return
        known = {name: vector for (name, _), vector in zip(batch, vectors, strict=True) if any(vector)}
        wordless = [name for name, _ in batch if name not in known]
        try:
            with self.transactions.writing():
                self.embeddings.store(self.embedder.fingerprint, known, building=self.building)
        except (ModelMismatch, ModelError) as error:  # another model took over, here or at the server
            self.error, self.stopped = str(error), True
            return
        self.embedded += len(known)
        if wordless:
            self._fail(wordless, "the model knows no word of it")

    def _fail(self, text_hashes: Sequence[str], error: str) -> None:
        with self.transactions.writing():
            self.embeddings.fail(text_hashes, error, building=self.building)
        self.failed += len(text_hashes)
        self.error = error
