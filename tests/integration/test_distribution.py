"""The ways besides the wheel in which people get clawmem: image, registry of servers, bundles and the release."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import time
import tomllib
from fnmatch import fnmatch
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from bundles import PLUGIN, write_bundles
from command_line import Invoke
from jsonschema import validate
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
TEXT = {"type": "string", "minLength": 1}

# What the registry demands: https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json
SERVER = {
    "required": ["$schema", "name", "description", "version", "packages"],
    "properties": {
        "name": {"pattern": r"^io\.github\.[a-zA-Z0-9-]+/[a-zA-Z0-9._-]+$", "maxLength": 200},
        "title": {"type": "string", "minLength": 1, "maxLength": 100},
        "description": {"type": "string", "minLength": 1, "maxLength": 100},
        "version": {"type": "string", "pattern": r"^\d+\.\d+\.\d+$"},
        "packages": {
            "minItems": 1,
            "items": {
                "required": ["registryType", "identifier", "version", "transport"],
                "additionalProperties": False,
                "properties": {
                    "registryType": {"const": "pypi"},
                    "registryBaseUrl": {"const": "https://pypi.org"},
                    "identifier": {"const": "clawmem"},
                    "version": {"type": "string", "pattern": r"^\d+\.\d+\.\d+$"},
                    "runtimeHint": {"enum": ["uvx"]},
                    "transport": {"required": ["type"], "properties": {"type": {"const": "stdio"}}},
                    "packageArguments": {"items": {"required": ["type", "value"]}},
                    "environmentVariables": {"items": {"required": ["name", "description"]}},
                },
            },
        },
    },
}
# https://github.com/modelcontextprotocol/mcpb and https://agent-plugins.org
MANIFEST = {"required": ["manifest_version", "name", "version", "description", "author", "server", "tools"]}
AGENT_PLUGIN = {
    "required": ["$schema", "name"],
    "additionalProperties": False,
    "properties": {
        "name": {"pattern": "^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$"},
        "author": {"additionalProperties": False, "properties": {"name": TEXT, "email": TEXT, "url": TEXT}},
        "keywords": {"items": TEXT},
        **dict.fromkeys(("$schema", "version", "description", "homepage", "repository", "license"), TEXT),
    },
}


def instructions(name: str) -> list[str]:
    return re.findall(rf"^{name} (.*)$", DOCKERFILE, re.MULTILINE)


def yaml(path: str) -> Any:
    return YAML(typ="safe").load((ROOT / path).read_text("utf-8"))


def test_server_json_is_what_the_registry_takes(invoke: Invoke) -> None:
    """The README of the package on PyPI has to name the server, and its arguments are a command."""
    server = json.loads((ROOT / "server.json").read_text("utf-8"))
    (package,) = server["packages"]

    validate(server, SERVER)
    assert f"<!-- mcp-name: {server['name']} -->" in (ROOT / "README.md").read_text("utf-8")
    assert invoke(*(argument["value"] for argument in package["packageArguments"]), "--help").exit_code == 0


def test_the_bundles_hold_what_they_name(wheel: Path, tmp_path: Path) -> None:
    """The manifests name files of the bundle, the skills are those of the plugin, and the server starts."""
    plugin, bundle = (ZipFile(path) for path in write_bundles(wheel, tmp_path))
    manifest = json.loads(bundle.read("manifest.json"))
    validate(manifest, MANIFEST)
    validate(json.loads(plugin.read("plugin.json")), AGENT_PLUGIN)
    servers = json.loads(plugin.read("mcp.json"))["mcpServers"]
    skills = {path.relative_to(PLUGIN).as_posix() for path in (PLUGIN / "skills").rglob("*.*")}

    assert {manifest["icon"], manifest["server"]["entry_point"], "pyproject.toml"} < set(bundle.namelist())
    sources = tomllib.loads(bundle.read("pyproject.toml").decode())["tool"]["uv"]["sources"]
    assert (
        sources["clawmem"]["path"] in bundle.namelist()
    )  # not from an index, where another project has the name
    assert {"memory_retrieve", "memory_remember"} <= {tool["name"] for tool in manifest["tools"]}
    assert servers == {"clawmem": {"type": "stdio", "command": "clawmem", "args": ["mcp"]}}
    assert set(plugin.namelist()) == {"plugin.json", "mcp.json", *skills}

    bundle.extractall(tmp_path)
    asked = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
    message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": asked})
    command = [sys.executable, str(tmp_path / manifest["server"]["entry_point"])]
    environment = {"HOME": str(tmp_path), "CLAWMEM_NO_SERVER": "1"}
    done = subprocess.run(
        command, check=False, input=f"{message}\n", capture_output=True, text=True, env=environment
    )
    assert json.loads(done.stdout)["result"]["serverInfo"]["name"] == "clawmem", done.stderr


def test_the_image_is_made_of_files_that_exist() -> None:
    """Everything that is copied and every part of the package comes through .dockerignore."""
    patterns = (ROOT / ".dockerignore").read_text("utf-8").split()
    sent = {pattern[1:] for pattern in patterns if pattern.startswith("!")}
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]["packages"]
    copied = [source for line in instructions("COPY") for source in line.split()[:-1] if "--from" not in line]

    assert all((ROOT / name).exists() for name in sent)
    assert {name.split(".")[1] for name in packages[1:]} | {"integrations"} <= sent
    assert set(copied) - {"."} <= sent
    assert not [name for name in ("tests", ".git", ".venv") if any(fnmatch(name, each) for each in sent)]


def test_the_image_runs_as_nobody_special(invoke: Invoke) -> None:
    """Its commands and those of compose.yaml are commands of clawmem; it has a health check, volumes and a port."""
    user, entry, command = (instructions(name)[-1] for name in ("USER", "ENTRYPOINT", "CMD"))
    (health,) = instructions("HEALTHCHECK")
    services = yaml("compose.yaml")["services"]
    commands = [json.loads(command), *(service["command"] for service in services.values())]
    commands.append(json.loads(health.partition("CMD ")[2])[1:])

    assert user not in ("root", "0")
    assert json.loads(entry) == ["clawmem"]
    assert json.loads(instructions("VOLUME")[0]) == ["/vault", "/notes"]
    assert instructions("EXPOSE") == [json.loads(command)[-1]] == ["7438"]
    assert services["server"]["ports"] == ["127.0.0.1:7438:7438"]
    for service in services.values():
        assert [volume.rpartition(":")[2] for volume in service["volumes"]] == ["/vault", "/notes"]
    for arguments in commands:
        assert invoke(*arguments, "--help").exit_code == 0, shlex.join(arguments)
    assert invoke("serve", "--no-such-option", "--help").exit_code == 2


@pytest.mark.slow
def test_the_image_answers(tmp_path: Path) -> None:
    """Built and started: it indexes a folder, becomes healthy, and finds the note."""
    docker = shutil.which("docker")
    if not docker or subprocess.run([docker, "info"], check=False, capture_output=True).returncode:
        pytest.skip("test_the_image_answers needs a Docker that answers")
    image = pytest.importorskip("testcontainers.core.image").DockerImage
    container = pytest.importorskip("testcontainers.core.container").DockerContainer
    (tmp_path / "roof.md").write_text("# Roof\n\nThe roof was mended with slate in May.\n", "utf-8")
    tmp_path.chmod(0o755)
    with image(path=ROOT, tag="clawmem:test") as built:
        shell = "clawmem bootstrap /notes --yes && exec clawmem serve --host 0.0.0.0 --port 7438"
        started = container(str(built)).with_volume_mapping(tmp_path, "/notes").with_exposed_ports(7438)
        with started.with_kwargs(entrypoint=["sh", "-c", shell]) as running:
            wrapped = running.get_wrapped_container()
            deadline = time.monotonic() + 120
            while running.exec("clawmem serve --status").exit_code and time.monotonic() < deadline:
                time.sleep(1)
            assert running.exec("id -u").output.strip() != b"0"
            assert b"slate" in running.exec("clawmem query 'what was the roof mended with'").output
            wrapped.reload()
            assert wrapped.attrs["State"]["Health"]["Status"] in ("starting", "healthy")


def test_the_release_needs_the_switch_of_the_owner_alone() -> None:
    """On a tag: the tested files get attestations and go to PyPI by trusted publishing, without a secret."""
    workflow = yaml(".github/workflows/release.yml")
    jobs, text = workflow["jobs"], (ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8")
    steps = {name: [step.get("uses") or step["run"] for step in job["steps"]] for name, job in jobs.items()}

    assert workflow["on"] == {"push": {"tags": ["v*"]}}
    assert "secrets." not in text
    assert jobs["build"]["permissions"].items() >= {"id-token": "write", "attestations": "write"}.items()
    assert jobs["pypi"]["environment"]["name"] == "pypi"
    assert jobs["pypi"]["permissions"] == {"id-token": "write"}
    assert any(step.startswith("pypa/gh-action-pypi-publish@") for step in steps["pypi"])
    assert any(step.startswith("actions/attest-build-provenance@") for step in steps["build"])
    paths = re.findall(r"\b(?:tests|tools)/[\w/.]+", text)
    assert paths
    assert all((ROOT / path).exists() for path in paths)
