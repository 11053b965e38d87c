"""Where the vault keeps what it captured: by itself, for those who need to know no more than the name."""

from __future__ import annotations

OWN_COLLECTION = "_clawmem"
