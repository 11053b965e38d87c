"""Splitting of the global options from the words of a command."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice, zip_longest
from pathlib import Path

VAULT, BACKEND, JSON, ALONE = "--vault", "--backend", "--json", "--alone"
FLAGS = frozenset({JSON, ALONE})
VALUED = frozenset({VAULT, BACKEND})


def vault_in(front: Sequence[str]) -> Path | None:
    """Return the vault that the global options name; of several the last."""
    named = [
        one.partition("=")[2] or following
        for one, following in zip_longest(front, front[1:], fillvalue="")
        if one.partition("=")[0] == VAULT
    ]
    return Path(named[-1]) if named and named[-1] else None


def parted(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split *arguments* into the global options before a ``--`` and all other arguments; both keep their order."""
    front: list[str] = []
    rest: list[str] = []
    waiting = iter(arguments)
    for one in waiting:
        if one == "--":
            rest += [one, *waiting]
        elif one in FLAGS or one.partition("=")[0] in VALUED:
            front += [one, *islice(waiting, int(one in VALUED))]
        else:
            rest.append(one)
    return front, rest
