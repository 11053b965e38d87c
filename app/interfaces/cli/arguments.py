"""Parsing of the global options before any heavy import, and the list of commands that a server can answer."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

VAULT, BACKEND, JSON, ALONE = "--vault", "--backend", "--json", "--alone"
FLAGS = frozenset({JSON, ALONE})
VALUED = frozenset({VAULT, BACKEND})

# The commands that a server can answer: they only read, and they read nothing but the vault and the settings.
QUESTIONS = (
    "search", "vsearch", "query", "intent-search", "retrieve", "plan", "similar", "timeline", "sessions", "log",
    "list", "get", "multi-get", "why", "status", "index-stats", "budget", "collection list", "diary read",
    "graph causes", "graph entities", "graph facts", "graph evolution",
    "lanes status", "lanes journal", "lifecycle status", "lifecycle search", "lifecycle log", "reflect",
)  # fmt: skip


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


def value_of(option: str, front: Sequence[str]) -> str | None:
    """Return the value of the last *option* among the global options; ``None`` if it is not given."""
    said = None
    waiting = iter(front)
    for one in waiting:
        name, equals, value = one.partition("=")
        if name in VALUED and not equals:
            value = next(waiting, "")
        if name == option:
            said = value
    return said


def is_own_work(front: Sequence[str]) -> bool:
    """Whether the global options require the command's own process: a server cannot use another backend."""
    return ALONE in front or value_of(BACKEND, front) is not None or value_of(VAULT, front) == ""


def is_question(words: Sequence[str]) -> bool:
    """Whether *words*, a command line without its global options, begin with one of `QUESTIONS`."""
    return not {*words[:1], " ".join(words[:2])}.isdisjoint(QUESTIONS)
