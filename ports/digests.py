"""
BLAKE2b, SHA-1 and SHA-256 from the interpreter's built-in modules, and the key of a session.

Importing ``hashlib`` loads OpenSSL, which adds two milliseconds to each prompt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hashlib import blake2b, sha1, sha256
else:
    try:
        from _blake2 import blake2b
    except ImportError:  # an interpreter built without this module
        from hashlib import blake2b
    try:
        from _sha1 import sha1
    except ImportError:
        from hashlib import sha1
    try:
        from _sha2 import sha256
    except ImportError:
        try:
            from _sha256 import sha256  # Python before 3.12
        except ImportError:
            from hashlib import sha256

__all__ = ["blake2b", "session_key", "sha1", "sha256"]

_KEY_CHARS = 16


def session_key(session_id: str) -> str:
    """
    Return the part of file names that identifies a session: 16 hexadecimal digits of the SHA-256 of its whole id.

    Ids of sessions share long beginnings: the date in Hermes, the minute in Codex and OpenCode.
    """
    return sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()[:_KEY_CHARS]
