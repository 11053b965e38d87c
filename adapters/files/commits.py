"""Commit messages of Git repositories, as files of Markdown."""

import json
import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from secrets import token_hex

from clawmem.ports.errors import SourceMissing, SourceUnreadable
from clawmem.ports.files import FileSource
from clawmem.ports.records import Origin, Scan, SourceFile, SourceStamp, one_line

HISTORY = "/.git"  # the end of a root whose files are commits
TIMEOUT_S = 60.0
AT_ONCE = 256  # commits read by one process
MOST_FILES = 200  # of one commit; a commit with more says nothing about each
# Nothing that a repository configures is run, and nothing is fetched.
_OPTIONS = (
    *("--no-pager", "-c", f"core.hooksPath={os.devnull}", "-c", "core.fsmonitor=false"),
    *("-c", "log.showSignature=false", "-c", "log.showRoot=true", "-c", "log.mailmap=true"),
    *("-c", "i18n.logOutputEncoding=UTF-8"),
)
_ENVIRONMENT = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
}
_UNMERGED = ("refs/stash", "refs/notes/*", "refs/remotes/*")  # not in the history of this repository
_PROGRAM = re.compile(r"\[bot\]|(?:^|[-_.+])bot(?:@|$)", re.IGNORECASE)
_NO_REASON = re.compile(r"^(?:[\w-]+-(?:by|id)|cc):.*$", re.IGNORECASE | re.MULTILINE)  # signatures, ids


@dataclass
class CommitFiles:
    """
    ``FileSource`` whose roots ``REPOSITORY/.git`` have a note for each commit that gives a reason; *disk* reads others.

    A commit gives a reason if its message has a text below the subject, apart from trailers about persons. Merges,
    commits of programs, remote branches and the stash are left out. A note is called by the first 16 digits of the
    commit, so a commit that was rewritten is another file.
    """

    disk: FileSource
    # By root: the id of a commit by its path.
    _listed: dict[str, dict[str, str]] = field(default_factory=dict)
    # Of commits read last, by root and path.
    _texts: dict[tuple[str, str], bytes] = field(default_factory=dict)

    def scan(self, root: str, *, enter: Callable[[str], bool], wanted: Callable[[str], bool]) -> Scan:
        if not root.endswith(HISTORY):
            return self.disk.scan(root, enter=enter, wanted=wanted)
        try:
            own = _own_email(root)
            excluded = [f"--exclude={name}" for name in _UNMERGED]
            shape = "--format=tformat:%H%x00%ct%x00%aN%x00%aE%x00%s%x00%b"
            fields = _git(root, "log", "--no-merges", "-z", shape, *excluded, "--all").split("\0")
        except SourceUnreadable as error:
            return Scan((), root_exists=False, problem=str(error))
        listed, files = dict[str, str](), []
        for commit, seconds, author, email, _, body in zip(*[iter(fields)] * 6, strict=False):
            path = f"{commit[:16]}.md"
            is_reason = _NO_REASON.sub("", body).strip()
            if is_reason and not _PROGRAM.search(author) and not _PROGRAM.search(email) and wanted(path):
                listed[path] = commit
                # The size tells own commits apart, so that they are read again when the address changes. A file that
                # is as old as its date would count as a note without a date.
                size, written_ms = 2 * len(body) + (email.casefold() == own), int(seconds) * 1000 + 1
                files.append(SourceFile(path, SourceStamp(size, written_ms * 1_000_000)))
        self._listed[root] = listed
        self._texts = {}
        return Scan(tuple(sorted(files)))

    def read(self, root: str, path: str) -> bytes:
        if not root.endswith(HISTORY):
            return self.disk.read(root, path)
        if root not in self._listed:
            scan = self.scan(root, enter=bool, wanted=bool)
            if scan.problem:
                raise SourceUnreadable(path, scan.problem)
        if path not in self._listed[root]:
            raise SourceMissing(path, "there is no such commit any more, or it gives no reason")
        texts = self._texts
        if (root, path) not in texts:
            following = sorted(name for name in self._listed[root] if name >= path)[:AT_ONCE]
            texts = {(root, name): note for name, note in self._notes(root, following).items()}
            self._texts = texts
        return texts[root, path]

    def _notes(self, root: str, paths: list[str]) -> dict[str, bytes]:
        commits = [self._listed[root][path] for path in paths]
        mark, own = token_hex(16), _own_email(root)
        shared = _git(root, "rev-parse", "--git-common-dir").rstrip("\n")  # of a work tree, in the main one
        top = os.path.join(root.removesuffix(HISTORY), shared)  # noqa: PTH118
        project = os.path.normpath(top).removesuffix(HISTORY)
        shape = f"--format=tformat:{mark}%at%x00%aN%x00%aE%x00%s%x00%b%x00"
        names = ("--name-only", "--no-renames", "--no-ext-diff")
        ids = "\n".join(commits)
        output = _git(root, "log", "--no-walk=unsorted", "--stdin", "-z", shape, *names, text=ids)
        notes = {}
        for path, record in zip(paths, output.split(mark)[1:], strict=True):
            seconds, author, email, subject, body, *files = record.split("\0")
            named = [one_line(name.lstrip("\n")) for name in files if name.strip("\n")]
            facts = {
                "title": one_line(subject),
                "type": "commit",
                "date": datetime.fromtimestamp(int(seconds), UTC).isoformat(),
                "author": one_line(author),
                "project": project,
                "files": named[:MOST_FILES],
            }
            if email.casefold() != own:
                facts["tags"] = [f"origin:{Origin.SHARED}"]
            header = "".join(f"{name}: {json.dumps(fact)}\n" for name, fact in facts.items())
            notes[path] = f"---\n{header}---\n\n{body.strip()}\n".encode("utf-8", "replace")
        return notes


def _own_email(root: str) -> str:
    """Return the address of the user of this repository, which the configuration of Git states; else empty."""
    return _git(root, "config", "--default", "", "--get", "user.email").strip().casefold()


def _git(root: str, *arguments: str, text: str = "") -> str:
    """
    Return what ``git`` prints in the repository of *root*; *text* is its input.

    Raises:
        SourceUnreadable: without Git, for a folder that is not the top of a repository, and after `TIMEOUT_S`.
    """
    folder = root.removesuffix(HISTORY)
    # Variables of a hook of Git would lead to another repository, and a folder above is another one too.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {**_ENVIRONMENT, "GIT_CEILING_DIRECTORIES": os.path.dirname(folder)}  # noqa: PTH120
    try:
        done = subprocess.run(
            ["git", *_OPTIONS, "-C", folder, *arguments],
            input=text.encode(),
            capture_output=True,
            check=False,
            timeout=TIMEOUT_S,
            env=environment,
        )
    except FileNotFoundError as error:
        raise SourceUnreadable(folder, "the program git was not found. Install Git") from error
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        reason = f"git failed or took more than {TIMEOUT_S:g} seconds ({type(error).__name__}). Try again"
        raise SourceUnreadable(folder, reason) from error
    if done.returncode:
        reason = one_line(done.stderr.decode("utf-8", "replace")).strip().rstrip(".")
        remedy = "Name the top folder of a repository"
        raise SourceUnreadable(folder, f"git could not read it ({reason}). {remedy}")
    return done.stdout.decode("utf-8", "replace")
