from __future__ import annotations

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from clawmem.adapters.memory.vault import MemoryVault
from clawmem.adapters.sqlite.vault import SqliteVault
from clawmem.contracts.entities import entity
from clawmem.contracts.samples import save
from clawmem.ports.records import InactiveReason, Scope
from clawmem.ports.vault import Vault

NAMES = ("Ann", "Anna", "Bob", "Cyd", "Dee")
PATHS = tuple("abcdef")
STEPS = st.one_of(
    st.tuples(st.just("mention"), st.sampled_from(PATHS), st.lists(st.sampled_from(NAMES), max_size=4)),
    st.tuples(st.just("remove"), st.sampled_from(PATHS), st.just([])),
    st.tuples(st.just("save"), st.sampled_from(PATHS), st.just([])),
)


@settings(max_examples=25)
@given(st.lists(STEPS, max_size=25))
def test_counts_that_are_kept_are_those_that_are_counted(steps: list[tuple[str, str, list[str]]]) -> None:
    """Whatever is mentioned, taken away and brought back: triggers keep what the reference counts afresh."""
    sqlite, memory = SqliteVault(":memory:"), MemoryVault()
    for vault in (sqlite, memory):
        for verb, path, names in steps:
            _do(vault, verb, path, names)

    assert _told(sqlite) == _told(memory)
    sqlite.close()


def _do(vault: Vault, verb: str, path: str, names: list[str]) -> None:
    known = vault.documents.at("notes", path)
    document_id = known.id if known and verb != "save" else save(vault, path, f"Text of {path}")
    if verb == "mention":
        vault.entities.set_mentions(document_id, [entity(name) for name in names])
    elif verb == "remove":
        vault.documents.deactivate([document_id], InactiveReason.REMOVED)


def _told(vault: Vault) -> list[object]:
    """Everything that can be asked, with documents by their paths: ids may have gaps."""
    paths = {document.id: path for path, document in vault.documents.sources("notes").items()}
    ids = sorted(paths)
    found: list[object] = [vault.entities.search(text, 9) for text in ("an", "b", "c", "d")]
    found += [vault.entities.mentions(number) for number in ids]
    for seeds in [*((number,) for number in ids), *combinations(ids, 2)]:
        near = vault.entities.neighbours(seeds, 9, Scope(frozenset({"notes"})))
        found.append([(paths[one.document_id], one.together) for one in near])
    return found
