"""Answer of ``clawmem mine`` about unchanged files, without importing the commands."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from clawmem.app.bootstrap.conversations import unchanged_files
from clawmem.app.operations.output import plural
from clawmem.domain.conversations.places import COLLECTION

NO_VECTORS = "--no-embed"


def mined_at_once(arguments: Sequence[str]) -> bool:
    """
    Answer if nothing below the paths in *arguments* has changed since its import; return whether that is so.

    Other options than `NO_VECTORS` are left to the command.
    """
    paths = [one for one in arguments if one != NO_VECTORS]
    if not paths or any(one.startswith("-") or not one for one in paths):
        return False
    places = [os.path.expanduser(one) for one in paths]  # noqa: PTH111
    count = unchanged_files(os.environ, places, COLLECTION, embeds=NO_VECTORS not in arguments)
    if count:
        sys.stdout.write(f"{plural(count, 'file')} unchanged since the last import.\n")
    return bool(count)
