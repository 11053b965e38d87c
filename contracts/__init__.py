"""
Contract suites: subclass one in your own tests and supply its fixture.

    from clawmem.contracts.lease import LeaseContract

    class TestRedisLeases(LeaseContract):
        @pytest.fixture
        def leases(self) -> LeaseStore:
            return RedisLeases(...)  # EMPTY

Suites of records and indexes need a ``vault`` fixture: an EMPTY ``Vault``. A backend declares its features in
``capabilities``; a test that needs a missing capability is skipped with a reason that names the capability.

Needs pytest: ``pip install '.[contracts]'`` in the checkout.
"""

from pkgutil import iter_modules

try:
    import pytest
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        "clawmem.contracts is a pytest suite. Run in the checkout: pip install '.[contracts]'", name="pytest"
    ) from missing

# Make a failing contract show both sides of its assert, in an installed wheel too.
pytest.register_assert_rewrite(*(f"{__name__}.{module.name}" for module in iter_modules(__path__)))
