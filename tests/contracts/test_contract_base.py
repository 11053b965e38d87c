from __future__ import annotations

import pytest

from clawmem.contracts.base import ALL, Capability, Contract, assert_canonical, needs

WITHOUT_PHRASE = ALL - {Capability.PHRASE}


class Suite(Contract):
    """A contract with one test for everybody and one for backends that know phrases."""

    def test_plain(self) -> None:
        """Passes."""

    @needs(Capability.PHRASE)
    def test_phrase(self) -> None:
        """Passes."""


class Mixin:
    """Hides a test of a contract beside it."""

    def test_plain(self) -> None: ...


@pytest.mark.parametrize(
    ("bases", "body"),
    [((Suite,), {"test_plain": Mixin.test_plain}), ((Suite,), {"test_plain": None}), ((Mixin, Suite), {})],
    ids=["override", "deletion", "mix-in"],
)
def test_a_weaker_suite_is_refused(bases: tuple[type, ...], body: dict[str, object]) -> None:
    """Another body, none or that of a mix-in under the name of a contract test is refused when the class is made."""
    with pytest.raises(TypeError, match=r"TestWeak\.test_plain overrides a contract test"):
        type(Suite)("TestWeak", bases, body)


@pytest.mark.parametrize(
    "mark", [pytest.mark.xfail, pytest.mark.xfail(reason=""), pytest.mark.skip(reason="x")]
)
def test_override_without_a_reason_is_refused(mark: pytest.MarkDecorator) -> None:
    """A bare xfail, or a skip, does not excuse an override."""
    with pytest.raises(TypeError, match=r"mark it xfail\(reason=\.\.\.\)"):

        class TestWeak(Suite):
            @mark
            def test_plain(self) -> None: ...


def test_explained_override_is_allowed() -> None:
    """A gap that says why may stand, and in subclasses too."""

    class TestGap(Suite):
        @pytest.mark.xfail(reason="the engine has no phrases yet")
        def test_phrase(self) -> None: ...

    class TestGapToo(TestGap): ...

    assert TestGapToo.test_phrase is TestGap.test_phrase is not Suite.test_phrase


def test_missing_capability_is_a_named_skip() -> None:
    """A test whose capability is lacking becomes a skip that names it; the others stay."""

    class TestPlain(Suite):
        capabilities = WITHOUT_PHRASE

    (mark,) = TestPlain.test_phrase.pytestmark  # type: ignore[attr-defined]
    assert (mark.name, mark.kwargs["reason"]) == (
        "skip",
        "test_phrase needs phrase, which TestPlain does not declare",
    )
    assert TestPlain.test_plain is Suite.test_plain


def test_capability_that_comes_back_brings_its_test() -> None:
    """A subclass that has what its parent lacked runs the contract's own test."""

    class TestPlain(Suite):
        capabilities = WITHOUT_PHRASE

    class TestPhrases(TestPlain):
        capabilities = ALL

    assert TestPhrases.test_phrase is Suite.test_phrase


def test_needs_add_up() -> None:
    """A test that needs two capabilities is skipped for want of either, by name."""

    class Demanding(Contract):
        @needs(Capability.PREFIX)
        @needs(Capability.STEMMING)
        def test_both(self) -> None: ...

    class TestPoor(Demanding):
        capabilities = ALL - {Capability.PREFIX}

    class TestPoorer(Demanding):
        capabilities = frozenset()

    reasons = [suite.test_both.pytestmark[0].kwargs["reason"] for suite in (TestPoor, TestPoorer)]  # type: ignore[attr-defined]
    assert reasons == [
        "test_both needs prefix, which TestPoor does not declare",
        "test_both needs prefix, stemming, which TestPoorer does not declare",
    ]


def test_canonical_backends_lack_nothing() -> None:
    """The canonical check passes with every capability and names the ones that are missing."""

    class TestPlain(Suite):
        capabilities = WITHOUT_PHRASE

    assert_canonical(Suite)
    with pytest.raises(AssertionError, match="TestPlain lacks phrase"):
        assert_canonical(TestPlain)


CARELESS_INDEX = '''
import json
from contextlib import contextmanager
from dataclasses import replace

import pytest

from clawmem.adapters.sqlite.vault import open_vault
from clawmem.contracts.derived_index import LexicalCommitContract
from clawmem.ports.records import FragmentKey, Grain, Hit, Marker


class CarelessIndex:
    """Reads a file when a commit begins and writes it when the commit ends, without a lock."""

    def __init__(self, file):
        self.file, self.state = file, None

    def read(self):
        return json.loads(self.file.read_text()) if self.file.exists() else [[], None]

    @contextmanager
    def committing(self, marker=None):
        self.state = self.read()
        yield
        self.file.write_text(json.dumps([self.state[0], marker or self.state[1]]))

    def put(self, entries):
        self.state[0] += [entry.key for entry in entries if entry.grain is Grain.LINE]

    def marker(self):
        return (found := self.read()[1]) and Marker(*found)

    def search(self, query, grain, limit, scope=None):
        return [Hit(FragmentKey(*key), 1.0) for key in self.read()[0]]

    def count(self, grain):
        return len(self.read()[0])


class TestWriter(LexicalCommitContract):
    @pytest.fixture
    def reopen(self, tmp_path):
        records = open_vault(":memory:")
        yield lambda: replace(records, lexical=CarelessIndex(tmp_path / "index.json"))
        records.close()

    @pytest.fixture
    def vault(self, reopen):
        return reopen()
'''

pytest_plugins = ["pytester"]


def test_an_index_without_a_lock_fails(pytester: pytest.Pytester) -> None:
    """An index that ignores other writers loses the commit that ended in between."""
    pytester.makepyfile(test_careless=CARELESS_INDEX)

    result = pytester.runpytest("-p", "no:cacheprovider", "-k", "overlapping or takes_no_other_along")

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*assert [[]1[]] == [[]1, 2[]]*"])
