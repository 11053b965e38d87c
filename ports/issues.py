from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class IssueDependency(NamedTuple):
    """The issue that an issue depends on, and the type of the dependency, such as ``blocks``."""

    target: str
    type: str


class Issue(NamedTuple):
    """An issue of a tracker; ``sections`` are titles with texts. ``is_deleted`` issues are only markers."""

    id: str
    title: str
    description: str = ""
    sections: tuple[tuple[str, str], ...] = ()
    status: str = ""
    type: str = ""
    priority: str = ""
    assignee: str = ""
    labels: tuple[str, ...] = ()
    parent: str = ""
    created_at: str = ""
    updated_at: str = ""
    closed_at: str = ""
    dependencies: tuple[IssueDependency, ...] = ()
    is_deleted: bool = False


class IssueList(NamedTuple):
    """
    The issues of a project. ``problems`` are sentences about issues that could not be read: the list may then be
    incomplete. ``source`` is the command or the file.
    """

    issues: Sequence[Issue]
    problems: Sequence[str]
    source: str


class IssueTracker(Protocol):
    """Tracker of the issues of projects on this machine."""

    def project(self, folder: str) -> str:
        """
        Return the project that contains *folder*: the folder itself, or the nearest one above it.

        Raises:
            NotFound: There is none.
        """

    def issues(self, project: str) -> IssueList:
        """Return the issues of *project*."""
