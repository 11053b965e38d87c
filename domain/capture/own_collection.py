"""Name of the collection of captured notes, in a module of its own so that it is cheap to import."""

from __future__ import annotations

OWN_COLLECTION = "_clawmem"
