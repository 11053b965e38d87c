"""Settings and the config file."""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from command_line import Invoke, write_file
from command_process import Run

from clawmem.app.bootstrap.lazy import lazy
from clawmem.app.environment.private_files import state_folder
from clawmem.app.operations import indexing
from clawmem.app.settings.config_file import set_value
from clawmem.app.settings.model import Settings, load_settings
from clawmem.ports.errors import ConfigError, ExtraMissing

COMMENTED = """\
# top
collections:
  # my notes
  notes:
    path: /a   # here
    context:
      sub: what lies there

  # the work ones
  work:
    path: /b
# about lifecycle
lifecycle:
  dry_run: true
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "config.yaml"


def load(config: Path, **env: str) -> Settings:
    return load_settings(environ={"CLAWMEM_CONFIG_DIR": str(config.parent), **env})


def test_the_environment_and_the_command_line_choose(config: Path) -> None:
    """INDEX_PATH beats XDG_CACHE_HOME, --vault beats both; the config file's backend yields to --backend."""
    config.write_text("backend: other\n", "utf-8")
    env = {"CLAWMEM_CONFIG_DIR": str(config.parent), "XDG_CACHE_HOME": "/cache", "INDEX_PATH": "/index"}

    assert load_settings(environ=env).vault == Path("/index")
    assert load_settings(environ=env).backend == "other"
    chosen = load_settings(environ=env, vault=Path("/given"), backend="sqlite")
    assert (chosen.vault, chosen.backend) == (Path("/given"), "sqlite")


def test_a_file_is_read(config: Path) -> None:
    """Sections, descriptions of folders and commands of collections have their effect."""
    config.write_text(
        "lifecycle: {archive_after_days: 90}\nglobal_context: my life\n"
        "collections: {a: {path: /a, autoEmbed: true, context: {sub: x}, update: git pull}}\n",
        "utf-8",
    )

    settings = load(config)

    assert settings.lifecycle.archive_after_days == 90
    assert settings.collections["a"].update == "git pull"
    assert settings.context_of("a", "sub/n.md") == "my life\n\nx"
    assert settings.embeds(["a"])
    assert not settings.embeds(["b"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [\n", "line 2"),
        ("collections:\n  a: {path: /a}\n  a: {path: /b}\n", "line 3"),
        ("- a\n", "mapping"),
        ("colections: {}\n", "'colections' is not known"),
        ("inbox: ../../etc\n", "must not contain '..'."),
        ('inbox: "a\\0b"\n', "must not contain a NUL character"),
        ("lanes: {window_start: 5, window_end: 5}\n", "never runs"),
        ("lanes: {merge_normal: 0.99}\n", "at least merge_normal"),
        ("collections: {a/b: {path: /a}}\n", "collections.a/b in "),
        ("? [a]\n: 3\n", "the key '[a]' is not known"),
        ("collections: {a: {path: 7}}\n", "must be the path of a file or folder, not 7"),
        ("collections: {a: {path: relative}}\n", "absolute"),
        ("collections: {a: {path: /a, pattern: '**/*.{md,txt'}}\n", "matches no file"),
        (
            "collections: {a: {path: /a, patern: x}}\n",
            "'patern' is not known. Remove it, or use one of: auto",
        ),
        ("ranking: magic\n", "'calibrated', 'published' or 'openclaw'"),
        ("receipt_days: 1e99\n", "is too large, not 1e+99"),
        ("receipt_days: 2026-01-01\n", "must be a whole number, not 2026-01-01"),
        ("retention_days: 36501\n", "must be less than or equal to 36500"),
        ("lifecycle: 7\n", "must be a mapping"),
        ("lifecycle: {archive_after_days: 0}\n", "lifecycle.archive_after_days"),
        ("telemetry: perhaps\n", "must be on or off, not 'perhaps'"),
        ("lifecycle: {dry_run: 'false'}\n", "must be true or false, not 'false'"),
        ("lifecycle: {type_overrides: {decision: never}}\n", "lifecycle.type_overrides.decision"),
        ("lifecycle: {exempt_collections: notes}\n", "must be a valid list, not 'notes'"),
        (b"\xff\xfe", "it is not UTF-8. Correct it"),
        ("[" * 1000, "nested too deeply"),
    ],
)
def test_a_wrong_file_is_one_sentence(config: Path, text: str | bytes, said: str) -> None:
    """What cannot be honoured is a ConfigError that names the file and the place."""
    config.write_bytes(text if isinstance(text, bytes) else text.encode())

    with pytest.raises(ConfigError) as refused:
        load(config)

    assert str(config) in str(refused.value)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_settings_without_effect(invoke: Invoke, home: Path, notes: Path) -> None:
    """Paths that lead nowhere, or twice to one folder, are named by `doctor`; commands go on."""
    folders = f"a: {{path: {notes}, context: {{/: x, gone: x, ../..: x}}}}, b: {{path: {notes}}}"
    write_file(
        home / ".config/clawmem/config.yaml",
        f"collections: {{{folders}}}\ninbox: /etc\nvaults: {{work: {notes}}}\n",
    )
    assert invoke("update").exit_code == 0

    output = invoke("doctor").stdout

    for fault in (
        "'gone' is no",
        "'../..' is no",
        "b has the same files as a",
        "inbox: /etc",
        "is a folder, and",
    ):
        assert fault in output
    assert "'/' is no" not in output


def test_a_wrong_dotenv_is_named(run: Run, home: Path) -> None:
    """Commands refuse it; a hook goes on all the same."""
    file = write_file(home / ".config" / "clawmem" / ".env", "")
    assert run("vault", "path").returncode == 0
    file.write_bytes(b"\xff\xfe")

    done = run("vault", "path")

    assert done.returncode == 4 and str(file) in done.stderr and "Traceback" not in done.stderr
    assert run("hook", "Stop").returncode == 0

    file.write_text('CLAWMEM_PROFILE=speed\nthis is "no assignment\nCLAWMEM_EMBED_MAX_CHARS=-1\n', "utf-8")
    stderr = run("vault", "path").stderr
    assert f"{file}, line 2 is ignored" in stderr and f"CLAWMEM_EMBED_MAX_CHARS in {file}: " in stderr


def test_the_environment_is_blamed_for_what_it_says(run: Run, home: Path) -> None:
    """A folder in INDEX_PATH, and a locale that cannot read the words."""
    assert "choose another INDEX_PATH." in run("query", "x", INDEX_PATH=str(home)).stderr
    said = run("query", "Königin", fresh=True, LC_ALL="POSIX", PYTHONUTF8="0").stderr
    assert "locale of this shell is not UTF-8" in said


def test_the_home_of_an_unknown_user_is_refused(run: Run, bootstrapped: Path, vault_file: Path) -> None:
    """In an argument, an option and a variable, with a sentence; a hook adds nothing, and logs it."""
    place = "~nobody1/x"
    for words in (("collection", "add", place), ("backup", place), ("--vault", place, "list")):
        done = run(*words)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1) and "~nobody1 is the home" in done.stderr
    for command, variable in (("list", "INDEX_PATH"), ("setup claude-code", "CLAUDE_CONFIG_DIR")):
        done = run(*command.split(), **{variable: place})
        assert done.returncode == 4 and done.stderr.startswith(f"clawmem: {variable}: ~nobody1 is the home")
    assert run("hook", "Stop", "--alone", INDEX_PATH=place).returncode == 0
    assert "Stop: INDEX_PATH: ~nobody1" in (state_folder(vault_file) / "errors.log").read_text("utf-8")


def test_adding_keeps_comments_and_order(config: Path) -> None:
    """A new collection goes below the others; the comments stay, in their order."""
    config.write_text(COMMENTED, "utf-8")
    config.chmod(0o400)
    with pytest.raises(ConfigError, match="it is read-only"):
        set_value(config, ("collections", "new"), {})
    config.chmod(0o600)

    set_value(config, ("collections", "new"), {"path": "/new", "pattern": "*.md"})

    assert load(config).collections["new"].path == Path("/new")
    comments = [line.partition("#")[2] for line in COMMENTED.splitlines() if "#" in line]
    written = [line.partition("#")[2] for line in config.read_text("utf-8").splitlines() if "#" in line]
    assert written == comments


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# only a comment\n",
        "collections:\n",
        "collections: {}\n# end",
        "collections: {a: {path: /a}}",
        "collections:\n  a:\n    path: /a",
        "lifecycle: {dry_run: true}\n",
        "collections:\r\n  a: {path: /a}\r\n",
    ],
)
@pytest.mark.parametrize("name", ["new", "123", "yes", "日本"])
def test_adding_works_whatever_is_there(config: Path, text: str, name: str) -> None:
    """The new collection is there, and so is all that was."""
    config.write_bytes(text.encode())
    before = load(config)

    set_value(config, ("collections", name), {"path": "/with space/ü", "pattern": "**/*.md"})

    after = load(config)
    assert after.collections[name].path == Path("/with space/ü")
    assert {**after.collections, **before.collections} == after.collections
    assert after.lifecycle == before.lifecycle
    assert text.count("#") == config.read_text("utf-8").count("#")
    ends = {line[-2:] == b"\r\n" for line in config.read_bytes().splitlines(keepends=True)}
    assert ends == {"\r\n" in text}


def test_commands_at_once_lose_no_setting(run: Run, home: Path) -> None:
    """Each change of the config file starts from the one before; a name or folder that another took is refused."""
    folders = [home / name / "notes" for name in "abcd"]
    for folder in folders:
        folder.mkdir(parents=True)

    def add(*arguments: object) -> int:
        return run("collection", "add", *arguments).returncode

    run("vault", "path")  # starts the fork server
    with ThreadPoolExecutor() as pool:
        unnamed = [*pool.map(add, folders)]
        named = [*pool.map(lambda folder: add(folder.parent, "--name", folder.parent.name), folders)]

        (home / "e").mkdir()
        same = [*pool.map(lambda name: add(home / "e", "--name", name), "efg")]

    assert sorted(unnamed) == [0, 2, 2, 2] and not any(named) and sorted(same) == [0, 2, 2]
    listed = json.loads(run("--json", "collection", "list").stdout)["collections"]
    assert sorted(collection["name"] for collection in listed)[:4] == [*"abcd"]


def test_two_folders_at_once(run: Run, invoke: Invoke, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No command advises to remove what the other has added since it began."""
    life, recipes = (write_file(home / name / "a.md", f"# {name}").parent for name in ("life", "recipes"))
    read = indexing.read_folders

    def read_late(*given: Any, **options: Any) -> Any:
        assert run("bootstrap", recipes).returncode == 0
        return read(*given, **options)

    monkeypatch.setattr(indexing, "read_folders", read_late)
    done = invoke("bootstrap", life)
    assert (done.exit_code, "no longer configured" in done.output) == (0, False), done.output


def test_a_bootstrap_that_fails_leaves_nothing(
    invoke: Invoke, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither over a file that is no vault, nor of a folder without notes, nor interrupted before the first note."""

    def files() -> dict[Path, bytes]:
        return {
            file: file.read_bytes() for file in home.rglob("*") if file.is_file() and file.suffix != ".lock"
        }

    def interrupt(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    text, notes = write_file(home / "list.txt", "no vault"), write_file(home / "notes/a.txt", "text").parent
    before = files()
    failures = [invoke("--vault", text, "bootstrap", notes), invoke("bootstrap", notes)]
    failures.append(invoke("--vault", home / "own.sqlite", "bootstrap", notes))
    failures.append(invoke("--vault", text, "serve", "--background"))
    write_file(notes / "b.md", "# B")
    with monkeypatch.context() as patches:
        patches.setattr(indexing, "reindex", interrupt)
        failures.append(invoke("bootstrap", notes))

    assert [failure.exit_code for failure in failures] == [5, 2, 2, 5, 130]
    assert files() == {**before, notes / "b.md": b"# B"}

    assert invoke("bootstrap", notes).exit_code == 0
    config = home / ".config/clawmem/config.yaml"
    settings = config.read_bytes()
    assert invoke("bootstrap", write_file(home / "other/a.txt", "text").parent).exit_code == 2
    assert config.read_bytes() == settings
    assert json.loads(invoke("--json", "status").stdout)["documents"] == 1


def test_a_missing_extra_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """A backend whose package is not there is a sentence with the command; our own bugs are not hidden."""
    monkeypatch.setitem(sys.modules, "duckdb", None)
    monkeypatch.delitem(sys.modules, "clawmem.adapters.duckdb.analytics", raising=False)
    with pytest.raises(ExtraMissing, match=r"pip install './clawmem\[duckdb\]'"):
        lazy("adapters.duckdb.analytics:DuckdbAnalytics", "duckdb")()
    with pytest.raises(ModuleNotFoundError):
        lazy("adapters.nothing:Nothing", "duckdb")()
