"""Beads: the issues of ``bd list --json``, or of the files in ``.beads`` where there is no ``bd``."""

import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clawmem.ports.errors import NotFound
from clawmem.ports.imports import Issue, IssueList
from clawmem.ports.json_text import read_json

FOLDER = ".beads"
TIMEOUT_S = 10.0
_COMMAND = ("list", "--all", "--limit", "0", "--json")
_KNOWN_PLACES = (".local/bin", "go/bin", ".cargo/bin", "bin")
_NO_ISSUES = frozenset({"interactions.jsonl", "deletions.jsonl", "routes.jsonl", "molecules.jsonl"})
_SECTIONS = (("design", "Design"), ("acceptance_criteria", "Acceptance criteria"), ("notes", "Notes"))


@dataclass(frozen=True)
class BeadsTracker:
    """``IssueTracker`` of Beads; *home* is searched for ``bd`` where the path of the process has none."""

    home: Path

    def project(self, folder: str) -> str:
        start = Path(folder).absolute()
        for project in (start, *start.parents):
            if (project / FOLDER).is_dir():
                return str(project)
        raise NotFound("Beads project", folder, remark="Name a folder that has .beads, or is below one.")

    def issues(self, project: str) -> IssueList:
        files = _issues_in_files(Path(project))
        records = self._listed(project)
        if records is None:
            return files
        written = {issue.id: issue for issue in files.issues}
        issues = []
        for record in records:
            issue = _issue(record)
            if "dependencies" not in record and issue.id in written:  # some versions of bd leave them out
                issue = issue._replace(dependencies=written[issue.id].dependencies)
            issues.append(issue)
        return IssueList(issues, (), "bd list")

    def _listed(self, project: str) -> list[dict[str, Any]] | None:
        """Return the issues that ``bd`` lists; ``None`` without a usable answer within 10 seconds."""
        places = ":".join(str(self.home / place) for place in _KNOWN_PLACES)
        if not (program := shutil.which("bd") or shutil.which("bd", path=places)):
            return None
        try:
            done = subprocess.run(
                [program, *_COMMAND],
                cwd=project,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=True,
                timeout=TIMEOUT_S,
            )
            records = read_json(done.stdout)
        except (OSError, ValueError, RecursionError, subprocess.SubprocessError):
            return None
        return [record for record in records if _is_issue(record)] if isinstance(records, list) else None


def _issues_in_files(project: Path) -> IssueList:
    issues: dict[str, Issue] = {}
    problems: list[str] = []
    files = sorted(file for file in (project / FOLDER).glob("*.jsonl") if file.name not in _NO_ISSUES)
    for file in files:
        try:
            if not file.is_file():  # a pipe would block
                raise OSError
            lines = file.read_bytes().splitlines()
        except OSError:
            problems.append(f"{file} cannot be read and was skipped.")
            continue
        for number, line in enumerate(lines, start=1):
            try:
                record = read_json(line or "null")
            except (ValueError, RecursionError):
                record = None
            if _is_issue(record):
                issues[record["id"]] = _issue(record)
            elif line.strip():
                problems.append(f"{file.name}, line {number} cannot be read and was skipped.")
    if not files:
        problems.append(
            f"bd gave no list, and {project / FOLDER} has no file of issues. Install bd, or run: bd export"
        )
    named = ", ".join(f"{FOLDER}/{file.name}" for file in files)
    return IssueList(list(issues.values()), problems, named or "no file")


def _is_issue(record: object) -> bool:
    return isinstance(record, dict) and isinstance(record.get("id"), str) and bool(record["id"].strip())


def _issue(record: Mapping[str, Any]) -> Issue:
    sections = [(title, _text(record, name)) for name, title in _SECTIONS]
    comments = [
        f"{_text(comment, 'author')}: {_text(comment, 'text')}".lstrip(": ")
        for comment in _objects(record, "comments")
    ]
    sections.append(("Comments", "\n\n".join(comments)))
    dependencies = tuple(
        (_text(need, "depends_on_id"), _text(need, "type") or _text(need, "dep_type"))
        for need in _objects(record, "dependencies")
        if _text(need, "depends_on_id")
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
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _text(record: Mapping[str, Any], name: str) -> str:
    value = record.get(name)
    return "" if value is None else str(value).encode("utf-8", "replace").decode()
