"""Names of notes."""

from __future__ import annotations

from clawmem.domain.documents.names import document_names, file_name, searchable_names, with_names
from clawmem.ports.records import Document


def test_the_file_name_has_no_folder_and_no_extension() -> None:
    """Only `.md` and `.txt` are extensions of notes."""
    assert file_name("people/Marta Kowalczyk.md") == "Marta Kowalczyk"
    assert file_name("v2.1/release 2.1") == "release 2.1"


def test_a_note_is_known_by_title_file_name_and_aliases_once_each() -> None:
    """Names that differ only in case count once."""
    note = Document("notes", "people/marta.md", "Marta", "h", "s", "t", "t", "t", aliases=("MK", "marta"))
    assert document_names(note) == ("Marta", "MK")
    assert document_names(note._replace(path="people/m. kowalczyk.md", title="")) == (
        "m. kowalczyk",
        "MK",
        "marta",
    )


def test_a_note_is_searchable_by_its_folders_too() -> None:
    """The innermost folder first; of no folder nothing is added."""
    note = Document("notes", "Clients/Poland/call.md", "Call", "h", "s", "t", "t", "t", aliases=("Ring",))
    assert searchable_names(note) == ("Call", "Ring", "Poland", "Clients")
    assert searchable_names(note._replace(path="call.md")) == ("Call", "Ring")


def test_a_name_is_appended_whole_where_it_adds_a_word() -> None:
    """Whatever the case of its letters and the signs between its words."""
    assert with_names("Kick-off", ["kick off", "Acme kick-off", "acme"]) == "Kick-off Acme kick-off"
    assert with_names("", ["plan"]) == "plan"
    assert with_names("Plan", ["---"]) == "Plan"
