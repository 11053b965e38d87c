import inspect
from collections.abc import Callable
from enum import StrEnum
from typing import Any, ClassVar, TypeVar

import pytest

Test = TypeVar("Test", bound=Callable[..., Any])


class Capability(StrEnum):
    """Guarantee that a backend may declare. A canonical backend declares all of them."""

    PREFIX = "prefix"  # a term can match every word that begins with it
    PHRASE = "phrase"  # a term with spaces matches only adjacent words
    BM25 = "bm25"  # scores are the formula of `LexicalIndex.search` over the present entries
    STEMMING = "stemming"  # inflections of an English word match each other
    EXACT = "exact"  # vector search is exact at any number of vectors
    TRANSACTIONS = "transactions"  # records and indexes change atomically
    DURABILITY = "durability"  # acknowledged writes survive the end of the process


ALL = frozenset(Capability)


class Contract:
    """
    Base class of all contract suites.

    A subclass may add tests but not weaken any: overriding or deleting a contract test is refused at class
    creation unless the override is marked ``@pytest.mark.xfail(reason=...)``, so that the gap stays visible.
    A backend that lacks a capability omits it from ``capabilities``; tests marked with `needs` are then
    replaced by a skip with a reason that names the missing capability.
    """

    capabilities: ClassVar[frozenset[Capability]] = ALL

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        promises: dict[str, Any] = {}  # each test of the contracts above, in its original definition
        for base in reversed(cls.__mro__[1:]):
            for name, test in vars(base).items() if issubclass(base, Contract) else ():
                if name.startswith("test_"):
                    promises.setdefault(name, test)
        for name, promised in promises.items():
            # Search the whole MRO, because a mix-in next to the contract could hide a test as well.
            actual = inspect.getattr_static(cls, name)
            is_stand_in = "stands_for" in getattr(actual, "__dict__", {})
            marks = getattr(actual, "pytestmark", [])
            is_explained = any(mark.name == "xfail" and mark.kwargs.get("reason") for mark in marks)
            if actual is not promised and not (is_stand_in or is_explained):
                raise TypeError(
                    f"{cls.__name__}.{name} overrides a contract test; mark it xfail(reason=...)."
                )
            lacking = _needed(promised) - cls.capabilities
            if lacking and not is_explained:
                setattr(cls, name, _skipped(cls, promised, lacking))
            elif is_stand_in:
                setattr(cls, name, promised)  # the subclass has a capability that its parent lacked


def needs(capability: Capability) -> Callable[[Test], Test]:
    """Mark a contract test as one that only backends with *capability* can pass."""

    def mark(test: Test) -> Test:
        test.__dict__["needs"] = _needed(test) | {capability}
        return test

    return mark


def assert_canonical(cls: type[Contract]) -> None:
    """Fail with the names of the missing capabilities if the suite *cls* runs without all of them."""
    lacking = sorted(ALL - cls.capabilities)
    assert not lacking, f"{cls.__name__} lacks {', '.join(lacking)}; a canonical backend lacks nothing."


def _needed(test: Any) -> frozenset[Capability]:
    return frozenset(getattr(test, "__dict__", {}).get("needs", ()))


def _skipped(cls: type[Contract], promised: Any, lacking: frozenset[Capability]) -> Callable[..., None]:
    def stand_in(self: Contract) -> None:
        """Replace a skipped test."""
        raise AssertionError("skipped tests are never run")

    stand_in.__name__ = promised.__name__
    stand_in.__doc__ = promised.__doc__
    stand_in.__dict__["stands_for"] = promised
    # The reason contains the test's name, so that pytest's summary does not fold several skips into one line.
    reason = f"{promised.__name__} needs {', '.join(sorted(lacking))}, which {cls.__name__} does not declare"
    marked: Callable[..., None] = pytest.mark.skip(reason=reason)(stand_in)
    return marked


class VaultContract(Contract):
    """Base class of the suites whose port is reached through a vault."""
