"""Distinction between in-process parts, whose calls only take computation time, and parts behind a server."""

from __future__ import annotations


def is_in_process(part: object) -> bool:
    """
    Whether an index or an embedder declares itself in-process through its attribute ``in_process``.

    A part without this attribute may be a server.
    """
    return bool(getattr(part, "in_process", False))
