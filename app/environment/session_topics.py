"""Projects in which sessions run, and their topics, one file each, so that no vault has to be opened."""

from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from clawmem.app.environment.places import real_path
from clawmem.app.environment.private_files import make_folder, write_whole
from clawmem.domain.surfacing.filters import MOST_TOPIC, read_topic
from clawmem.ports.documents import Property
from clawmem.ports.errors import InvalidInput
from clawmem.ports.sessions import session_key

PROJECT = "project"  # property of memories, commits and notes


def topic_file(folder: Path, session_id: str) -> Path:
    """Return the file in *folder* for the topic of a session; that of the session "" is for those without a topic."""
    return folder / f"{session_key(session_id)}.focus"


def topic_of(folder: Path, session_id: str) -> str:
    """Return the topic of a session, or that of every session; empty if none can be read."""
    for known in (session_id, ""):
        with suppress(OSError, UnicodeDecodeError):
            return read_topic(topic_file(folder, known).read_text("utf-8"))
    return ""


def set_topic(folder: Path, session_id: str, topic: str) -> None:
    """Set the topic of a session; raise `InvalidInput` if it is empty or longer than 256 characters."""
    if not (normalised := read_topic(topic)):
        message = f"A topic has 1 to {MOST_TOPIC} characters; this one has {len(topic.strip())}."
        raise InvalidInput("INVALID_INPUT", message)
    make_folder(folder)
    write_whole(topic_file(folder, session_id), f"{normalised}\n".encode())


def project_of(folder: str) -> str:
    """
    Return the root of the git repository that contains *folder*, else *folder* itself; empty for a relative path.

    The work trees of a repository are one project, that of its main work tree.
    """
    if "\0" in folder or not Path(folder).is_absolute():
        return ""
    start = real_path(folder)
    for root in (start, *start.parents):
        with suppress(OSError, UnicodeDecodeError):
            if (root / ".git").is_dir():
                return str(root)
            git = root / (root / ".git").read_text("utf-8").removeprefix("gitdir:").strip()
            repository = real_path(git).parent.parent
            is_linked = git.parent.name == "worktrees"  # not a submodule
            has_folder = repository.name == ".git" or (repository.parent / ".git").is_file()  # or a bare one
            return str((repository.parent if has_folder else repository) if is_linked else root)
    return str(start)


def project_label(properties: Collection[Property], project: str) -> str:
    """
    Return the label of a document of another project than *project*, ``project work/shop``; empty if that is unknown.

    It has as many folders as tell the two apart.
    """
    names = [given.value for given in properties if given.name == PROJECT and project]
    if not names or names[0] in (project, project.rpartition("/")[2]):
        return ""
    other, own = names[0].split("/"), project.split("/")
    differing = (count for count in range(2, len(other)) if other[-count:] != own[-count:])
    return f"project {'/'.join(other[-next(differing, len(other)) :])}"
