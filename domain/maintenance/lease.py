"""
Rules of a lease with fencing tokens, shared by all lease stores so that they agree on the boundary cases.

Times are Unix-epoch milliseconds passed by the caller. Expiry is exclusive: at exactly ``expires_ms`` anybody may
acquire the lease, including the previous holder. Each acquisition gets its own random token, which distinguishes a
holder that was suspended past the expiry from a later holder of the same name.
"""

from __future__ import annotations

TOKEN_BYTES = 16  # enough that random tokens do not collide and none has to be stored


def is_live(expires_ms: int, now_ms: int) -> bool:
    """Whether a lease still protects its holder; at exactly *expires_ms* it does not."""
    return now_ms < expires_ms


def may_acquire(expires_ms: int | None, now_ms: int) -> bool:
    """
    Whether the lease can be acquired: it is free or has expired.

    Args:
        expires_ms: ``None`` if the lease was never acquired or was released.
    """
    return expires_ms is None or not is_live(expires_ms, now_ms)


def token_of(chance: bytes) -> str:
    """
    Return the token of an acquisition in lower-case hex.

    Args:
        chance: `TOKEN_BYTES` random bytes, drawn for this acquisition.

    Raises:
        ValueError: *chance* has another length.
    """
    if len(chance) != TOKEN_BYTES:
        raise ValueError(f"a lease token needs {TOKEN_BYTES} bytes, not {len(chance)}")
    return chance.hex()


def may_renew(held_token: str, current_token: str | None) -> bool:
    """
    Whether a holder may renew its lease, live or expired: no one acquired it since, and it was not released.

    Args:
        current_token: Token of the last acquisition; ``None`` if the lease was released.
    """
    return held_token == current_token


def may_act(held_token: str, current_token: str | None, expires_ms: int, now_ms: int) -> bool:
    """
    Whether a holder's write may take effect: its token is the current one and the lease is live.

    Check it in the same transaction as the write; a result from before the transaction can be stale.
    """
    return held_token == current_token and is_live(expires_ms, now_ms)
