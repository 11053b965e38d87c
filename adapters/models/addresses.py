"""Server URLs, which may contain secrets: user and password, or a key in the query."""

from __future__ import annotations

from base64 import b64encode
from urllib.parse import parse_qsl, unquote, urlsplit

_SHORTEST_KEY = 8  # characters; a shorter query value is a version or a switch


def shown(url: str) -> str:
    """Return *url* without user, password, query and fragment, for display and storage."""
    parts = urlsplit(url.strip())
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


def secrets_in(url: str) -> tuple[str, ...]:
    """Return the secrets in *url*, in every form in which a server could repeat them, longest first."""
    parts = urlsplit(url.strip())
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    token = b64encode(f"{user}:{password}".encode()).decode() if password else ""
    keys = [value for _, value in parse_qsl(parts.query) if len(value) >= _SHORTEST_KEY]
    return tuple(sorted({token, parts.password or "", password, *keys} - {""}, key=len, reverse=True))
