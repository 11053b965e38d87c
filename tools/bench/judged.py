"""Judged collections in vaults that are kept between runs, and questions put to them."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import apsw
from artefacts import DEPTH

from clawmem.app.bench.collection import JudgedCollection, JudgedQuery, load_collection
from clawmem.app.bench.retrieval import unrolled
from clawmem.app.bootstrap.opening import open_services
from clawmem.app.bootstrap.services import Services
from clawmem.app.environment.places import models_folder
from clawmem.app.services.indexing.folders import Folder
from clawmem.app.services.retrieval.request import RetrievalRequest, Unit, read_request
from clawmem.app.services.retrieval.work import Candidate
from clawmem.app.settings.model import Settings
from clawmem.app.version import VERSION

EMBEDDERS = ("static", "bge-small")
WHOLE = "corpus"  # the collection of a corpus whose questions are about all of it
SPARE = 2  # times the depth: some lines, such as headings, are no turn


def _code_hash() -> str:
    """SHA-256 over the modules that rank."""
    root = Path(__file__).parents[2]
    rooms = "domain app/services/retrieval adapters/sqlite adapters/models".split()
    digest = sha256()
    for path in sorted(path for room in rooms for path in (root / room).rglob("*.py")):
        digest.update(f"{path.relative_to(root).as_posix()}\0".encode() + path.read_bytes())
    return digest.hexdigest()


# Two runs of one version can differ in their code; read before the modules can change under a long run.
CODE = _code_hash()[:12]


@dataclass(frozen=True, slots=True)
class Setting:
    """One way to ask a collection: what an answer is, and whether the question's part is known."""

    collection: str
    folder: Path
    turns: bool
    pooled: bool

    @property
    def name(self) -> str:
        """Of its table."""
        return f"{self.collection}.{'turn' if self.turns else 'doc'}.{'pooled' if self.pooled else 'scoped'}"

    def loaded(self) -> JudgedCollection:
        """Its questions and judgements."""
        return load_collection(self.folder, turns=self.turns)

    def request(self, query: JudgedQuery, now_ms: int) -> RetrievalRequest:
        """As a door would ask it, for as many answers as are judged."""
        return read_request(
            query.text,
            show_all=True,
            now_ms=now_ms,
            limit=DEPTH * SPARE if self.turns else DEPTH,
            collections=[] if self.pooled or not query.scope else [query.scope],
            unit=Unit.LINE if self.turns else Unit.DOCUMENT,
        )

    def items(self, found: Sequence[Candidate], collection: JudgedCollection) -> list[str]:
        """What was found, by the ids that the judgements use."""
        named = [_item(candidate) for candidate in found]
        return unrolled(named, collection) if self.turns else list(dict.fromkeys(named))


def settings_of(name: str, folder: Path) -> Iterator[Setting]:
    """Every way to ask the collection that there is data for; pooled only where questions have a part."""
    scoped = any(query.scope for query in load_collection(folder, turns=False).queries)
    for turns in (False, True) if (folder / "turns.tsv").exists() else (False,):
        if scoped:
            yield Setting(name, folder, turns, pooled=False)
        yield Setting(name, folder, turns, pooled=True)


def collections_in(data: Path) -> dict[str, Path]:
    """The development halves below a folder by the name of their collection, or the one collection it is."""
    if (data / "queries.jsonl").exists():
        return {data.resolve().parent.name: data}
    found = {path.parents[1].name: path.parent for path in sorted(data.glob("*/dev/queries.jsonl"))}
    if not found:
        raise SystemExit(
            f"There is no collection in {data}: neither queries.jsonl nor NAME/dev/queries.jsonl."
        )
    return found


@contextmanager
def vault_of(name: str, folder: Path, embedder: str, work: Path) -> Iterator[Services]:
    """The collection, indexed and embedded; made in *work* the first time, a collection for each part."""
    path = work / f"{name}.{embedder}.sqlite"
    made = path.exists()
    with open_services(settings_for(path, embedder)) as services:
        if not made:
            for part in _parts(folder):
                services.update(part)
            services.embed()
        yield services


def settings_for(vault: Path, embedder: str) -> Settings:
    """The defaults, whatever this machine is configured to do: with the default vectors no reranker reads along."""
    places = {"vault": vault, "config_file": vault.with_name("none.yml"), "models": models_folder(os.environ)}
    is_plain = embedder == EMBEDDERS[0]
    return Settings.model_validate({**places, "embedder": embedder, "no_local_models": is_plain})


def missing(embedder: str) -> str:
    """Why there are no figures of this embedder here; empty when there can be."""
    from clawmem.adapters.models.catalogue import model_named

    try:
        model_named(embedder, models_folder(os.environ)).opened().embed_query("a question")
    except Exception as error:  # noqa: BLE001  whatever it is, the other figures can be had
        return str(error)
    return ""


def data_hash(folder: Path) -> str:
    """SHA-256 over the names and contents of all files of a collection, in the order of their names."""
    digest = sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(f"{path.relative_to(folder).as_posix()}\0{path.stat().st_size}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def surroundings() -> dict[str, Any]:
    """What the figures were made with."""
    from importlib.metadata import PackageNotFoundError, version

    def of(package: str) -> str:
        try:
            return version(package)
        except PackageNotFoundError:
            return "not installed"

    packages = ("wordllama", "tokenizers", "numpy", "onnxruntime")
    return {
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "python": platform.python_version(),
        "sqlite": apsw.sqlite_lib_version(),
        "clawmem": VERSION,
        **{package: of(package) for package in packages},
    }


def each(total: int, label: str) -> Callable[[int], None]:
    """Says on standard error how far a run is."""
    import sys

    def say(done: int) -> None:
        if done % 50 == 0 or done == total:
            sys.stderr.write(f"\r{label}: {done} of {total}" + ("\n" if done == total else ""))
            sys.stderr.flush()

    return say


def _parts(folder: Path) -> list[Folder]:
    scopes = sorted({query.scope for query in load_collection(folder, turns=False).queries})
    corpus = folder / "corpus"
    return [Folder(scope, str(corpus / scope)) if scope else Folder(WHOLE, str(corpus)) for scope in scopes]


def _item(candidate: Candidate) -> str:
    document = candidate.document
    if document is None:
        raise ValueError("a ranked candidate has no document")
    name = (document.path if document.collection == WHOLE else document.display_path).removesuffix(".md")
    return f"{name}:{candidate.span.start_line}-{candidate.span.end_line}" if candidate.span else name
