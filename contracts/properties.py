import pytest

from clawmem.contracts.base import VaultContract
from clawmem.contracts.samples import UNKNOWN, save
from clawmem.ports.documents import Property, PropertyFilter
from clawmem.ports.errors import InvalidInput
from clawmem.ports.records import InactiveReason, Scope
from clawmem.ports.vault import Vault


def note(vault: Vault, path: str, **properties: str) -> int:
    """Save a note with these properties; values are compared in lower case."""
    number = save(vault, path)
    vault.properties.put(number, [Property(name, value, value.lower()) for name, value in properties.items()])
    return number


class PropertyContract(VaultContract):
    """Properties of documents. Supply ``vault``: an EMPTY ``Vault``."""

    def test_properties_come_back_in_order(self, vault: Vault) -> None:
        """Properties keep order and spelling, and others replace them; an unknown document is refused."""
        first = note(vault, "one.md", b="B", a="x")
        assert vault.properties.many([first])[first] == [Property("b", "B", "b"), Property("a", "x", "x")]

        vault.properties.put(first, [])

        assert vault.properties.many([first]) == {}
        second = note(vault, "two.md", c="C")
        assert vault.properties.many([first, second, UNKNOWN]) == {second: [Property("c", "C", "c")]}
        with pytest.raises(InvalidInput):
            vault.properties.put(UNKNOWN, [Property("a", "b", "b")])

    def test_conditions(self, vault: Vault) -> None:
        """A condition compares keys, and names without case; all conditions must hold, for served documents only."""
        active, done, none = (
            note(vault, "a.md", status="Active", area="home"),
            note(vault, "b.md", Status="done", empty=""),
            note(vault, "c.md"),
        )
        gone = note(vault, "d.md", status="active")
        vault.documents.deactivate([gone], InactiveReason.REMOVED)
        having = vault.properties.having

        assert having([]) == {active, done, none}
        assert having([PropertyFilter("STATUS", "active")]) == {active}
        assert having([PropertyFilter("status", "active", is_negated=True)]) == {done, none}
        assert having([PropertyFilter("status")]) == {active, done}
        assert having([PropertyFilter("empty")]) == frozenset()
        assert having([PropertyFilter("empty", "")]) == {done}
        assert having([PropertyFilter("status"), PropertyFilter("area", "home")]) == {active}
        assert having([PropertyFilter("status", "home")]) == frozenset()

    def test_names_and_values_are_counted(self, vault: Vault) -> None:
        """Names and values of served documents are counted once for each document, whatever their case."""
        first = save(vault, "one.md")
        vault.properties.put(
            first, [Property("Status", "A", "a"), Property("status", "a", "a"), Property("status", "b", "b")]
        )
        second, gone = note(vault, "two.md", status="a"), note(vault, "gone.md", status="a", other="x")
        vault.documents.deactivate([gone], InactiveReason.ARCHIVED)

        assert vault.properties.named("STATUS") == {
            first: [Property("Status", "A", "a"), Property("status", "a", "a"), Property("status", "b", "b")],
            second: [Property("status", "a", "a")],
        }
        assert vault.properties.names() == {"Status": 2}
        assert list(vault.properties.values("STATUS").items()) == [("A", 2), ("b", 1)]
        assert vault.properties.values("status", Scope(documents=frozenset({second}))) == {"a": 1}
        assert vault.properties.values("nothing") == {}
