"""Names of notes."""

from __future__ import annotations

from clawmem.domain.documents.names import document_names, file_name
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
