"""Embedding of pending texts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from clawmem.app.services.progress import Progress
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import BadVector, EmbeddingError, InputTooLong, ModelError, ModelMismatch
from clawmem.ports.indexes import EmbeddingStore
from clawmem.ports.models import Embedder, for_background, is_remote
from clawmem.ports.records import embedding_text
from clawmem.ports.storage import Transactions

BATCH = 256  # texts or lines per transaction: about 30 ms of writing, and the most that a killed run loses
ALLOWED_FAILURES = 0.1  # share of texts; a model that fails on more of them does not take over


@dataclass(slots=True)
class EmbedReport:
    """
    Counts of one run: texts embedded, failed and waiting, and unused vectors that were deleted.

    ``stopped`` means that the model failed, not a single text: the remaining texts wait for another run. ``replaced``
    is the model whose vectors were replaced in this run, ``waiting_for`` the one whose vectors could not be replaced,
    with the reason in ``error``. ``paused`` means that the caller ended the run. ``remarks`` are sentences about the
    indexes.
    """

    embedded: int = 0
    failed: int = 0
    cleaned: int = 0
    error: str | None = None
    stopped: bool = False
    paused: bool = False
    replaced: str | None = None
    waiting_for: str | None = None
    pending: int = 0
    remarks: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        failed = f", {self.failed} failed" if self.failed else ""
        replaced = f", in place of those of {self.replaced}" if self.replaced else ""
        return f"Vectors: {self.embedded} made{replaced}{failed}, {self.pending} texts wait"

    @property
    def is_whole(self) -> bool:
        """Whether the model failed on no text."""
        return not (self.stopped or self.failed)

    @property
    def exit_code(self) -> int:
        """Return 6 where the vectors of another model go on answering."""
        return 6 if self.waiting_for else 0


@dataclass(frozen=True, slots=True)
class EmbedPending:
    """
    Embeds texts without vectors, batch by batch; an interrupted run can be continued at any point.

    If the serving vectors are of another model, those of the chosen model are built next to them. The older ones
    answer until one transaction replaces them; texts that come meanwhile are found by words.

    Args:
        embedder: The chosen model.
        of_vault: Returns the model of a run without force, see `ServingEmbedder.for_new_texts`.
        withheld: Returns the private documents, which no server of another machine reads.
    """

    documents: DocumentStore
    embeddings: EmbeddingStore
    transactions: Transactions
    embedder: Embedder
    of_vault: Callable[[], Embedder]
    withheld: Callable[..., Collection[int]] = frozenset

    def __call__(
        self,
        *,
        force: bool = False,
        progress: Progress = lambda done, total: None,
        go_on: Callable[[int, int], bool] = lambda done, total: True,
    ) -> EmbedReport:
        """
        Run until nothing is pending, or *go_on* returns False after a batch for the numbers of texts tried and of all;
        with *force* rebuild every vector next to the serving ones, by the chosen model.

        Raises:
            ModelMismatch: the model was not chosen by name, and that of the vault is unavailable; nothing was changed.
            EmbeddingError, ModelError: the chosen model has no known fingerprint.
        """
        report, embeddings = EmbedReport(), self.embeddings
        model = for_background(self.embedder if force else self.of_vault())
        building = self._begin(model.fingerprint, report, force)
        private = frozenset[str]()  # names of the texts of private documents
        if is_remote(model):
            parts = (part for number in self.withheld() for part in self.documents.fragments(number))
            texts = (embedding_text(part.context, part.text) for part in parts)
            private = frozenset(sha256(text.encode("utf-8", "surrogatepass")).hexdigest() for text in texts)
        total = embeddings.counts(building=building).pending
        while not report.stopped:
            batch = embeddings.pending(BATCH, building=building)
            if not batch and (not building or self._take_over(report, len(private))):
                break
            if hidden := [name for name, _ in batch if name in private]:
                with self.transactions.writing():
                    embeddings.fail(hidden, building=building)
            if batch := [(name, text) for name, text in batch if name not in private]:
                self._embed(model, building, batch, report)
            progress(report.embedded, max(total, report.embedded))
            if not go_on(report.embedded + report.failed, max(total, report.embedded)):
                report.pending = embeddings.counts(building=building).pending
                report.paused = report.pending > 0
                if report.paused:
                    return report
        if building and report.stopped and embeddings.fingerprint() == model.fingerprint:
            report.stopped, report.error = False, None  # another process has done this work
        while embeddings.discard(1000):  # per transaction: well under 50 ms of writing
            pass
        report.pending = embeddings.counts().pending
        return report

    @property
    def serves(self) -> bool:
        """Whether a run without force adds to the vectors of the vault. Raises as a run does."""
        serving = self.embeddings.fingerprint()
        return self.embeddings.building() is None and serving in (None, self.of_vault().fingerprint)

    def _begin(self, wanted: str, report: EmbedReport, force: bool) -> bool:
        """Begin, continue or give up vectors next to the serving ones; return whether there are such vectors to make."""
        embeddings = self.embeddings
        with self.transactions.writing():
            report.cleaned = embeddings.clean()
            serving, building = embeddings.fingerprint(), embeddings.building()
            if serving is None and force:
                embeddings.clear()  # including texts that were given up
            is_building = building is not None and building.fingerprint == wanted
            if serving is not None and (force or (serving != wanted and not is_building)):
                embeddings.begin(wanted)
            elif serving is None or not is_building:
                embeddings.give_up()
            return embeddings.building() is not None

    def _take_over(self, report: EmbedReport, private: int) -> bool:
        """Let the new vectors take over if they can; return False if there is more to embed first."""
        serving, counts = self.embeddings.fingerprint(), self.embeddings.counts(building=True)
        # The older vectors are better than those of a model that fails on many texts; one is always allowed.
        allowed = max(1, ALLOWED_FAILURES * (counts.stored + counts.failed)) if counts.stored else 0
        if counts.failed - private > allowed:
            report.waiting_for = serving
            report.error = f"{counts.failed} of {counts.stored + counts.failed} texts cannot be embedded"
            return True
        with self.transactions.writing():
            if not self.embeddings.take_over():
                return self.embeddings.building() is None
        report.replaced = serving
        return True

    def _embed(
        self, model: Embedder, building: bool, batch: Sequence[tuple[str, str]], report: EmbedReport
    ) -> None:
        """Embed *batch*; stop if the model fails. For a text that it cannot read, halve the batch to find it."""
        try:
            vectors = model.embed_documents([text for _, text in batch])
            known = {name: vector for (name, _), vector in zip(batch, vectors, strict=True) if any(vector)}
            reason = "the model knows no word of it"
        except (EmbeddingError, ModelError) as error:
            is_of_model = isinstance(error, BadVector | ModelError | ModelMismatch)
            if is_of_model and not isinstance(error, InputTooLong):
                report.error, report.stopped = str(error), True
                return
            half = len(batch) // 2
            for part in (batch[:half], batch[half:]) if half else ():
                if not report.stopped:
                    self._embed(model, building, part, report)
            if half:
                return
            known, reason = {}, str(error)
        failed = [name for name, _ in batch if name not in known]
        try:
            with self.transactions.writing():
                if known:
                    self.embeddings.store(model.fingerprint, known, building=building)
                if failed:
                    self.embeddings.fail(failed, building=building)
        except (ModelMismatch, ModelError) as error:  # another model took over, here or at the server
            report.error, report.stopped = str(error), True
            return
        report.embedded += len(known)
        report.failed += len(failed)
        if failed:
            report.error = reason
