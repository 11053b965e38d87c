"""Every regular expression of the program against repeated input: its time must not grow with the square."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import time
from collections import deque
from collections.abc import Iterator, Mapping
from functools import cache
from math import inf
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import pytest

import clawmem.adapters
import clawmem.app
import clawmem.domain
import clawmem.ports

LENGTHS = (500, 4_000)  # characters of the inputs; shorter ones first, since some take cubic time
NOTICED_S = 0.004  # a linear pattern takes less for them; only what takes longer is measured again
TIMES = 4  # how much longer the second input is
FLOOR_S = 0.05  # a pattern that takes less for the second input is quick enough, whatever its growth
MOST_S = (
    0.5  # no input may take longer, whatever the growth: bounded backtracking is linear and still too slow
)
MAX_GROWTH = 9  # for four times the length: linear time grows 4 times, quadratic time 16 times
COMMON = ("a", " ", "\n", "1", "a ", "a.", ".", '"', "`", "<a", "- ", "[", "(")  # many patterns run over them
WINDOWED = frozenset({r"[A-Za-z0-9_.-]+\Z"})  # is given 60 characters of a text at a time


def modules() -> Iterator[Any]:
    for package in (clawmem.domain, clawmem.ports, clawmem.adapters, clawmem.app):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not found.name.endswith("__main__"):
                yield importlib.import_module(found.name)


def patterns_in(value: object, depth: int = 4) -> Iterator[re.Pattern[Any]]:
    """Patterns in a module's value: alone, in containers, as attributes of our objects, or made by a function."""
    if isinstance(value, re.Pattern):
        yield value
    elif depth and isinstance(value, Mapping):
        for one in (*value.keys(), *value.values()):
            yield from patterns_in(one, depth - 1)
    elif depth and isinstance(value, list | tuple | set | frozenset):
        for one in value:
            yield from patterns_in(one, depth - 1)
    elif depth and type(value).__module__.startswith("clawmem.") and hasattr(value, "__dict__"):
        found = getattr(value, "compiled", None)  # compiled at first use
        for one in (found, *vars(value).values()):
            yield from patterns_in(one, depth - 1)
    elif is_maker(value):
        yield from patterns_in(value())  # type: ignore[operator]


def is_maker(value: object) -> bool:
    """Whether *value* is a cached function without parameters that returns patterns."""
    made = getattr(value, "__wrapped__", None)
    if not hasattr(value, "cache_info") or made is None or inspect.signature(made).parameters:
        return False
    return "Pattern" in str(made.__annotations__.get("return"))


@cache
def every_pattern() -> dict[str, re.Pattern[str]]:
    found: dict[str, re.Pattern[str]] = {}
    for module in modules():
        for value in vars(module).values():
            for pattern in patterns_in(value):
                if isinstance(pattern.pattern, str) and pattern.pattern not in WINDOWED:
                    found.setdefault(pattern.pattern, pattern)
    return found


def samples(tree: Any) -> Iterator[str]:
    """Short texts that begin to match a parsed pattern, one for every alternative of its first parts."""
    texts = [""]
    for code, argument in tree:
        texts = [text + more for text in texts for more in sorted(pieces(code, argument))[:6]][:12]
        yield from texts


def pieces(code: Any, argument: Any) -> set[str]:
    """Texts that one part of a pattern matches."""
    if code is codes.LITERAL:
        return {chr(argument)}
    if code is codes.IN:
        return {one_of(argument)}
    if code in (codes.ANY, codes.NOT_LITERAL, codes.CATEGORY):
        return {"a"}
    if code is codes.BRANCH:
        return {text for tree in argument[1] for text in whole(tree)}
    if code is codes.SUBPATTERN:
        return whole(argument[-1])
    if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
        repeated = {text * max(1, argument[0]) for text in whole(argument[2])}
        return repeated if argument[0] else repeated | {""}
    if code is codes.ATOMIC_GROUP:
        return whole(argument)
    return {""}


def whole(tree: Any) -> set[str]:
    texts = {""}
    for code, argument in tree:
        texts = {text + more for text in texts for more in sorted(pieces(code, argument))[:4]}
        texts = set(sorted(texts)[:8])
    return texts


def one_of(members: Any) -> str:
    for code, argument in members:
        if code is codes.LITERAL:
            return chr(argument)
        if code is codes.RANGE:
            return chr(argument[0])
        if code is codes.CATEGORY:
            return {codes.CATEGORY_DIGIT: "1", codes.CATEGORY_SPACE: " "}.get(argument, "a")
    return "a"


def inputs(pattern: re.Pattern[str]) -> list[str]:
    """What is repeated: beginnings of matches, and characters that many patterns run over."""
    tree = parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)
    found = list(dict.fromkeys(text for text in samples(tree) if text))
    return list(dict.fromkeys([*found[:20], *(text + " " for text in found[-3:]), *COMMON]))


def texts(piece: str, length: int) -> tuple[str, str]:
    """*piece* over and over with an end that matches nothing, and the same with a long tail."""
    text = (piece * (length // len(piece) + 1))[:length]
    return text + "\x01a", text[: length // 2] + "a" * (length // 2)


def pairs(pattern: re.Pattern[str]) -> Iterator[tuple[str, str, str]]:
    for length in LENGTHS:
        for piece in inputs(pattern):
            for short, long in zip(texts(piece, length), texts(piece, length * TIMES), strict=True):
                yield piece, short, long


def seconds(pattern: re.Pattern[str], text: str) -> float:
    began = time.thread_time()
    deque(pattern.finditer(text), maxlen=0)
    pattern.fullmatch(text)
    return time.thread_time() - began


def growth(pattern: re.Pattern[str], short: str, long: str) -> float:
    """
    Return how many times longer *pattern* takes for *long* than for *short*.

    It is 0 if the pattern is always quick, and infinite if *long* takes more than `MOST_S`.
    """
    if seconds(pattern, short) < NOTICED_S or (took := seconds(pattern, long)) < FLOOR_S:
        return 0.0
    if took > MOST_S and min(seconds(pattern, long) for _ in range(2)) > MOST_S:
        return inf
    for _ in range(3):  # another process may have disturbed one measurement
        grown = took / max(min(seconds(pattern, short) for _ in range(3)), 1e-6)
        if grown < MAX_GROWTH:
            break
        took = min(took, seconds(pattern, long))
    return grown


def test_time_grows_with_the_length_and_not_with_its_square() -> None:
    """A posted megabyte would otherwise hold the interpreter for half a minute."""
    for source, pattern in every_pattern().items():
        for piece, short, long in pairs(pattern):
            assert growth(pattern, short, long) < MAX_GROWTH, (source, piece)


@pytest.mark.parametrize("source", [r"a.*b", r"<a[^>]*>.*?</a>"])
def test_a_quadratic_pattern_is_noticed(source: str) -> None:
    pattern = re.compile(source)
    assert any(growth(pattern, short, long) >= MAX_GROWTH for _, short, long in pairs(pattern))


def test_slow_backtracking_is_noticed_although_it_grows_with_the_length(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every start costs thousands of attempts, and a text four times as long takes four times as long."""
    monkeypatch.setattr(f"{__name__}.MOST_S", 0.06)
    assert growth(re.compile(r"(?:a{1,30}){3}b"), "a" * 250, "a" * 250 * TIMES) == inf


def test_the_patterns_are_found() -> None:
    """Those of the modules, of containers, and those that are compiled late."""
    from clawmem.domain.security import injections

    assert len(every_pattern()) > 200
    assert all(pattern.pattern in every_pattern() for pattern in patterns_in(vars(injections)))
