from __future__ import annotations

from dataclasses import replace

import pytest

from clawmem.contracts.base import Contract
from clawmem.ports.model_failures import ModelFailure, ModelFailures, ModelRole

MONDAY = "2024-03-04T08:00:00.000Z"
TUESDAY = "2024-03-05T08:00:00.000Z"


def failure(role: ModelRole = ModelRole.RERANKER, failed_at: str = MONDAY) -> ModelFailure:
    """A server that was not there."""
    return ModelFailure(role, "http://localhost:8090", failed_at, "Connection refused")


class ModelFailuresContract(Contract):
    """Supply ``failures``: an EMPTY ``ModelFailures``."""

    @pytest.fixture
    def failures(self) -> ModelFailures:
        """Supplied by the subclass."""
        raise NotImplementedError("override the `failures` fixture and return an EMPTY ModelFailures")

    def test_none_yet(self, failures: ModelFailures) -> None:
        """
        While nothing failed there is nothing to tell.

        If this fails: a role without a failure is told as one, or something other is kept in the same place.
        """
        assert failures.latest() == {}

    def test_everything_is_kept(self, failures: ModelFailures) -> None:
        """
        A failure comes back as it was given, whatever is written in its reason.

        If this fails: a field is missing, or two are exchanged; text was quoted into a statement.
        """
        given = ModelFailure(
            ModelRole.GENERATOR, "'qwen3' at http://[::1]:8089", MONDAY, "蜂 said: \"'; drop\n🐝", TUESDAY
        )

        failures.record(given)

        assert failures.latest() == {ModelRole.GENERATOR: given}

    def test_the_last_one_counts(self, failures: ModelFailures) -> None:
        """
        A later failure takes the place of the one before it, also when that one is over.

        If this fails: rows are appended, or a recovery is carried over to the next failure.
        """
        failures.record(replace(failure(), answered_at=MONDAY))

        failures.record(failure(failed_at=TUESDAY))

        assert failures.latest() == {ModelRole.RERANKER: failure(failed_at=TUESDAY)}

    def test_a_role_each(self, failures: ModelFailures) -> None:
        """
        The failures of one role leave those of another alone, and come in the order of the roles.

        If this fails: they share a key, or are given back in the order of writing.
        """
        for role in reversed(ModelRole):
            failures.record(failure(role))

        assert list(failures.latest().items()) == [(role, failure(role)) for role in ModelRole]
