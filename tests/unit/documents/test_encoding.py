"""Recognition of encodings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.domain.documents.encoding import decode

TEXT = "# Ärger im Hof\n\nDie Töpfe fielen um – „alle“.\n"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "cp1252"])
def test_other_encodings_are_read_with_a_warning(encoding: str) -> None:
    """With a byte order mark, or as the Windows form of Latin-1 with its dashes and quotes."""
    text, warning = decode(TEXT.encode(encoding))

    assert text == TEXT
    assert warning and warning.startswith("read as ") and warning.endswith("save it as UTF-8")
    assert ("a guess" in warning) is (encoding == "cp1252")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark(encoding: str) -> None:
    """Zeros in every other byte show it, in either order."""
    assert decode(b"a plain list\n".decode().encode(encoding))[0] == "a plain list\n"


@given(st.text())
def test_utf_8_is_never_warned_of(text: str) -> None:
    """With all characters, and with line ends of Windows, or of old Macs where there are no others."""
    sound = text.encode("utf-8", "replace")
    if not sound.startswith((b"\xff\xfe", b"\xfe\xff")) and b"\0" not in sound:
        assert decode(sound) == (sound.decode().replace("\r\n" if b"\n" in sound else "\r", "\n"), None)


@pytest.mark.parametrize("cut", [b"\xe2\x80", b"\xff"])
def test_damaged_utf_8(cut: bytes) -> None:
    """One damaged character does not turn every accent into two letters."""
    text, warning = decode(TEXT.encode() + cut)

    assert text.rstrip("\ufffd") == TEXT
    assert warning == "damaged characters: 1, the first in line 4; correct them and save it as UTF-8"
    assert decode("Jörg, schön\n".encode() + b"\xff\xfe")[0].startswith("Jörg, schön")


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1251", "Сегодня мы решили купить новый дом."),
        ("euc_jp", "今日は天気がとても良かったので、公園を散歩しました。桜が咲いていました。"),
        ("shift_jis", "今日は新しい家を買うことにしました。"),
    ],
)
def test_other_alphabets(encoding: str, text: str) -> None:
    """They are recognised by their letters."""
    decoded, warning = decode(text.encode(encoding))

    assert decoded == text and warning and "a guess; save" in warning


@given(st.binary())
def test_any_bytes(data: bytes) -> None:
    """They are text or refused with the next step; nothing else is raised."""
    try:
        decode(data)
    except ValueError as error:
        assert str(error).endswith("save it as UTF-8")


@pytest.mark.parametrize("data", [bytes(5000), b"a" + bytes(100)])
def test_zero_bytes(data: bytes) -> None:
    """What a crash leaves of a file is no text."""
    with pytest.raises(ValueError):
        decode(data)
