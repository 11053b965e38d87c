"""The files that a prompt names."""

from __future__ import annotations

import re

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

_FILE = re.compile(
    rf"(?<![\w./-])(?:[\w.-]{{1,80}}/){{0,12}}[\w.-]{{1,80}}\.(?:{'|'.join(sorted(EXTENSIONS, reverse=True))})(?![\w/])"
)


def named_files(prompt: str) -> tuple[str, ...]:
    """Up to `MOST_FILES` paths and file names in *prompt*, in its order, each once."""
    return tuple(dict.fromkeys(_FILE.findall(prompt)))[:MOST_FILES]
