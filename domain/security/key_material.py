"""Detection, by content, of files that consist of credentials: private keys, databases, password lists."""

from __future__ import annotations

import re

from clawmem.domain.documents.encoding import decode
from clawmem.domain.security.secrets import find_secrets

READ_CHARS = 64_000  # characters read from the beginning of a file
MOSTLY = 0.8  # minimum share of credential lines in a list of credentials
COVERED = 0.3  # a line is a credential if secrets fill more than this share of it
_PEM = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[^-]*+(?:-----END [A-Z0-9 ]{0,60}-----)?"
)
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
    if text.startswith(_OTHER_KEYS) or _is_mostly_keys(text):
        return "a private key"
    return "a list of credentials" if _is_list_of_credentials(text) else None


def _text(data: bytes) -> str:
    try:
        return decode(data).text
    except ValueError:
        return data.decode("utf-8", "replace")


def _is_mostly_keys(text: str) -> bool:
    return 2 * sum(len(match[0]) for match in _PEM.finditer(text)) > len(text) > 0


def _is_list_of_credentials(text: str) -> bool:
    """Whether at least `MOSTLY` of the lines, apart from blank lines and comments, are credentials."""
    secrets = find_secrets(text)
    lines = credentials = end = 0
    for line in text.splitlines(keepends=True):
        start, end, content = end, end + len(line), line.strip()
        if content and not content.startswith(_REMARKS):
            lines += 1
            covered = sum(max(0, min(end, secret.end) - max(start, secret.start)) for secret in secrets)
            credentials += covered > COVERED * len(content)
    return lines > 0 and credentials >= MOSTLY * lines
