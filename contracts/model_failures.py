from __future__ import annotations

from dataclasses import replace

from clawmem.contracts.base import Contract
from clawmem.ports.models import ModelFailure, ModelFailures, ModelRole

MONDAY = "2024-03-04T08:00:00.000Z"
TUESDAY = "2024-03-05T08:00:00.000Z"


def failure(role: ModelRole = ModelRole.RERANKER, failed_at: str = MONDAY) -> ModelFailure:
    """Return the failure of a server that could not be reached."""
    return ModelFailure(role, "http://localhost:8090", failed_at, "Connection refused")


class ModelFailuresContract(Contract):
    """Log of model failures. Supply ``failures``: an EMPTY ``ModelFailures``."""

    def test_everything_is_kept(self, failures: ModelFailures) -> None:
        """A failure is returned unchanged, with any characters in its reason."""
        given = ModelFailure(
            ModelRole.GENERATOR, "'qwen3' at http://[::1]:8089", MONDAY, "蜂 said: \"'; drop\n🐝", TUESDAY
        )

        failures.record(given)

        assert failures.latest() == {ModelRole.GENERATOR: given}

    def test_the_last_one_counts(self, failures: ModelFailures) -> None:
        """A later failure replaces the one before, even if the model had recovered from that."""
        failures.record(replace(failure(), answered_at=MONDAY))

        failures.record(failure(failed_at=TUESDAY))

        assert failures.latest() == {ModelRole.RERANKER: failure(failed_at=TUESDAY)}

    def test_a_role_each(self, failures: ModelFailures) -> None:
        """Each role has its own failure, and the failures are returned in the order of the roles."""
        for role in reversed(ModelRole):
            failures.record(failure(role))

        assert list(failures.latest().items()) == [(role, failure(role)) for role in ModelRole]
