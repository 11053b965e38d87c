"""What pyproject.toml says about the package; the test of the wheel compares its files with those on disk."""

from __future__ import annotations

import json
import re
import tomllib
from itertools import chain
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT = PYPROJECT["project"]


def test_what_is_written_by_hand_names_the_version_of_an_archive() -> None:
    """A release changes these files; the build takes its version from the tag."""
    integrations = ROOT / "integrations"
    manifests = (
        "claude-code/.claude-plugin/plugin.json",
        "openclaw/openclaw.plugin.json",
        "openclaw/package.json",
    )
    version = PYPROJECT["tool"]["setuptools_scm"]["fallback_version"]

    assert {json.loads((integrations / name).read_text("utf-8"))["version"] for name in manifests} == {
        version
    }
    server = json.loads((ROOT / "server.json").read_text("utf-8"))
    assert {server["version"], *(package["version"] for package in server["packages"])} == {version}
    assert f"\nversion: {version}\n" in (integrations / "hermes/clawmem/plugin.yaml").read_text("utf-8")
    assert f'VERSION = "{version}"' in (ROOT / "app" / "version.py").read_text("utf-8")


def test_the_extras_exist() -> None:
    """What the documentation tells people to install can be installed."""
    assert PROJECT["optional-dependencies"].keys() >= {"contracts", "duckdb", "lancedb", "local", "tantivy"}
    assert all(PROJECT["optional-dependencies"].values())


def test_the_lock_is_up_to_date() -> None:
    """``uv lock`` writes it anew; it names the public index alone."""
    text = (ROOT / "uv.lock").read_text("utf-8")
    own = next(package for package in tomllib.loads(text)["package"] if package["name"] == "clawmem")[
        "metadata"
    ]
    written = {
        "requires-dist": [*PROJECT["dependencies"], *chain(*PROJECT["optional-dependencies"].values())],
        "dev": PYPROJECT["dependency-groups"]["dev"],
    }
    locked = {"requires-dist": own["requires-dist"], "dev": own["requires-dev"]["dev"]}

    assert set(re.findall(r'registry = "(.+?)"', text)) == {"https://pypi.org/simple"}
    for group, requirements in written.items():
        names = sorted(canonicalize_name(Requirement(text).name) for text in requirements)
        assert sorted(package["name"] for package in locked[group]) == names


def test_the_core_needs_no_extra() -> None:
    """What an extra brings is not also installed for everybody."""
    core = {requirement.split(">")[0] for requirement in PROJECT["dependencies"]}
    assert not core & {r.split(">")[0] for some in PROJECT["optional-dependencies"].values() for r in some}


def test_the_command_is_the_light_one() -> None:
    """``clawmem`` starts at the module that imports nothing before it must."""
    assert PROJECT["scripts"]["clawmem"] == "clawmem.__main__:main"
