"""Type of a format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from clawmem.adapters.conversations.members import Member, Tree
from clawmem.adapters.conversations.shapes import Shape
from clawmem.ports.conversations import ImportedConversation, ReadFault

Read = Callable[[Sequence[Member], Tree], Iterator[ImportedConversation | ReadFault]]


def alone(name: str) -> str:
    """Return the name of a file that is read alone."""
    return name


class Format(NamedTuple):
    """
    One format: how its files are recognised, and how they are read.

    ``group`` maps the name of a file to a key: the files of one key are read together. A format without a ``source``
    recognises files of an export that hold no conversation.
    """

    source: str
    recognises: Callable[[Shape], bool]
    read: Read
    group: Callable[[str], str] = alone


def nothing(members: Sequence[Member], tree: Tree) -> Iterator[ImportedConversation]:
    """Yield no conversation."""
    yield from ()
