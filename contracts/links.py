import pytest

from clawmem.contracts.base import VaultContract
from clawmem.contracts.samples import document, fragments
from clawmem.ports.documents import Link, LinkKind, NamedNote, NameKind, NoteName, StoredLink
from clawmem.ports.records import InactiveReason, Scope
from clawmem.ports.vault import Vault


def note(vault: Vault, path: str, *targets: str, collection: str = "notes") -> int:
    """Save a note at *path* whose name is *path*, with links to *targets*; it remains changed."""
    number = vault.documents.save(document(path, path, collection=collection), path, fragments(path))
    links = [
        Link(LinkKind.WIKILINK, target, target, line, context=f"See {target}.")
        for line, target in enumerate(targets, 1)
    ]
    vault.links.put(number, [NoteName(path, NameKind.FILE)], links)
    return number


def aimed(vault: Vault, source: int, *targets: int | None) -> None:
    """Aim the links of *source* at *targets*, and settle every change."""
    found = vault.links.outgoing([source])
    vault.links.aim(link._replace(target_id=to) for link, to in zip(found, targets, strict=True))
    vault.links.settle(vault.links.changed(100))


class LinkContract(VaultContract):
    """Links between documents. Supply ``vault``: an EMPTY ``Vault``."""

    def test_links_come_back_as_they_were_put(self, vault: Vault) -> None:
        """Links keep their order, fields and number; storing others replaces them, and ``None`` keeps them."""
        full = Link(LinkKind.EMBED, "a/b", "b", 7, "^x", "shown", "A sentence.")
        first = note(vault, "one", "two", "two")
        assert [stored.link.line for stored in vault.links.outgoing([first])] == [1, 2]

        vault.links.put(first, [], [full])
        vault.links.put(first, [], None)

        assert vault.links.outgoing([first]) == [StoredLink(first, 0, full)]

    def test_both_ends_see_a_link(self, vault: Vault) -> None:
        """A link is outgoing from its document and incoming at its target, unless that is the document itself."""
        second, first = note(vault, "two", "two"), note(vault, "one", "two", "three")
        aimed(vault, first, second, None)
        aimed(vault, second, second)

        [there] = vault.links.incoming([second])

        assert (there.document_id, there.target_id, there.link.target) == (first, second, "two")
        assert [link.target_id for link in vault.links.outgoing([first])] == [second, None]

    @pytest.mark.parametrize("gone", ["one", "two"])
    def test_only_served_documents_have_links(self, vault: Vault, gone: str) -> None:
        """A link disappears with its document and is broken while its target is not served; both come back."""
        ids = {"two": note(vault, "two"), "one": note(vault, "one", "two")}
        aimed(vault, ids["one"], ids["two"])

        vault.documents.deactivate([ids[gone]], InactiveReason.REMOVED)

        assert [link.target_id for link in vault.links.outgoing([ids["one"]])] == (
            [None] if gone == "two" else []
        )
        assert vault.links.incoming([ids["two"]]) == []
        assert vault.links.changed(9) == [ids[gone]]
        note(vault, gone, *(["two"] if gone == "one" else []))
        if gone == "two":
            assert len(vault.links.incoming([ids["two"]])) == 1

    def test_doubtful_links(self, vault: Vault) -> None:
        """Links without a served target, or to a part of a document, are doubtful; the scope selects their source."""
        second = note(vault, "two")
        first, other = note(vault, "one", "two", "three"), note(vault, "one", "three", collection="other")
        vault.links.put(second, [], [Link(LinkKind.WIKILINK, "one", "one", 1, part="Heading")])
        aimed(vault, first, second, None)
        aimed(vault, second, first)

        assert [(stored.document_id, stored.link.target) for stored in vault.links.doubtful()] == [
            (first, "three"), (second, "one"), (other, "three"),
        ]  # fmt: skip
        assert [link.document_id for link in vault.links.doubtful(Scope(frozenset({"other"})))] == [other]

    def test_names_of_served_documents(self, vault: Vault) -> None:
        """A name finds every served document that has it, files before aliases, each once by its best name."""
        alias, gone, file = note(vault, "b"), note(vault, "c"), note(vault, "d")
        vault.links.put(alias, [NoteName("x", NameKind.ALIAS)], None)
        vault.links.put(gone, [NoteName("x", NameKind.FILE)], None)
        vault.links.put(file, [NoteName("x", NameKind.TITLE), NoteName("x", NameKind.FILE)], None)
        vault.documents.deactivate([gone], InactiveReason.ARCHIVED)

        assert vault.links.named(["x", "nothing"]) == {
            "x": [
                NamedNote(file, "notes", "d", NameKind.FILE),
                NamedNote(alias, "notes", "b", NameKind.ALIAS),
            ]
        }

    def test_what_a_change_affects(self, vault: Vault) -> None:
        """A changed document outdates its own links, the links to it, and those with its name, and no others."""
        second, third = note(vault, "two"), note(vault, "three")
        first, other = note(vault, "one", "two", "new", "three"), note(vault, "other", "three")
        aimed(vault, first, second, None, third)
        aimed(vault, other, third)
        assert vault.links.changed(9) == []

        new = note(vault, "new", "one")
        vault.links.put(new, [NoteName("old/new", NameKind.ALIAS)], None)
        vault.documents.move(second, "notes", "elsewhere/two")

        assert vault.links.changed(9) == sorted([second, new])
        assert vault.links.changed(1) == [second]
        outdated = [
            (stored.document_id, stored.link.target) for stored in vault.links.outdated([second, new])
        ]
        assert outdated == [(first, "two"), (first, "new"), (new, "one")]

    def test_forgetting(self, vault: Vault) -> None:
        """Forgetting deletes the links and the names of a document; links of others to it stay, broken."""
        second, first = note(vault, "two", "one"), note(vault, "one", "two")
        aimed(vault, first, second)
        vault.documents.forget([second])

        assert vault.links.outgoing([second]) == []
        assert vault.links.named(["two"]) == {}
        assert [link.target_id for link in vault.links.outgoing([first])] == [None]
