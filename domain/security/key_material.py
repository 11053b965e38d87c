"""Detection, by content, of files that consist of credentials: private keys, databases, password lists."""

from __future__ import annotations

from collections.abc import Sequence

from clawmem.domain.documents.encoding import decode
from clawmem.domain.security.secrets import SecretSpan, find_secrets

READ_CHARS = 64_000  # characters read from the beginning of a file
MOSTLY = 0.8  # minimum share of credential lines in a list of credentials
COVERED = 0.3  # a line is a credential if secrets fill more than this share of it
_OTHER_KEYS = ("PuTTY-User-Key-File-", "AGE-SECRET-KEY-1", "openssh-key-v1")
_SQLITE = b"SQLite format 3\0"
_REMARKS = ("#", ";", "//")


def key_material_in(data: bytes) -> str | None:
    """
    Return the kind of key material that *data* consists of, such as "a private key"; ``None`` for other files.

    A note that quotes a key or a password in its text is not key material; such secrets are redacted when the note
    is read.
    """
    if data.startswith(_SQLITE):
        return "an SQLite database"
    text = _text(data[:READ_CHARS]).strip()
    secrets = find_secrets(text)
    keys = sum(secret.end - secret.start for secret in secrets if secret.kind == "private key")
    if text.startswith(_OTHER_KEYS) or 2 * keys > len(text):
        return "a private key"
    return "a list of credentials" if _is_list_of_credentials(text, secrets) else None


def _text(data: bytes) -> str:
    try:
        return decode(data).text
    except ValueError:
        return data.decode("utf-8", "replace")


def _is_list_of_credentials(text: str, secrets: Sequence[SecretSpan]) -> bool:
    """Whether at least `MOSTLY` of the lines, apart from blank lines and comments, are credentials."""
    lines = credentials = end = 0
    for line in text.splitlines(keepends=True):
        start, end, content = end, end + len(line), line.strip()
        if content and not content.startswith(_REMARKS):
            lines += 1
            covered = sum(max(0, min(end, secret.end) - max(start, secret.start)) for secret in secrets)
            credentials += covered > COVERED * len(content)
    return lines > 0 and credentials >= MOSTLY * lines
