"""SHA-1 and SHA-256 as the interpreter carries them: ``hashlib`` loads OpenSSL first, for two milliseconds of a prompt."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hashlib import sha1, sha256
else:
    try:
        from _sha1 import sha1
    except ImportError:  # an interpreter built without
        from hashlib import sha1
    try:
        from _sha2 import sha256
    except ImportError:
        try:
            from _sha256 import sha256  # before 3.12
        except ImportError:
            from hashlib import sha256

__all__ = ["sha1", "sha256"]
