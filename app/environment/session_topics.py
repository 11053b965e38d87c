"""Projects in which sessions run, and their topics, one file each, so that no vault has to be opened."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from clawmem.app.environment.private_files import make_folder, write_whole
from clawmem.domain.surfacing.filters import MOST_TOPIC, read_topic
from clawmem.ports.errors import InvalidInput
from clawmem.ports.sessions import session_key


class Topics:
    """Store of topics by session, in one folder; that of the session "" is for sessions without one of their own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, session_id: str) -> str:
        """Return the topic of a session, or that of every session; empty if none can be read."""
        for known in (session_id, ""):
            with suppress(OSError, UnicodeDecodeError):
                return read_topic(self._file(known).read_text("utf-8"))
        return ""

    def set(self, session_id: str, topic: str) -> str:
        """
        Set the topic of a session; return the normalised topic.

        Raises:
            InvalidInput: the topic is empty or longer than 256 characters.
            OSError: the file cannot be written.
        """
        normalised = read_topic(topic)
        if not normalised:
            raise InvalidInput(
                "INVALID_INPUT",
                f"A topic has 1 to {MOST_TOPIC} characters; this one has {len(topic.strip())}.",
            )
        make_folder(self._folder)
        write_whole(self._file(session_id), f"{normalised}\n".encode())
        return normalised

    def clear(self, session_id: str) -> bool:
        """Remove the topic of a session; return whether it had one."""
        had = bool(self.get(session_id))
        self._file(session_id).unlink(missing_ok=True)
        return had

    def _file(self, session_id: str) -> Path:
        return self._folder / f"{session_key(session_id)}.focus"


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
