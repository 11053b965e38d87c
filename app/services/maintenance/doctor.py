"""Health check of storage, folders, indexes, vectors, models and the machine; comparison of files, records and indexes."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from pathlib import Path
from shutil import disk_usage
from time import time
from typing import Any

from clawmem.app.client.autostart import is_running
from clawmem.app.client.request import announced, fault_of_server
from clawmem.app.environment.private_files import all_below, files_of_vault, make_private, state_folder
from clawmem.app.services.documents.listing import pages
from clawmem.app.services.indexing.folders import (
    Exclusions,
    Folder,
    missing_folder,
    scan_folder,
    seems_unmounted,
)
from clawmem.app.services.indexing.publish import Publisher
from clawmem.app.services.indexing.source import ParseFrontMatter, decode, parse_source
from clawmem.app.services.indexing.update import is_forgotten_file
from clawmem.app.services.maintenance.status import SETTINGS, logged_errors
from clawmem.app.services.models import NONE
from clawmem.domain.briefing.blocks import few
from clawmem.domain.documents.fragments import grain_of
from clawmem.domain.documents.frontmatter import facts, split
from clawmem.domain.documents.identity import NO_TEXT, body_hash, is_current, is_forgotten, source_hash
from clawmem.domain.knowledge.llm_answer import json_answer
from clawmem.domain.maintenance.canary import (
    GOLDEN,
    QUESTION,
    VERDICT,
    compared_texts,
    cosine,
    fault_in_ranking,
    fault_in_vectors,
)
from clawmem.domain.portability import front_matter_of
from clawmem.domain.text.words import words
from clawmem.ports.documents import DocumentStore
from clawmem.ports.errors import ClawmemError, EmbeddingError, IndexBypassed, ModelError, SourceUnreadable
from clawmem.ports.files import FileSource
from clawmem.ports.indexes import EmbeddingStore, LexicalIndex, VectorSearch
from clawmem.ports.journal import ForgottenTexts
from clawmem.ports.models import Embedder, Generator, Reranker, is_in_process, is_remote
from clawmem.ports.records import (
    Document,
    EmbedState,
    Grain,
    InactiveReason,
    LexicalQuery,
    Scope,
    Term,
    Vector,
    embedding_text,
)
from clawmem.ports.storage import Storage, Transactions

# Indexes are derived from the records, so a rebuild repairs any of them.
REBUILD = "Run: clawmem rebuild"
# Repairs the records themselves, and keeps every readable one.
REPAIR = "Run: clawmem doctor --repair"
LEAST_BYTES = 1 << 20  # enough for a log and a few notes
SAME = 0.999  # least cosine between a stored and a recomputed vector of one text; rounding stays above
SAMPLE = 20  # stored vectors that are computed again for comparison
LOOKED_FOR = 50  # documents that a verification searches for
# Ends of the differences of files, which an update removes.
NEW, CHANGED, GONE = OF_FILES = (
    "is on disk, but not in the vault.",
    "was changed on disk since it was indexed.",
    "is in the vault, but its file is gone.",
)
OWN_WORDS = 12  # longest words of a text, which tend to be its rarest


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Result of one check: its name, whether it passed, the details, and the remedy (empty if it passed)."""

    check: str
    ok: bool
    detail: str
    way_out: str = ""

    @property
    def line(self) -> str:
        """Return the finding as a line that begins with ok or FAIL."""
        mark = "ok  " if self.ok else "FAIL"
        remedy = f"{'' if self.detail.endswith('.') else '.'} {self.way_out}" if self.way_out else ""
        return f"{mark}  {self.check}: {self.detail}{remedy}"


def spread(documents: Sequence[Document], limit: int) -> Sequence[Document]:
    """Return every k-th of *documents* including the first, at most *limit*."""
    return documents[:: max(1, -(-len(documents) // limit))]


def without_remedy(fault: str) -> str:
    """Return *fault* without the advice to rebuild at its end."""
    return fault.removesuffix(REBUILD).rstrip(" .")


def word_index_faults(documents: DocumentStore, lexical: LexicalIndex) -> list[str]:
    """Return a sentence for each granularity of which the index holds another number of entries than the records."""
    expected = Counter(
        grain_of(fragment) for document in documents.latest() for fragment in documents.fragments(document.id)
    )
    entries = {grain: lexical.count(grain) for grain in Grain}
    fault = "The {} index holds {} entries, the records {}."
    return [fault.format(grain, n, expected[grain]) for grain, n in entries.items() if n != expected[grain]]


@dataclass(frozen=True, slots=True)
class Doctor:
    """
    Examines the vault without changing it.

    Reads the record of every fragment once and a sample of the vectors; asks every model a few questions. `Verify`
    additionally compares the vault with the files. The models are made when needed; ``None`` where none is configured.
    """

    documents: DocumentStore
    storage: Storage
    lexical: LexicalIndex
    vectors: VectorSearch
    embeddings: EmbeddingStore
    files: FileSource
    folders: Sequence[Folder]
    leftovers: Callable[[], Sequence[str]] = tuple
    policy_faults: Callable[[], Sequence[str]] = tuple
    settings_faults: Callable[[], Sequence[str]] = tuple
    withheld: Callable[..., Collection[int]] = frozenset
    forget_warnings: Callable[[], Sequence[str]] = tuple
    language_advice: Callable[[], str] = str
    parse_front_matter: ParseFrontMatter = dict.fromkeys
    embedder: Callable[[], Embedder | None] = lambda: None
    generator: Callable[[], Generator | None] = lambda: None
    reranker: Callable[[], Reranker | None] = lambda: None

    def __call__(self) -> list[CheckResult]:
        """Run every check in a fixed order; a check that raises becomes a failed finding."""
        test = "Repair the model or configure another one, then run: clawmem embed --force"
        remedy = "Repair the model, or leave it out ({}): questions are then answered without it."
        checks: dict[str, Callable[[str], CheckResult]] = {
            "storage": partial(_without, self.storage.check, "integrity check passed", remedy=REPAIR),
            "forgotten notes": partial(
                _without, self.forget_warnings, "their places are recorded next to the vault, too"
            ),
            **{f"folder {folder.name}": partial(self._folder, folder) for folder in self.folders},
            "collections": partial(
                _without,
                lambda: [*self.leftovers(), *self.policy_faults(), *self.settings_faults()],
                "every collection of files is configured",
            ),
            "front matter": self._front_matter,
            "word index": self._lexical,
            "vectors": self._vectors,
            "model": self._model,
            "languages": lambda name: CheckResult(
                name, True, self.language_advice() or "the vectors suit the languages of the notes"
            ),
            "model test": partial(_tested, self.embedder, embedder_fault, test),
            "stored vectors": self._stored,
            "generator": partial(_tested, self.generator, generator_fault, remedy.format("CLAWMEM_LLM_URL")),
            "reranker": partial(_tested, self.reranker, reranker_fault, remedy.format("CLAWMEM_RERANK_URL")),
        }
        results = []
        for name, check in checks.items():
            try:
                results.append(check(name))
            except (ClawmemError, OSError) as error:  # its message names the remedy, or the file
                results.append(CheckResult(name, False, f"the check failed: {error}"))
            except Exception as error:  # noqa: BLE001  the other checks must still run and be reported
                detail = f"the check failed: {str(error) or type(error).__name__}"
                remedy = f"{REPAIR}  (shows what would change, and asks.)"
                results.append(CheckResult(name, False, detail, remedy))
        return results

    def _folder(self, folder: Folder, name: str) -> CheckResult:
        notes = self.documents.latest(Scope(frozenset({folder.name})))
        paths = {note.path for note in notes if note.stamp}
        exclusions = Exclusions(self.files, folder)
        scan = scan_folder(self.files, folder, exclusions)
        if not scan.root_exists:
            return CheckResult(name, False, *missing_folder(folder, scan.problem, has_documents=bool(notes)))
        if scan.unreadable:
            detail = ". ".join(map(exclusions.why_unreadable, scan.unreadable[:5]))
            return CheckResult(name, False, detail, "Then run: clawmem update")
        read = {file.path for file in scan.files}
        missing = [path for path in paths - read if not scan.hides(path)]
        lost = sum(not (read and exclusions.explained(path)) for path in missing)
        if seems_unmounted(self.files, folder, lost, len(paths)):
            detail = f"{folder.root} has no files any more of {lost:,} documents, which are kept"
            remedy = f"Mount its disk. To remove them, run: clawmem update -c {folder.name} --allow-empty"
            return CheckResult(name, False, detail, remedy)
        is_locked = os.access(folder.root, os.F_OK) and not os.access(folder.root, os.W_OK)
        locked = "; it cannot be written: 'remember' saves no note there" if is_locked else ""
        return CheckResult(name, True, folder.root + locked)

    def _front_matter(self, name: str) -> CheckResult:
        faulty = []
        for note in self.documents.latest():
            parts = split(front_matter_of(note) if note.front_matter else self.documents.body(note.id) or "")
            try:
                is_faulty = parts.is_unclosed or facts(self.parse_front_matter(parts.text)).faults
            except ValueError:
                is_faulty = True
            faulty += [note.display_path] if is_faulty else []
        files = f"files with lines that could not be read: {len(faulty)}"
        names = f" ({few(sorted(faulty))}). For the lines, run: clawmem update --all" if faulty else ""
        return CheckResult(name, True, files + names)

    def _lexical(self, name: str) -> CheckResult:
        faults = [without_remedy(fault) for fault in self.lexical.faults()]
        faults = faults or word_index_faults(self.documents, self.lexical)
        detail = " ".join(faults) or "; ".join(f"{self.lexical.count(grain)} {grain}s" for grain in Grain)
        return CheckResult(name, not faults, detail, REBUILD if faults else "")

    def _vectors(self, name: str) -> CheckResult:
        if faults := self.vectors.faults():
            return CheckResult(name, False, "; ".join(map(without_remedy, faults)), REBUILD)
        counts = self.embeddings.counts()
        detail = (
            f"{counts.stored} texts have a vector, {counts.pending} are pending, {counts.failed} failed, "
            f"{counts.orphaned} vectors are unused; searched by {self.vectors.method}"
        )
        documents = self.documents.latest() if counts.failed else ()
        # Private texts are not sent to other machines.
        private = self.withheld() if counts.failed and is_remote(self.embedder()) else ()
        notes = (
            note for note in documents if note.embed_state is EmbedState.FAILED and note.id not in private
        )
        if failed := [note.display_path for note in notes]:
            detail += f"; in {few(sorted(failed))}"
            remedy = "Check the model below, then run: clawmem embed --force"
            return CheckResult(name, False, detail, remedy)
        has_model = True
        with suppress(ClawmemError):  # of a configured model; the next check reports its fault
            has_model = self.embedder() is not None
        is_behind = bool(counts.pending) and has_model
        return CheckResult(name, not is_behind, detail, "Run: clawmem embed" if is_behind else "")

    def _model(self, name: str) -> CheckResult:
        embedder, stored = self.embedder(), self.embeddings.fingerprint()
        if embedder is None:
            remedy = "Install or configure that model again (see: clawmem models list), or run: clawmem embed --force"
            detail = f"the vectors of {stored!r} cannot be searched" if stored else "none; search is by words"
            return CheckResult(name, stored is None, detail, remedy if stored else "")
        if stored in (None, embedder.fingerprint):
            state = ", which made the vectors" if stored else "; no vectors yet"
            return CheckResult(name, True, f"{embedder.fingerprint!r}{state}")
        building = self.embeddings.building()
        made = building.share if building and building.fingerprint == embedder.fingerprint else 0.0
        detail = f"{embedder.fingerprint!r}, whose vectors are {made:.0%} made; until then those of {stored!r} answer"
        return CheckResult(name, False, detail, "Run: clawmem embed")

    def _stored(self, name: str) -> CheckResult:
        embedder = self.embedder()
        if embedder is None or self.embeddings.fingerprint() != embedder.fingerprint:
            return CheckResult(name, True, "not compared: no vectors of this model are stored")
        sample = list[tuple[Document, str, Vector]]()  # a text of each document, spread over the paths
        synced = [note for note in self.documents.latest() if note.embed_state is EmbedState.SYNCED]
        for document in spread(sorted(synced, key=attrgetter("collection", "path")), SAMPLE):
            if vectors := self.embeddings.of_document(document.id):
                middle = vectors[len(vectors) // 2]
                fragments = {fragment.seq: fragment for fragment in self.documents.fragments(document.id)}
                fragment = fragments[middle.key.seq]
                sample.append((document, embedding_text(fragment.context, fragment.text), middle.vector))
        fresh = embedder.embed_documents([text for _, text, _ in sample])
        wrong = [
            document.display_path
            for (document, _, vector), new in zip(sample, fresh, strict=True)
            if not cosine(vector, new) >= SAME
        ]
        if not wrong:
            return CheckResult(name, True, f"{len(sample)} computed again, all the same")
        detail = f"{len(wrong)} of {len(sample)} differ from what the model gives now: {few(wrong)}"
        return CheckResult(name, False, detail, "Run: clawmem embed --force")


def _without(faults: Callable[[], Iterable[str]], fine: str, name: str, remedy: str = "") -> CheckResult:
    """Return a finding with *faults*; without any it is *fine*."""
    detail = "; ".join(faults())
    return CheckResult(name, not detail, detail or fine, remedy if detail else "")


def _tested(
    model_of: Callable[[], object], fault_of: Callable[[Any], str | None], remedy: str, name: str
) -> CheckResult:
    """Return the result of a canary; `NONE` if there is no model."""
    model = model_of()
    if model is None:
        return CheckResult(name, True, NONE)
    try:
        fault = fault_of(model)
    except (ModelError, EmbeddingError) as error:
        fault = str(error)
    return CheckResult(name, not fault, fault or "it answers as it should", remedy if fault else "")


def embedder_fault(embedder: Embedder) -> str | None:
    """Return the fault in the vectors of *embedder* for texts of known similarity, or ``None``."""
    questions = [embedder.embed_query(golden.question) for golden in GOLDEN]
    vectors = embedder.embed_documents([text for golden in GOLDEN for text in (golden.right, golden.wrong)])
    return fault_in_vectors(questions, vectors, embedder.dimensions)


def reranker_fault(reranker: Reranker) -> str | None:
    """Return the fault in the scores of *reranker* for texts of known order, or ``None``."""
    ranked = (
        reranker.rerank(golden.question, compared_texts(number), timeout_s=20.0)
        for number, golden in enumerate(GOLDEN)
    )
    return fault_in_ranking([*ranked])


def generator_fault(generator: Generator) -> str | None:
    """Return the fault in the JSON that *generator* writes on request, or ``None``."""
    ask = partial(generator.generate, timeout_s=30.0, max_tokens=60, schema=VERDICT)
    is_usable = json_answer(ask, QUESTION, VERDICT) is not None
    return None if is_usable else "asked for JSON of a given shape, it wrote something else, twice"


@dataclass(frozen=True, slots=True)
class Verify:
    """
    Compares files, records and indexes; changes nothing.

    Reads every file of the configured collections and every fragment. Takes no lock: concurrent writes may appear as
    differences that a second run no longer reports.
    """

    documents: DocumentStore
    storage: Storage
    lexical: LexicalIndex
    vectors: VectorSearch
    embeddings: EmbeddingStore
    forgotten_texts: ForgottenTexts
    files: FileSource
    folders: Sequence[Folder]
    parse_front_matter: ParseFrontMatter

    def __call__(self) -> list[str]:
        """
        Return every difference as a sentence; empty when there is none.

        Storage: faults that each part detects in itself, for example by checksums, with the command that repairs
        them. Nothing else is compared while storage is damaged. Disk: files missing from the vault, changed since, or
        deleted. Unreadable files missing from the vault are not reported: an update names them. Files of forgotten,
        archived and superseded documents, and files with a forgotten text, are not compared. Records: bodies that
        differ from their hash or were lost. Indexes: their counts; of a sample, served documents that are not found
        and others that are. The samples are every k-th document by path, at most 50.

        Raises:
            VaultError: the vault cannot be read.
        """
        damage = [f"{fault}. {REPAIR}" for fault in self.storage.check()]
        for faults in (self.lexical.faults(), self.vectors.faults()):
            damage += [f"{without_remedy(fault)}. {REBUILD}" for fault in faults]
        if damage:
            return damage
        documents = sorted(self.documents.latest(), key=attrgetter("collection", "path"))
        withdrawn = [note for note in self.documents.latest(active=False) if not is_forgotten(note)]
        differences = [sentence for folder in self.folders for sentence in self._disk(folder)]
        for note in (*documents, *withdrawn):
            name = note.display_path
            # After damage to the only copy of a text, a repair keeps the record without the hash of its source.
            if note.inactive and note.stamp is None and not note.source_hash and note.hash == NO_TEXT:
                remedy = f'Copy it from a backup, or run: clawmem forget "{name}"'
                differences.append(f"{name} has lost its text. {remedy}")
            elif body_hash(self.documents.body(note.id) or "") != note.hash:
                differences.append(f"{name} has another body stored than its hash says. {REPAIR}")
        unlike = word_index_faults(self.documents, self.lexical)
        # The vectors of the vault are the records: `VectorSearch.faults` compares them with their texts.
        if not is_in_process(self.vectors):
            entries = self.vectors.count()
            expected = sum(len(self.embeddings.of_document(document.id)) for document in documents)
            if entries != expected:
                unlike.append(f"The vector index holds {entries} entries, the records {expected}.")
        try:
            for document in spread(documents, LOOKED_FOR):
                if self._is_found(document) is False:
                    unlike.append(f"{document.display_path} is not found by its own rarest words.")
            for document in spread(withdrawn, LOOKED_FOR):
                if self._is_found(document):
                    state = f"{document.display_path} is {document.inactive}"
                    unlike.append(f"{state}, but still found in the document index.")
        except IndexBypassed as error:
            return [*differences, str(error)]
        if unlike:
            unlike.append(f"The indexes differ from the records. {REBUILD}")
        return [*differences, *unlike]

    def _disk(self, folder: Folder) -> Iterator[str]:
        exclusions = Exclusions(self.files, folder)
        scan = scan_folder(self.files, folder, exclusions)
        if not scan.root_exists:
            yield " ".join(missing_folder(folder, scan.problem, has_documents=True))
            return
        for path in scan.unreadable:
            yield f"{folder.name}: {exclusions.why_unreadable(path)}."
        sources = self.documents.sources(folder.name)
        for file in scan.files:
            name, known = f"{folder.name}/{file.path}", sources.get(file.path)
            if is_forgotten(known):
                continue
            try:
                data = self.files.read(folder.root, file.path)
                if is_current(known, source_hash(data)):
                    continue
                if known is None or known.inactive is InactiveReason.REMOVED:
                    parse = partial(parse_source, parse_front_matter=self.parse_front_matter)
                    place = folder.name, file.path, file.stamp
                    body = parse(data, *place, now_ms=0, extract=folder.extract).body
                    if not is_forgotten_file(self.documents, self.forgotten_texts, body, known):
                        yield f"{name} {NEW}"
                else:
                    if not (folder.extract and folder.extract(file.path, data)):
                        decode(data, file.path)
                    yield f"{name} {CHANGED}"
            except SourceUnreadable as error:
                if known and known.inactive is None:
                    yield f"{name} cannot be read: {error.reason}. The vault keeps its last text."
        present = {file.path for file in scan.files}
        for path, document in sorted(sources.items()):
            is_missing = document.inactive is None and document.stamp and path not in present
            if is_missing and not scan.hides(path):
                yield f"{document.display_path} {GONE}"

    def _is_found(self, document: Document) -> bool | None:
        """Whether the words of *document* find it; ``None`` for a text without words."""
        distinct = set(words(self.documents.body(document.id) or ""))
        terms = tuple(map(Term, sorted(distinct, key=lambda word: (-len(word), word))[:OWN_WORDS]))
        if not terms:
            return None
        # An engine may split words in another way, so that a single word is enough. The entry itself is asked: a
        # ranked search with a limit loses it among documents that are alike.
        scope = Scope(documents=frozenset({document.id}))
        return any(self.lexical.search(LexicalQuery((term,)), Grain.DOCUMENT, 1, scope) for term in terms)


def machine_findings(vault: Path, places: Iterable[Path]) -> list[CheckResult]:
    """
    Return the findings about disk, server and settings of hooks, if there are any, and about permissions of *places*.

    Make *places* and everything below them private.
    """
    findings, fault = list[CheckResult](), ""
    own = [place for file in files_of_vault(vault) for place in all_below(file) if place.exists()]
    if locked := [str(place) for place in (vault.parent, *own) if not os.access(place, os.W_OK)]:
        fault = f"{few(locked)} cannot be written"
    else:
        with suppress(OSError):
            if (free := disk_usage(vault.parent).free) < LEAST_BYTES:
                fault = f"The disk is full: {free} bytes are left for {vault}"
    if fault:
        detail = f"{fault}. Search works, but nothing is indexed or remembered"
        remedy = "Free some space, or check the permissions of the file and its folder."
        findings.append(CheckResult("disk", False, detail, remedy))
    server = announced(vault) if is_running(vault) else None
    if server and (fault := fault_of_server(server)):  # hooks and commands do not use it
        detail, _, remedy = fault.partition("; ")
        findings.append(CheckResult("server", False, detail, remedy))
    now_ms, log = time() * 1000, state_folder(vault) / "errors.log"
    if faults := "; ".join(fault.rstrip(".") for fault in logged_errors(vault, now_ms, SETTINGS)):
        detail = f"hooks of the last day left out a setting: {faults}"
        findings.append(CheckResult("hooks", False, detail, "Correct it where the agent is started."))
    if errors := [error for error in logged_errors(vault, now_ms) if not error.startswith(SETTINGS)]:
        detail = f"errors of the last day in {log}: {len(errors):,}; the last one: {errors[-1][:200]}"
        findings.append(CheckResult("error log", True, detail))
    changes = [make_private(place) for place in places]
    changed, failed = ([str(path) for change in changes for path in change[side]] for side in (0, 1))
    detail, remedy = "only you can read the vault and the files next to it, and the config file", ""
    if failed:
        detail = f"other users can read {few(failed)}"
        remedy = f"Run as their owner: chmod -R go-rwx '{failed[0]}'"
    elif changed:
        detail = f"other users could read {few(changed)}; now only you can"
    return [*findings, CheckResult("permissions", not failed, detail, remedy)]


def split_again(documents: DocumentStore, transactions: Transactions, publisher: Publisher) -> None:
    """Split every text that comes from no file into fragments again; an index run restores those of files."""
    for page in pages(documents):
        with transactions.writing():
            for document in page:
                body = documents.body(document.id)
                if document.stamp is None and body is not None:
                    publisher.publish_text(document, body, declared=None)
