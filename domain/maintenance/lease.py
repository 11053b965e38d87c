"""
Who may work, decided in one place so that every lease store agrees on the boundary.

Times are Unix-epoch milliseconds given by the caller. Expiry is exclusive: at exactly ``expires_ms`` the
lease is anyone's. A token grows with every acquisition, so a holder that slept through its expiry is told
apart from the one that came after it, even when both carry the same name.
"""

from __future__ import annotations


def is_live(expires_ms: int, now_ms: int) -> bool:
    """Whether a lease still protects its holder; at exactly *expires_ms* it no longer does."""
    return now_ms < expires_ms


def may_acquire(current_holder: str | None, expires_ms: int, holder: str, now_ms: int) -> bool:
    """
    Whether *holder* may take the lease: it is free, it has expired, or it is *holder*'s own.

    Args:
        current_holder: ``None`` when nobody ever took it or it was given back; *expires_ms* is then moot.
    """
    return current_holder is None or current_holder == holder or not is_live(expires_ms, now_ms)


def next_token(token: int) -> int:
    """
    The token of the next acquisition: always larger, so no earlier holder can match it.

    Args:
        token: The last one given out, 0 when there was none. It must survive a release.

    Raises:
        ValueError: *token* is negative.
    """
    if token < 0:
        raise ValueError(f"a lease token counts from 0, not {token}")
    return token + 1


def may_act(held_token: int, current_token: int, expires_ms: int, now_ms: int) -> bool:
    """
    Whether a holder's write may take effect: its token is the current one and the lease is live.

    Check it in the same transaction as the write; before it, the answer can go stale.
    """
    return held_token == current_token and is_live(expires_ms, now_ms)
