"""Access token of a server, generated once and stored next to the vault."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from clawmem.app.client.announcement import TOKEN_VARIABLE, token_file, token_of
from clawmem.app.environment.private_files import write_whole
from clawmem.ports.errors import ConfigError

SHORTEST = 16  # minimum number of characters


def token_for(vault: Path, environ: Mapping[str, str]) -> str:
    """
    Return the token for servers of *vault*; generate one if there is none. The caller must hold the server lock.

    Raises:
        ConfigError: The token in the environment or in the token file is invalid.
    """
    file = token_file(vault)
    if not file.exists() and not environ.get(TOKEN_VARIABLE):
        from secrets import token_urlsafe

        write_whole(file, f"{token_urlsafe(32)}\n".encode())
    token = token_of(vault, environ)
    if len(token) < SHORTEST or not token.isascii() or not token.isprintable() or " " in token:
        origin = TOKEN_VARIABLE if environ.get(TOKEN_VARIABLE) else str(file)
        raise ConfigError(
            f"{origin} holds no token: at least {SHORTEST} ASCII characters without a blank. "
            "Choose another, or remove it and one is made."
        )
    return token
