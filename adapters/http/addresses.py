"""Server URLs, which may contain secrets: user and password, or a key in the query."""

from __future__ import annotations

import re
from base64 import b64encode
from urllib.parse import parse_qsl, unquote, urlsplit

_UP_TO_THE_LAST_AT = re.compile(r"^(\w+://)?.*@", re.DOTALL)
_SHORTEST_KEY = 8  # characters; a shorter query value is a version or a switch


def shown(url: str) -> str:
    """Return *url* without user, password, query and fragment, for display and storage. Works for invalid URLs too."""
    text = url.strip()
    if not is_address(text):  # in an invalid URL any part may be a password
        return _UP_TO_THE_LAST_AT.sub(r"\1", text).partition("?")[0]
    parts = urlsplit(text)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


def is_address(url: str) -> bool:
    """Whether *url* has a host, and a valid port if any."""
    try:
        parts = urlsplit(url)
        return bool(parts.hostname) and parts.port != 0 and not re.search(r"\s", url)
    except ValueError:
        return False


def secrets_in(url: str) -> tuple[str, ...]:
    """Return the secrets in *url*, in every form in which a server could repeat them, longest first."""
    parts = urlsplit(url.strip())
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    token = b64encode(f"{user}:{password}".encode()).decode() if password else ""
    keys = [value for _, value in parse_qsl(parts.query) if len(value) >= _SHORTEST_KEY]
    return tuple(sorted({token, parts.password or "", password, *keys} - {""}, key=len, reverse=True))
