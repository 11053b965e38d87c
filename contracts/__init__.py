"""
Contract suites: subclass one in your own tests and supply its fixture.

    from clawmem.contracts.lease import LeaseAcquireContract

    class TestRedisLeases(LeaseAcquireContract):
        @pytest.fixture
        def leases(self) -> LeaseStore:
            return RedisLeases(...)  # EMPTY

Suites of records and indexes want a ``vault`` fixture: an EMPTY ``Vault``. What a backend cannot do it
says in ``capabilities``; the tests that need it are then skipped by name, never dropped in silence.

Needs pytest: ``pip install '.[contracts]'`` in the checkout.
"""

from __future__ import annotations

from pkgutil import iter_modules

try:
    import pytest
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        "clawmem.contracts is a pytest suite. Run in the checkout: pip install '.[contracts]'", name="pytest"
    ) from missing

# So that a failing contract shows both sides of its assert, in an installed wheel too.
pytest.register_assert_rewrite(*(f"{__name__}.{module.name}" for module in iter_modules(__path__)))
