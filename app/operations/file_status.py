"""Explanation whether a file is indexed, and why not."""

from __future__ import annotations

from os.path import abspath
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from clawmem.app.operations.operation import Command, Effect, Opening, Operation, Option, Request, Result
from clawmem.app.services.indexing.file_status import FileState
from clawmem.domain.documents.address import unicode_forms

if TYPE_CHECKING:
    from clawmem.app.bootstrap.services import Services


def _absolute(text: str) -> Path:
    return Path(abspath(Path(text).expanduser()))  # noqa: PTH100  resolves no links


class FileRequest(Request):
    """A file."""

    path: Annotated[
        Path,
        Field(description="Its path; or its collection and path, such as notes/a.md."),
        Option(metavar="PATH", is_argument=True, parser=_absolute),
    ]


class Rule(Result):
    """A rule that excludes files: the file or setting, the line (0 without lines) and the pattern."""

    source: str
    line: int
    pattern: str


class FileReport(Result):
    """The status of a file, with the reason and the next step."""

    path: str
    state: FileState
    reason: str
    remedy: str = ""
    collection: str | None = None
    rule: Rule | None = None


def why_not(services: Services, request: FileRequest) -> FileReport:
    """
    Explain whether a file is indexed, and why not.

    It names the rule that excludes a file, with its file and line, and what to do about it.
    """
    file = _existing(services, request.path)
    status = services.explain_file(file)
    return FileReport(
        path=str(file),
        state=status.state,
        reason=status.reason,
        remedy=status.remedy,
        collection=status.collection,
        rule=Rule(**status.rule._asdict()) if status.rule else None,
    )


def _existing(services: Services, path: Path) -> Path:
    """Return *path*, or the file of that address: the name of a collection and a path in it."""
    for form in map(Path, unicode_forms(str(path))):
        if form.exists() or form.is_symlink():
            return form
    relative = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    name, *rest = relative.parts or ("",)
    root = services.settings.roots.get(name)
    return Path(root, *rest) if root and rest else path


def _text(report: FileReport) -> str:
    return "\n".join(filter(None, [f"{report.path}: {report.reason}", report.remedy]))


OPERATIONS = (
    Operation(
        name="why_not",
        run=why_not,
        effect=Effect.READS,
        commands=(Command("why-not"),),
        text=_text,
        is_tool=False,
        in_own_process=True,
        opens=Opening.IF_PRESENT,
        any_vault=False,
    ),
)
