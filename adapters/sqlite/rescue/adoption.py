"""Assignment of trees that no readable entry of the schema names to the tables that lack a tree or parts of one."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

from clawmem.adapters.sqlite.rescue.cells import Values
from clawmem.adapters.sqlite.rescue.layout import Table, Tree, Trees
from clawmem.ports.digests import sha256

_MISSING = Tree(broken=1)
_DIGEST = re.compile(r"[0-9a-f]{64}")
_TIME = re.compile(r"\d{4}-\d\d-\d\d")
# Columns whose values have a form, where rows of several tables have equal columns.
_FORMS: Mapping[tuple[str, int], re.Pattern[str]] = {
    ("acts", 4): _TIME,
    ("content", 0): _DIGEST,
    ("forgotten_texts", 1): _DIGEST,
    ("meta", 0): re.compile(r"(?![0-9a-f]{16}$)"),  # not the id of a vault
    ("sessions", 1): _TIME,
}


def _is_text_with_hash(row: Values) -> bool:
    return bool(sha256(row[1].encode("utf-8", "surrogatepass")).hexdigest() == row[0])


_PROOFS: Mapping[str, Callable[[Values], bool]] = {"content": _is_text_with_hash}  # one row is enough


def adopt(trees: Trees, walked: dict[str, Tree], known: Mapping[str, Table]) -> None:
    """
    Assign the trees of *trees* that are in none of *walked* to the tables *known* that lack some, and add them to *walked*.

    A tree belongs to a table if its rows prove it, or if no other table fits. A table without any entry in the schema has
    one tree: if several fit no other table, it stays missing.
    """
    lacking = [name for name in known if name not in walked or walked[name].broken]
    if lacking:
        _Adoption(trees, walked, known, lacking).run()
    for name in lacking:
        walked.setdefault(name, Tree(broken=1))


class _LooseTree(NamedTuple):
    """A tree without an owner, and its rows as each lacking table would read them, if every row fits."""

    tree: Tree
    readings: Mapping[str, Sequence[Values]]


class _Adoption:
    def __init__(
        self, trees: Trees, walked: dict[str, Tree], known: Mapping[str, Table], lacking: Sequence[str]
    ) -> None:
        self._walked = walked
        self._known = known
        self._lacking = list(lacking)
        self._loose = [self._read(tree) for tree in trees.unclaimed()]
        self._is_complete = not trees.has_lost_pages
        self._keys: dict[str, set[object]] = {}

    def run(self) -> None:
        """Assign until nothing changes. Tables that others refer to come first, because their keys tell tables apart."""
        while any(map(self._settle, self._ready())) or any(map(self._settle, [*self._lacking])):
            pass

    def _read(self, tree: Tree) -> _LooseTree:
        readings: dict[str, list[Values]] = {}
        for name in self._lacking:
            rows = [row for row in takewhile(bool, map(self._known[name].values, tree.cells)) if row]
            if len(rows) == tree.records and _has_forms(name, rows):
                readings[name] = rows
        proven = [name for name, proves in _PROOFS.items() if any(map(proves, readings.get(name, ())))]
        return _LooseTree(tree, {name: readings[name] for name in proven} or readings)

    def _ready(self) -> list[str]:
        return [n for n in self._lacking if not any(p in self._lacking for _, p in self._known[n].references)]

    def _settle(self, name: str) -> bool:
        """Assign trees to the table *name*; return whether anything changed."""
        owners = [self._owners(loose) for loose in self._loose]
        own = [at for at, names in enumerate(owners) if names == [name]]
        if name in self._walked:  # its root is known, so that each tree is a part of it
            for at in own:
                self._walked[name].add(self._loose[at].tree)
        elif len(own) == 1:
            self._walked[name] = self._loose[own[0]].tree
            self._lacking.remove(name)
        elif self._is_complete and not any(name in names for names in owners):
            self._walked[name] = Tree()
            self._lacking.remove(name)
            return True
        else:
            return False
        self._loose = [loose for at, loose in enumerate(self._loose) if at not in own]
        return bool(own)

    def _owners(self, loose: _LooseTree) -> list[str]:
        """Return the lacking tables to which a tree may belong."""
        return [
            name
            for name, rows in loose.readings.items()
            if name in self._lacking
            and all(self._refers(rows, at, parent) for at, parent in self._known[name].references)
        ]

    def _refers(self, rows: Sequence[Values], at: int, parent: str) -> bool:
        """Whether every row refers to a record of *parent*; also True where those are not all known."""
        tree = self._walked.get(parent, _MISSING)
        if not tree.is_whole:
            return True
        if parent not in self._keys:
            found = map(self._known[parent].values, tree.cells)
            self._keys[parent] = {row[0] for row in found if row}
        return all(row[at] is None or row[at] in self._keys[parent] for row in rows)


def _has_forms(name: str, rows: Sequence[Values]) -> bool:
    forms = [(at, form) for (owner, at), form in _FORMS.items() if owner == name]
    return all(form.match(row[at]) for row in rows for at, form in forms)
