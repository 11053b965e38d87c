"""Projects in which sessions run."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path


def project_of(folder: str) -> str:
    """
    Return the root of the git repository that contains *folder*, else *folder* itself; empty for a relative path.

    The work trees of a repository are one project, that of its main work tree.
    """
    if "\0" in folder or not Path(folder).is_absolute():
        return ""
    start = Path(folder).resolve()
    for root in (start, *start.parents):
        with suppress(OSError, UnicodeDecodeError):
            if (root / ".git").is_dir():
                return str(root)
            git = root / (root / ".git").read_text("utf-8").removeprefix("gitdir:").strip()
            repository = git.resolve().parent.parent
            is_linked = git.parent.name == "worktrees"  # not a submodule
            main = repository.parent if repository.name == ".git" else repository
            return str(main if is_linked else root)
    return str(start)
