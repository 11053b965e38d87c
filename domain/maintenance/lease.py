"""
Who may work, decided in one place so that every lease store agrees on the boundary.

Times are Unix-epoch milliseconds given by the caller. Expiry is exclusive: at exactly ``expires_ms`` the
lease is anyone's, its holder's of before too. Each acquisition has a token of its own, drawn at random: who
slept through an expiry is told apart from whoever came later, even when both carry the same name.
"""

from __future__ import annotations

TOKEN_BYTES = 16  # two of them are never the same, so that nobody need remember those of before


def is_live(expires_ms: int, now_ms: int) -> bool:
    """Whether a lease still protects its holder; at exactly *expires_ms* it no longer does."""
    return now_ms < expires_ms


def may_acquire(expires_ms: int | None, now_ms: int) -> bool:
    """
    Whether anybody may take the lease: it is free, or it has expired.

    Args:
        expires_ms: ``None`` when nobody ever took it, or it was given back.
    """
    return expires_ms is None or not is_live(expires_ms, now_ms)


def token_of(chance: bytes) -> str:
    """
    The token of an acquisition, in lower-case hex.

    Args:
        chance: `TOKEN_BYTES` random bytes, drawn for this acquisition.

    Raises:
        ValueError: it is not so many bytes.
    """
    if len(chance) != TOKEN_BYTES:
        raise ValueError(f"a lease token is made of {TOKEN_BYTES} bytes, not of {len(chance)}")
    return chance.hex()


def may_renew(held_token: str, current_token: str | None) -> bool:
    """
    Whether a holder may go on: nobody took the lease since, be it live or over, and it was not given back.

    Args:
        current_token: Of the last acquisition; ``None`` when the lease was given back.
    """
    return held_token == current_token


def may_act(held_token: str, current_token: str | None, expires_ms: int, now_ms: int) -> bool:
    """
    Whether a holder's write may take effect: its token is the current one and the lease is live.

    Check it in the same transaction as the write; before it, the answer can go stale.
    """
    return held_token == current_token and is_live(expires_ms, now_ms)
