"""Extraction of file names and paths from a prompt."""

from __future__ import annotations

from clawmem.domain.security.patterns import Pattern

MOST_FILES = 3
RESULTS_EACH = 2
EXTENSIONS = (
    "ts",
    "js",
    "py",
    "md",
    "sh",
    "yaml",
    "yml",
    "json",
    "toml",
    "rs",
    "go",
    "tsx",
    "jsx",
    "css",
    "html",
)

_FILE = Pattern(
    rf"(?<![\w./-])(?:[\w.-]{{1,80}}/){{0,12}}[\w.-]{{1,80}}\.(?:{'|'.join(sorted(EXTENSIONS, reverse=True))})(?![\w/])",
    "|".join(f".{extension}" for extension in EXTENSIONS),
)


def named_files(prompt: str) -> tuple[str, ...]:
    """Return up to `MOST_FILES` distinct paths and file names in *prompt*, in order of occurrence."""
    found = _FILE.compiled.findall(prompt) if _FILE.may_match(prompt) else ()
    return tuple(dict.fromkeys(found))[:MOST_FILES]
