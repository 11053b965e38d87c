"""Beads: the issues of ``bd list --json``, or of the files in ``.beads`` where there is no ``bd``."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from clawmem.ports.errors import NotFound
from clawmem.ports.imports import Issue, IssueList

FOLDER = ".beads"
TIMEOUT_S = 10.0
MOST_BYTES = 256 << 20
_COMMAND = ("list", "--all", "--limit", "0", "--json")
_EARLIER_COMMAND = ("list", "--json")  # of versions without these options
_KNOWN_PLACES = (".local/bin", "go/bin", ".cargo/bin", "bin")
_NO_ISSUES = frozenset({"interactions.jsonl", "deletions.jsonl", "routes.jsonl", "molecules.jsonl"})
_SECTIONS = (("design", "Design"), ("acceptance_criteria", "Acceptance criteria"), ("notes", "Notes"))


class BeadsTracker:
    """``IssueTracker`` of Beads; *home* is searched for ``bd`` where the path of the process has none."""

    def __init__(self, home: Path) -> None:
        self._home = home

    def project(self, folder: str) -> str:
        start = Path(folder).expanduser().absolute()
        found = next((one for one in (start, *start.parents) if (one / FOLDER).is_dir()), None)
        if found is None:
            raise NotFound("Beads project", folder, remark="Name a folder that has .beads, or is below one.")
        return str(found)

    def issues(self, project: str) -> IssueList:
        files = self._from_files(Path(project))
        records = self._from_command(project)
        if records is None:
            return files
        # Some versions list issues without their dependencies, which the files have.
        written = {one.id: one for one in files.issues}
        listed = [_issue(record) for record in records]
        issues = [
            one._replace(dependencies=written[one.id].dependencies)
            if one.id in written and "dependencies" not in record
            else one
            for one, record in zip(listed, records, strict=True)
        ]
        return IssueList(issues, (), "bd list")

    def _from_command(self, project: str) -> list[dict[str, Any]] | None:
        """Return the issues that ``bd`` lists; ``None`` without a usable answer within 10 seconds."""
        places = ":".join(str(self._home / one) for one in _KNOWN_PLACES)
        program = shutil.which("bd") or shutil.which("bd", path=places)
        for arguments in (_COMMAND, _EARLIER_COMMAND) if program else ():
            try:
                done = subprocess.run(
                    [str(program), *arguments],
                    cwd=project,
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    check=True,
                    timeout=TIMEOUT_S,
                )
                found = json.loads(done.stdout)
            except subprocess.TimeoutExpired:
                return None
            except (OSError, ValueError, RecursionError, subprocess.CalledProcessError):
                continue
            if isinstance(found, list):
                return [one for one in found if _is_issue(one)]
        return None

    @staticmethod
    def _from_files(project: Path) -> IssueList:
        issues: dict[str, Issue] = {}
        problems: list[str] = []
        files = sorted(one for one in (project / FOLDER).glob("*.jsonl") if one.name not in _NO_ISSUES)
        for file in files:
            for place, record in _records(file):
                if record is None:
                    problems.append(f"{place} cannot be read and was skipped.")
                else:
                    one = _issue(record)
                    issues[one.id] = one
        if not files:
            problems.append(
                f"bd gave no list, and {project / FOLDER} has no file of issues. Install bd, or run: bd export"
            )
        named = ", ".join(f"{FOLDER}/{file.name}" for file in files)
        return IssueList(list(issues.values()), problems, named or "no file")


def _records(file: Path) -> Iterator[tuple[str, dict[str, Any] | None]]:
    """Yield each line of *file* with its place; ``None`` for a line that is no issue."""
    try:
        content = file.read_bytes() if file.stat().st_size <= MOST_BYTES else None
    except OSError:
        content = None
    if content is None:
        yield str(file), None
        return
    for number, line in enumerate(content.splitlines(), start=1):
        if line.strip():
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                record = None
            yield f"{file.name}, line {number}", record if _is_issue(record) else None


def _is_issue(record: object) -> bool:
    return isinstance(record, dict) and isinstance(record.get("id"), str) and bool(record["id"].strip())


def _issue(record: Mapping[str, Any]) -> Issue:
    sections = [(title, _text(record, name)) for name, title in _SECTIONS]
    comments = [
        f"{_text(one, 'author')}: {_text(one, 'text')}".lstrip(": ") for one in _objects(record, "comments")
    ]
    sections.append(("Comments", "\n\n".join(comments)))
    dependencies = tuple(
        (_text(one, "depends_on_id"), _text(one, "type") or _text(one, "dep_type"))
        for one in _objects(record, "dependencies")
        if _text(one, "depends_on_id")
    )
    parents = [target for target, kind in dependencies if kind == "parent-child"]
    labels = record.get("labels")
    return Issue(
        _text(record, "id"),
        _text(record, "title"),
        _text(record, "description"),
        tuple((title, value) for title, value in sections if value.strip()),
        _text(record, "status"),
        _text(record, "issue_type"),
        _text(record, "priority"),
        _text(record, "assignee"),
        tuple(map(str, labels)) if isinstance(labels, list) else (),
        _text(record, "parent") or (parents[0] if parents else ""),
        _text(record, "created_at"),
        _text(record, "updated_at"),
        _text(record, "closed_at"),
        dependencies,
        _text(record, "status") == "tombstone",
    )


def _objects(record: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    value = record.get(name)
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _text(record: Mapping[str, Any], name: str) -> str:
    value = record.get(name)
    return "" if value is None else str(value).encode("utf-8", "replace").decode()
