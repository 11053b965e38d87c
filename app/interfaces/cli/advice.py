"""Commands in messages, completed by the vault that the user chose."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from clawmem.app.operations.output import Part, Table
from clawmem.domain.documents.eligibility import is_collection_name

# A command behind a word that announces one: the words of a title are not changed.
_ADVISED = re.compile(r"((?:\b(?:[Rr]un|[Nn]ext|[Uu]ndo|with):|, then) clawmem )([a-z][a-z-]*)")
_OF_NO_VAULT = frozenset({"vault", "models", "setup", "focus", "conformance", "bench"})
_OF_USUAL_VAULT = frozenset({"bootstrap", "collection", "curate", "reindex", "update", "watch", "why-not"})


def with_vault(text: str, vault: Path | None) -> str:
    """
    Return *text* with ``--vault`` in the commands that it recommends.

    A named vault refuses the commands that read the folders of the config file, so these are not changed.
    """
    if vault is None:
        return text
    others = _OF_NO_VAULT | (_OF_USUAL_VAULT if is_collection_name(str(vault)) else frozenset())
    option = f"--vault {shlex.quote(str(vault))}"
    return _ADVISED.sub(
        lambda found: found[0] if found[2] in others else f"{found[1]}{option} {found[2]}", text
    )


def advised(part: Part, vault: Path | None) -> Part:
    """Return *part* of a text with the commands as `with_vault` completes them; verbatim texts are not changed."""
    if isinstance(part, str):
        return with_vault(part, vault)
    if isinstance(part, Table):
        return part._replace(rows=[[with_vault(cell, vault) for cell in row] for row in part.rows])
    return part
