"""Short write transactions, between which other processes can write."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from time import monotonic
from typing import TypeVar

from clawmem.ports.vault import Vault

Item = TypeVar("Item")
Result = TypeVar("Result")

# DESIGN 5 allows 50 ms for a write transaction: the last item and the commit take the rest.
CHUNK_S = 0.015


def apply_in_chunks(
    vault: Vault, items: Iterable[Item], apply: Callable[[Item], Result], *, chunk_s: float = CHUNK_S
) -> Iterator[Result]:
    """
    Yield the result of *apply* for each item after its transaction was committed.

    A transaction ends with the first item that takes it past *chunk_s*. An interrupted caller keeps what
    was committed before. The caller must exhaust the iterator.

    Raises:
        VaultError: the transaction under way was rolled back.
    """
    waiting = deque(items)
    while waiting:
        results: list[Result] = []
        with vault.writing():
            ends = monotonic() + chunk_s
            while waiting and (not results or monotonic() < ends):
                results.append(apply(waiting.popleft()))
        yield from results
