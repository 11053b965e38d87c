"""Bundles of clawmem for programs that install plugins: ``.mcpb``, and Agent Plugins, from the Claude Code plugin."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from clawmem.app.client.request import ToolSet
from clawmem.app.interfaces.mcp.server import MemoryServer
from clawmem.app.operations.dispatch import Dispatcher
from clawmem.app.settings.model import load_settings

ROOT = Path(__file__).parents[1]
PLUGIN = ROOT / "integrations" / "claude-code"
SCHEMAS = "https://agent-plugins.org/schemas/1.0.0"
SERVER = """import sys
from clawmem.app.main import main

sys.argv[1:] = ["mcp"]
main()
"""


def bundles(wheel: Path) -> dict[str, dict[str, str | bytes]]:
    """Return the files of each bundle by their names; *wheel* is the package that the server runs."""
    described = json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_text("utf-8"))
    servers = json.loads((PLUGIN / ".mcp.json").read_text("utf-8"))["mcpServers"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    tools = asyncio.run(MemoryServer(Dispatcher(load_settings), ToolSet.CLAWMEM).list_tools())
    manifest = {
        "manifest_version": "0.4",
        "display_name": "clawmem",
        **described,
        "icon": "icon.png",
        "server": {
            "type": "uv",
            "entry_point": "server.py",
            "mcp_config": {"command": "uv", "args": ["run", "--directory", "${__dirname}", "server.py"]},
        },
        "tools": [{"name": tool.name, "description": tool.description or tool.name} for tool in tools],
        "compatibility": {"runtimes": {"python": project["requires-python"]}},
    }
    needs = (
        f'[project]\nname = "clawmem-bundle"\nversion = "{described["version"]}"\n'
        f'requires-python = "{project["requires-python"]}"\ndependencies = ["clawmem"]\n'
        f'[tool.uv.sources]\nclawmem = {{ path = "{wheel.name}" }}\n'
    )
    skills = {
        path.relative_to(PLUGIN).as_posix(): path.read_bytes()
        for path in sorted((PLUGIN / "skills").rglob("*"))
        if path.is_file()
    }
    return {
        "clawmem.mcpb": {
            "manifest.json": _json(manifest),
            "server.py": SERVER,
            "pyproject.toml": needs,
            wheel.name: wheel.read_bytes(),
            "icon.png": (PLUGIN / ".claude-plugin" / "icon.png").read_bytes(),
        },
        "clawmem-plugin.zip": {
            "plugin.json": _json({"$schema": f"{SCHEMAS}/plugin.schema.json", **described}),
            "mcp.json": _json(
                {
                    "$schema": f"{SCHEMAS}/mcp.schema.json",
                    "mcpServers": {name: {"type": "stdio", **server} for name, server in servers.items()},
                }
            ),
            **skills,
        },
    }


def _json(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def write_bundles(wheel: Path, folder: Path) -> list[Path]:
    """Write the bundles of *wheel* into *folder*, and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, files in bundles(wheel).items():
        with ZipFile(folder / name, "w", ZIP_DEFLATED) as archive:
            for file, content in files.items():
                archive.writestr(file, content)
    return sorted(folder.glob("clawmem*"))


if __name__ == "__main__":
    if sys.argv[1:] == ["--version"]:
        sys.stdout.write(json.loads((ROOT / "server.json").read_text("utf-8"))["version"] + "\n")
    else:
        with TemporaryDirectory() as place:
            command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
            subprocess.run([*command, "--wheel-dir", place, str(ROOT)], check=True)
            paths = write_bundles(next(Path(place).iterdir()), ROOT / "build" / "bundles")
        sys.stdout.writelines(f"{path}\n" for path in paths)
