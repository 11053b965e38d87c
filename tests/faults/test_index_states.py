"""An index outside of the records, in whatever state it is found: noticed, never believed, and made good again."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from fault_worlds import ServedWorld

from clawmem.app.services.indexing.replication import LEASE_MS
from clawmem.ports.errors import IndexUnavailable
from clawmem.ports.records import InactiveReason, IndexState, Role

ANIMALS = "zebra yak gnu ibex lynx otter heron crane".split()
WITHDRAWN, EDITED, KEPT = ANIMALS[:3]
Prepare = Callable[[str], Path]
VERBS = {Role.LEXICAL: "search", Role.VECTORS: "vsearch"}


class IndexedVault(NamedTuple):
    """A vault with a note on each animal, and the index outside that is about to suffer."""

    world: ServedWorld
    backend: str
    role: Role

    @property
    def folder(self) -> Path:
        return self.world.index_folder(self.role)

    @property
    def generation(self) -> int:
        return self.world.serving(self.role).generation

    def bring_outside(self, world: ServedWorld) -> None:
        """Let the backend keep the indexes of a vault."""
        world.indexes.move(self.backend)

    def degraded(self) -> list[str]:
        """What a question says about this index."""
        return list(self.world.ask("animal grass", VERBS[self.role]).trace.degraded.values())

    def found(self, animal: str) -> list[str]:
        """Where an animal is found by this index."""
        return self.world.found(animal, VERBS[self.role])


KEEPERS = {
    f"{role}-in-{backend}": (backend, role)
    for backend, role in [("tantivy", Role.LEXICAL), ("lancedb", Role.LEXICAL), ("lancedb", Role.VECTORS)]
}
# What is decided by records alone is tested with an index of each role; the slow run has all.
one_of_each_role = pytest.mark.parametrize(
    "kept",
    [
        pytest.param(
            name, marks=() if name in ("lexical-in-tantivy", "vectors-in-lancedb") else pytest.mark.slow
        )
        for name in KEEPERS
    ],
    indirect=True,
)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Prepare:
    """Return a function that builds the vault of a backend, once, and returns its folder."""

    @cache
    def prepare(backend: str) -> Path:
        place = tmp_path_factory.mktemp(backend)
        world = ServedWorld(place)
        for animal in ANIMALS:
            world.write(f"{animal}.md", about(animal))
        world.update()
        world.embed()
        IndexedVault(world, backend, Role.VECTORS).bring_outside(world)
        assert world.verify() == []
        world.vault.close()
        return place

    return prepare


@pytest.fixture(params=KEEPERS)
def kept(prepared: Prepare, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[IndexedVault]:
    """Each engine in each of its roles, with everything carried to it; a copy of the prepared vault."""
    backend, role = KEEPERS[request.param]
    place = tmp_path / "world"
    shutil.copytree(prepared(backend), place)
    world = ServedWorld(place)
    yield IndexedVault(world, backend, role)
    world.vault.close()


def cut_off(folder: Path) -> None:
    """Halve the files that hold the entries; lists and markers are smaller."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    for file in sorted(files, key=lambda file: file.stat().st_size)[len(files) // 2 :]:
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


class TestOnTheDisk:
    def test_it_is_deleted_while_it_is_open(self, kept: IndexedVault) -> None:
        """A process that has the index open notices as well, at its next question or the one after its next commit."""
        assert kept.degraded() == []

        shutil.rmtree(kept.folder)
        kept.world.write("okapi.md", about("okapi"))
        kept.world.update()
        kept.world.embed()

        assert kept.found("okapi")[0] == "okapi.md"
        assert_clean(kept.world)
        assert kept.found(KEPT)[0] == f"{KEPT}.md"

    @one_of_each_role
    def test_another_vaults_index(self, kept: IndexedVault, tmp_path: Path) -> None:
        """An index that belongs to other records is not asked, though it would have an answer."""
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        other = ServedWorld(elsewhere)
        for number in range(30):
            other.write(f"{number}.md", about("unicorn"))
        other.update()
        other.embed()
        kept.bring_outside(other)
        foreign = other.index_folder(kept.role)
        other.vault.close()
        with laid_aside(kept) as folder:
            shutil.rmtree(folder)
            shutil.copytree(foreign, folder)

        assert_heals(kept)

    @one_of_each_role
    @pytest.mark.parametrize("ruin", [shutil.rmtree, cut_off], ids=["gone", "cut off"])
    def test_while_somebody_else_makes_it_anew(
        self, kept: IndexedVault, ruin: Callable[[Path], None]
    ) -> None:
        """Whoever cannot help says that it lags, and leaves it to the other one."""
        world = kept.world
        now_ms = world.lease_clock.now_ms()
        lease = world.vault.leases.acquire(f"index {kept.role}", "another", now_ms=now_ms, ttl_ms=LEASE_MS)
        assert lease
        with laid_aside(kept) as folder:
            ruin(folder)

        world.lease_clock.set(now_ms)
        world.indexes.keep_up()

        assert list(world.indexes.lagging) == [kept.role]
        assert kept.world.serving(kept.role).engine == kept.backend
        world.vault.leases.release(lease)
        assert_heals(kept)


@one_of_each_role
class TestAnOlderIndex:
    def test_whose_changes_are_forgotten(self, kept: IndexedVault, tmp_path: Path) -> None:
        """An index put back from a backup, which cannot catch up any more, is made anew."""
        generation = change_behind_backup(kept, tmp_path / "backup")

        assert_heals(kept)
        assert kept.generation > generation
        assert_changed(kept)

    def test_whose_changes_are_known(self, kept: IndexedVault, tmp_path: Path) -> None:
        """One that can catch up does so; until then nothing that came after its backup is wrong or silently missing."""
        kept.world.vault.outbox.register(kept.role, kept.backend)  # has yet to see all changes: they are kept
        kept.world.indexes.keep_up()
        generation = change_behind_backup(kept, tmp_path / "backup")

        assert_changed(kept)
        assert_clean(kept.world)
        assert kept.generation == generation
        assert_changed(kept)


@one_of_each_role
class TestAnOlderVault:
    def test_an_index_that_is_ahead(self, kept: IndexedVault, tmp_path: Path) -> None:
        """Records put back from a backup: what the index knows of their lost future is not found."""
        with rolled_back(kept, tmp_path):
            change_notes(kept.world)
            kept.world.indexes.keep_up()

        assert_heals(kept)
        assert "okapi.md" not in kept.found("okapi")
        assert f"{WITHDRAWN}.md" in kept.found(WITHDRAWN)

    def test_another_future_of_the_same_length(self, kept: IndexedVault, tmp_path: Path) -> None:
        """Written to until the numbers of changes are the same again, the two futures are still told apart."""
        with rolled_back(kept, tmp_path):
            kept.world.write("okapi.md", about("okapi"))
            kept.world.update()
            kept.world.embed()
            kept.world.indexes.keep_up()
            ahead = kept.world.vault.outbox.head()
        for number in range(100):
            if kept.world.vault.outbox.head().seq >= ahead.seq:
                break
            kept.world.write("tapir.md", about("tapir", number))
            kept.world.update()
        kept.world.embed()
        head = kept.world.vault.outbox.head()
        assert head.seq >= ahead.seq
        assert head != ahead

        assert kept.found("tapir")[0] == "tapir.md"
        assert_heals(kept)
        assert "okapi.md" not in kept.found("okapi")
        assert kept.found("tapir")[0] == "tapir.md"


@one_of_each_role
def test_a_build_that_was_interrupted_is_begun_again(
    kept: IndexedVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index that serves answers meanwhile, and what was built is deleted."""
    monkeypatch.setattr("clawmem.app.services.documents.listing.AT_ONCE", 4)
    with pytest.raises(KeyboardInterrupt):
        kept.world.indexes.rebuild(kept.role, interrupted)
    (begun,) = [r for r in kept.world.vault.outbox.indexes() if r.state is IndexState.BUILDING]
    kept.world.vault.close()
    folder = Path(f"{kept.world.vault_file}.indexes", f"{kept.role}-{begun.generation}")
    assert folder.exists()
    kept.world.open()
    assert kept.degraded() == []

    kept.world.indexes.rebuild(kept.role)

    assert not folder.exists()
    assert {r.state for r in kept.world.vault.outbox.indexes()} == {IndexState.SERVING}
    assert_clean(kept.world)
    assert kept.found(KEPT)[0] == f"{KEPT}.md"


class laid_aside:  # noqa: N801  reads like the functions of contextlib
    """The index folder, while nobody has it open; the vault is opened again at the end."""

    def __init__(self, kept: IndexedVault) -> None:
        self._world = kept.world
        self._folder = kept.folder

    def __enter__(self) -> Path:
        self._world.vault.close()
        return self._folder

    def __exit__(self, *raised: object) -> None:
        self._world.open()


class rolled_back:  # noqa: N801
    """What happens inside is forgotten by the notes and the records, and remembered by the indexes."""

    def __init__(self, kept: IndexedVault, place: Path) -> None:
        self._world = kept.world
        self._backup = place / "backup"

    def __enter__(self) -> None:
        self._backup.mkdir()
        self._world.vault.close()
        shutil.copy(self._world.vault_file, self._backup)
        shutil.copytree(self._world.root, self._backup / "notes")
        self._world.open()

    def __exit__(self, *raised: object) -> None:
        self._world.vault.close()
        shutil.copy(self._backup / self._world.vault_file.name, self._world.vault_file)
        shutil.rmtree(self._world.root)
        shutil.copytree(self._backup / "notes", self._world.root)
        self._world.open()


def about(animal: str, number: int = 0) -> str:
    return f"# The {animal}\n\nThe {animal} is an animal that eats grass and was seen {number} times.\n"


def change_notes(world: ServedWorld) -> None:
    """Two notes more, one changed and one withdrawn; the records know."""
    for animal in ("okapi", "numbat"):
        world.write(f"{animal}.md", about(animal))
    world.write(f"{EDITED}.md", about("quagga"), hours_ago=1)
    world.update()
    world.embed()
    world.withdraw(f"{WITHDRAWN}.md", InactiveReason.FORGOTTEN)


def change_behind_backup(kept: IndexedVault, backup: Path) -> int:
    """Change the notes, and put the index back as it was before; the generation that served."""
    with laid_aside(kept) as folder:
        shutil.copytree(folder, backup)
    change_notes(kept.world)
    kept.world.indexes.keep_up()
    generation = kept.generation
    with laid_aside(kept) as folder:
        shutil.rmtree(folder)
        shutil.copytree(backup, folder)
    return generation


def interrupted(done: int, total: int) -> None:
    if done >= total // 2:
        raise KeyboardInterrupt


def assert_heals(kept: IndexedVault) -> None:
    """Until it is made good, questions say that something is missing and invent nothing; new notes are found."""
    kept.world.write("dodo.md", about("dodo"))
    kept.world.update()
    kept.world.embed()
    served = set(kept.world.paths())

    assert kept.degraded() != []
    assert kept.found("dodo")[0] == "dodo.md"
    assert kept.found("unicorn quagga okapi animal") != []
    assert {f"notes/{path}" for path in kept.found("unicorn quagga okapi animal")} <= served
    assert kept.found(KEPT)[0] == f"{KEPT}.md"  # by the vault's own index
    with pytest.raises(IndexUnavailable):
        raise_degraded(kept)

    assert_clean(kept.world)
    assert kept.degraded() == []
    assert kept.found("dodo")[0] == "dodo.md"
    assert kept.found(KEPT)[0] == f"{KEPT}.md"


def raise_degraded(kept: IndexedVault) -> None:
    """The same question to the index itself, which raises what a service reports."""
    if kept.role is Role.VECTORS:
        kept.world.vault.vectors.search(kept.world.embedder.embed_query("grass"), 3)
    else:
        from clawmem.contracts.samples import any_of
        from clawmem.ports.records import Grain

        kept.world.vault.lexical.search(any_of("grass"), Grain.DOCUMENT, 3)


def assert_clean(world: ServedWorld) -> None:
    """Bringing the indexes up to the records leaves nothing to complain about."""
    world.indexes.keep_up()
    assert world.indexes.lagging == {}
    assert world.verify() == []
    assert world.vault.storage.check() == []


def assert_changed(kept: IndexedVault) -> None:
    """What `change_notes` did is found, and what it took away is not."""
    assert kept.found("okapi")[0] == "okapi.md"
    assert kept.found("quagga")[0] == f"{EDITED}.md"
    assert f"{WITHDRAWN}.md" not in kept.found(WITHDRAWN)
