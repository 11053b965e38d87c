"""Working off the texts that have no vector yet, in the space that serves and in one that shall follow it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from clawmem.app.services.documents.walking import pages
from clawmem.app.services.indexing.filling import Filling
from clawmem.app.services.indexing.sketch import SketchPending
from clawmem.ports.embedder import Embedder, for_background
from clawmem.ports.embeddings import EmbeddingCounts
from clawmem.ports.errors import EmbeddingError, ModelError, ModelMismatch
from clawmem.ports.sketches import sketcher_of
from clawmem.ports.vault import Vault

BATCH = 256  # texts a transaction: about 30 ms of writing, and a killed run loses no more
DISCARDED_AT_ONCE = 1000  # vectors a transaction: well under 50 ms of writing
ALLOWED_FAILURES = 0.1  # of the texts; a model that cannot read more of them takes nobody's place

Progress = Callable[[int, int], None]
OlderModel = Callable[[str], Embedder]


@dataclass(slots=True)
class EmbedReport:
    """
    What one run did: texts embedded, texts that failed, vectors nobody used any more.

    ``stopped`` says that the model, not a text, was the trouble: what is left waits for another run.
    ``replaced`` is the model whose place the new vectors took in this run, ``waiting_for`` the one whose
    place they could not take, with the reason in ``error``. ``sketched`` counts lines, where the model that
    serves now can sketch.
    """

    embedded: int = 0
    failed: int = 0
    cleaned: int = 0
    error: str | None = None
    stopped: bool = False
    replaced: str | None = None
    waiting_for: str | None = None
    sketched: int = 0


class EmbedPending:
    """
    Embed what has no vector, batch by batch; stopping anywhere and starting again loses nothing.

    When the vectors that serve are another model's, those of the chosen one are made beside them. Until they
    are complete the older ones answer, and new texts get vectors of both; then all of them change places in
    one transaction.

    Args:
        embedder: The chosen model.
        older: The model of a fingerprint, for new texts meanwhile; raises when it cannot be had.
        by_name: Whether the model was chosen by name. One that was not takes the place of a model only that
            can be asked here: otherwise a variable that is not set in some shell would cost all vectors.
    """

    def __init__(
        self, vault: Vault, embedder: Embedder, older: OlderModel | None = None, *, by_name: bool = True
    ) -> None:
        self._vault = vault
        self._embedder = for_background(embedder)
        self._older_of = older or self._no_other
        self._by_name = by_name

    def __call__(self, *, force: bool = False, progress: Progress = lambda done, total: None) -> EmbedReport:
        """
        Run until nothing is pending; with *force* make every vector anew, beside those that serve.

        Raises:
            ModelMismatch: the model was not chosen by name, and that of the vault cannot be asked here;
                nothing was changed.
            EmbeddingError, ModelError: the chosen model cannot say what it is.
        """
        report = EmbedReport()
        fillings = self._begun(report, force)
        total = self._pending(fillings)
        while True:
            while any(filling.advance(BATCH) for filling in fillings):
                _add_up(report, fillings)
                progress(report.embedded, max(total, report.embedded))
            if not fillings[-1].beside or self._has_ended(fillings[-1], report):
                break
        self._discard()
        self._sketch(report, progress)
        return report

    def counts(self) -> EmbeddingCounts:
        """How far the vectors that serve are."""
        return self._vault.embeddings.counts()

    # -- beginning ----------------------------------------------------------------------------------

    def _begun(self, report: EmbedReport, force: bool) -> list[Filling]:
        """What has to be filled, the space that serves first."""
        # A server may have to be asked for it, which no transaction shall wait for.
        asked = self._embedder.fingerprint
        if not (force or self._by_name):
            self._refuse_by_accident(asked)
        with self._vault.writing():
            report.cleaned = self._vault.embeddings.clean()
            self._choose_space(asked, force)
        return [*self._serving(asked), *self._beside()] or [Filling(self._vault, self._embedder)]

    def _refuse_by_accident(self, asked: str) -> None:
        stored = self._vault.embeddings.fingerprint()
        if stored not in (None, asked):
            self._older(stored or "")

    def _choose_space(self, asked: str, force: bool) -> None:
        """Begin, continue or give up what is made beside, so that it is what was asked for."""
        embeddings = self._vault.embeddings
        serving, building = embeddings.fingerprint(), embeddings.building()
        is_asked_for = building is not None and building.fingerprint == asked
        if serving is None:
            if force:
                embeddings.clear()  # also of what was given up
            embeddings.give_up()
        elif force or (serving != asked and not is_asked_for):
            embeddings.begin(asked)
        elif not is_asked_for:
            embeddings.give_up()

    def _serving(self, asked: str) -> list[Filling]:
        stored = self._vault.embeddings.fingerprint()
        if stored in (None, asked):
            return [Filling(self._vault, self._embedder)]
        try:
            return [Filling(self._vault, self._older(stored or ""))]
        except (EmbeddingError, ModelError):
            return []  # new texts are found by their words until the new vectors take over

    def _older(self, fingerprint: str) -> Embedder:
        return for_background(self._older_of(fingerprint))

    def _no_other(self, fingerprint: str) -> Embedder:
        raise ModelMismatch(fingerprint, self._embedder.fingerprint)

    def _beside(self) -> list[Filling]:
        building = self._vault.embeddings.building()
        return [Filling(self._vault, self._embedder, beside=True)] if building else []

    def _sketch(self, report: EmbedReport, progress: Progress) -> None:
        """The lines, when all vectors are there: questions can do without their sketches."""
        sketcher = sketcher_of(self._embedder)
        if report.stopped or sketcher is None:
            return
        if self._vault.embeddings.fingerprint() != sketcher.fingerprint:
            return  # another model answers; these would not be looked at
        try:
            report.sketched = SketchPending(self._vault, sketcher)(progress=progress)
        except (EmbeddingError, ModelError) as error:
            report.error, report.stopped = str(error), True

    # -- taking over --------------------------------------------------------------------------------

    def _pending(self, fillings: Sequence[Filling]) -> int:
        return sum(self._vault.embeddings.counts(beside=filling.beside).pending for filling in fillings)

    def _has_ended(self, filling: Filling, report: EmbedReport) -> bool:
        """Let the new vectors serve if they can; false when there is more to embed first."""
        if filling.stopped:
            self._look_who_stopped_it(report)
            return True
        serving, counts = self._vault.embeddings.fingerprint(), self._vault.embeddings.counts(beside=True)
        if _reads_too_little(counts):
            report.waiting_for = serving
            report.error = f"{counts.failed} of {counts.stored + counts.failed} texts cannot be embedded"
            return True
        with self._vault.writing():
            if not self._vault.embeddings.take_over():
                return self._vault.embeddings.building() is None
            self._refill_index()
        report.replaced = serving
        return True

    def _look_who_stopped_it(self, report: EmbedReport) -> None:
        """Another process that ended the same work is no trouble."""
        embeddings = self._vault.embeddings
        if embeddings.building() is None and embeddings.fingerprint() == self._embedder.fingerprint:
            report.stopped, report.error = False, None

    def _refill_index(self) -> None:
        """An index outside is outdated by the records themselves, and made anew when indexes catch up."""
        self._vault.vectors.clear()
        of_document = self._vault.embeddings.of_document
        for page in pages(self._vault.documents):
            self._vault.vectors.put(entry for document in page for entry in of_document(document.id))

    def _discard(self) -> None:
        while self._vault.embeddings.discard(DISCARDED_AT_ONCE):
            pass


def _reads_too_little(counts: EmbeddingCounts) -> bool:
    """Whether a model gave up so much that the older vectors are worth more; one text is no reason."""
    allowed = max(1, ALLOWED_FAILURES * (counts.stored + counts.failed)) if counts.stored else 0
    return counts.failed > allowed


def _add_up(report: EmbedReport, fillings: Sequence[Filling]) -> None:
    """What all of them did; only the last one, of the chosen model, says how it ended."""
    report.embedded = sum(filling.embedded for filling in fillings)
    report.failed = sum(filling.failed for filling in fillings)
    report.error = next((f.error for f in reversed(fillings) if f.error), None)
    report.stopped = fillings[-1].stopped
