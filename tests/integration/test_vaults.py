"""Vaults by name: which there are, which one is meant, and filling them from a folder."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory
from unittest.mock import patch

import pytest
from command_line import Invoke, ask_json, write_notes
from command_process import run_process
from process_environ import process_environ

from clawmem.adapters.sqlite.vault import open_vault
from clawmem.app.bootstrap.opening import open_services
from clawmem.app.operations import dispatch
from clawmem.app.operations.dispatch import Dispatcher
from clawmem.app.services.indexing.syncing import RestrictedFolder, admitted
from clawmem.app.settings.model import Settings, load_settings, of_vault
from clawmem.ports.errors import ConfigError, InvalidInput, VaultError


def load(place: Path, config: str = "", **env: str) -> Settings:
    (place / "config.yaml").write_text(config, "utf-8")
    return load_settings(environ={"HOME": str(place), "CLAWMEM_CONFIG_DIR": str(place), **env})


class TestNames:
    """From the config file and the environment."""

    def test_the_environment_wins_and_knows_the_home(self, tmp_path: Path) -> None:
        """An entry of the same name counts instead, others are added; ``~`` is the home folder."""
        config = "vaults: {work: ~/old.sqlite, home: /home.sqlite}\n"

        vaults = load(tmp_path, config, CLAWMEM_VAULTS='{"work": "~/work.sqlite", "new": "/new"}').vaults

        assert vaults == {
            "work": Path.home() / "work.sqlite",
            "home": Path("/home.sqlite"),
            "new": Path("/new"),
        }

    @pytest.mark.parametrize(
        "said",
        ["7", "{", '["a"]', '{"a": 1}', '{"a": "b.sqlite"}', '{"a": ""}', '{"a/b": "/a"}', '{"": "/a"}'],
    )
    def test_what_is_no_vault_is_refused(self, tmp_path: Path, said: str) -> None:
        """In the file as in the environment: names are names, and files absolute."""
        with pytest.raises(ConfigError):
            load(tmp_path, f"vaults: {said}\n")
        with pytest.raises(ConfigError):
            load(tmp_path, CLAWMEM_VAULTS=said)

    def test_a_named_vault_is_alone(self, tmp_path: Path) -> None:
        """The folders of the config file are the usual vault's; everything else holds for both."""
        config = "vaults: {work: /w}\ncollections: {n: {path: /n}}\nglobal_context: life\nprofile: deep\n"
        usual = load(tmp_path, config)

        work = of_vault(usual, "work")

        assert (work.vault, work.named, work.collections, work.global_context) == (Path("/w"), "work", {}, "")
        assert (work.profile, list(usual.collections), usual.named) == ("deep", ["n"], None)


class TestOpening:
    """Late, and once."""

    def test_a_vault_is_opened_when_it_is_asked_for(self, tmp_path: Path, notes: Path) -> None:
        """By each thread once; the others stay closed, there or not."""
        settings = load(tmp_path, f"vaults: {{work: {tmp_path / 'work'}, gone: {tmp_path / 'gone'}}}\n")
        with open_services(of_vault(settings, "work")) as services:
            services.sync(str(notes), "work")
        desk = Dispatcher(lambda: settings)

        async def ask() -> None:
            for _ in range(20):
                assert (
                    await desk.in_vault(lambda services: len(services.vault.documents.latest()), "work") == 3
                )
            with pytest.raises(VaultError, match="vault sync gone FOLDER"):
                await desk.in_vault(lambda services: services.status(), "gone")

        with patch.object(dispatch, "open_services", wraps=open_services) as opening:
            asyncio.run(ask())
        desk.close()

        opened = [call.args[0].named for call in opening.call_args_list]
        assert 1 <= opened.count("work") <= dispatch.READERS
        assert opened.count("gone") == 1
        assert not settings.vault.exists()
        assert not (tmp_path / "gone").exists()


@pytest.fixture
def notes(notes: Path) -> Iterator[Path]:
    """The three notes where a person could have them: of /dev, where tests may be written, no folder is admitted."""
    with TemporaryDirectory() as folder:
        yield Path(copytree(notes, f"{folder}/notes"))


class TestSyncing:
    """A folder into a vault, as a program may ask for it."""

    def test_a_pass_and_another(self, invoke: Invoke, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """What is new is added, what is gone goes; the usual vault and the config file are not touched."""
        monkeypatch.setenv("CLAWMEM_VAULTS", '{"work": "~/work.sqlite"}')

        first = invoke("vault", "sync", "work", notes, "--json")
        (notes / "people/haruka.md").unlink()
        second = invoke("vault", "sync", "work", notes, "--embed")

        other = invoke("vault", "sync", "work", notes / "decisions")
        assert f"run: clawmem vault sync work {notes}/decisions --allow-empty" in other.stderr
        assert str(notes) in invoke("--vault", "work", "collection", "list").stdout
        notes = notes.rename(notes.with_name("moved"))
        assert "0 removed, 2 unchanged" in invoke("vault", "sync", "work", notes).stdout

        (notes / "none").mkdir()
        (notes / "none/a.txt").touch()
        empty = invoke("vault", "sync", "work", notes / "none", "--collection", "none")
        assert (empty.exit_code, "Excluded: 1 by the pattern **/*.md (.txt)" in empty.stderr) == (2, True)
        assert json.loads(first.stdout)["added"] == 3
        assert "work: 0 added, 0 updated, 1 removed, 2 unchanged\nVectors: " in second.stdout
        assert invoke("--vault", "work", "collection", "add", notes / "decisions").exit_code == 0
        assert "decisions: 2 added" in invoke("--vault", "work", "update").stdout
        assert ask_json(invoke, "collection", "list")["collections"] == []
        assert "work/decisions/2026-02-11-redis.md" in invoke("--vault", "work", "query", "redis").stdout
        listed = json.loads(invoke("vault", "list", "--json").stdout)
        assert (listed["vaults"], listed["missing"]) == ({"work": str(Path.home() / "work.sqlite")}, [])
        assert not (Path.home() / ".cache").exists()
        assert not (Path.home() / ".config").exists()

    def test_a_repetition_without_the_pattern_removes_nothing(self, invoke: Invoke, notes: Path) -> None:
        """The files that only the former pattern matches are named; a file that is gone goes."""
        for name in ("figs.txt", "plums.txt"):
            (notes / name).write_text("Jam.", "utf-8")
        assert invoke("vault", "sync", "work", notes, "--pattern", "**/*.{md,txt}").exit_code == 0
        (notes / "plums.txt").unlink()

        refused = invoke("vault", "sync", "work", notes)

        assert refused.exit_code == 2 and "figs.txt of collection work would be removed" in refused.stderr
        assert "2 removed" in invoke("vault", "sync", "work", notes, "--allow-empty").stdout
        assert invoke("vault", "sync", "work", notes).exit_code == 0

    @pytest.mark.parametrize("content", [b"", None])
    def test_what_a_killed_command_left(
        self, invoke: Invoke, notes: Path, home: Path, content: bytes | None
    ) -> None:
        """The same command begins anew in a file without documents; one with documents stays, and advice names the vault."""
        (notes / "vendor").mkdir()
        file, killed_at = home / ".cache/clawmem/work.sqlite", time.time() - 5
        file.parent.mkdir(parents=True)
        if content is None:
            open_vault(str(file)).close()
        else:
            file.write_bytes(content)
        os.utime(file, (killed_at, killed_at))

        again = invoke("vault", "sync", "work", notes)
        assert (again.exit_code, "work: 3 added" in again.stdout) == (0, True)
        assert "run: clawmem --vault work doctor FILE" in again.stdout
        assert "Run: clawmem vault sync work FOLDER" in invoke("--vault", "work", "update").stderr
        config = home / ".config/clawmem/config.yaml"
        config.unlink()
        os.utime(file, (killed_at, killed_at))
        refused = invoke("vault", "sync", "work", notes)
        assert (refused.exit_code, f"write in {config} below vaults:" in refused.stderr) == (2, True)

    def test_commands_at_once(self, remembered: Invoke, notes: Path, home: Path) -> None:
        """Each file is whole, no finished one is replaced or deleted, and the command that came too late says so."""
        for line in "backup copy.sqlite", "export copy.zip", f"vault sync work {notes}":
            with ThreadPoolExecutor() as pool:
                run = partial(run_process, *line.split(), environ=process_environ(home), cwd=home)
                started = [pool.submit(run) for _ in "123"]
            done = [each.result() for each in started]

            assert 0 in {each.returncode for each in done} <= {0, 2}, done
            for late in (each for each in done if each.returncode):
                assert any(reason in late.stderr for reason in ("exists", "there already")), late
        for vault in home / "copy.sqlite", "work":
            assert ask_json(remembered, "--vault", vault, "--json", "status")["documents"] == 3
        assert (
            remembered("--vault", home / "new.sqlite", "import", "bundle", home / "copy.zip").exit_code == 0
        )

    @pytest.mark.parametrize(
        ("arguments", "code", "said"),
        [
            (("no/body", "~/nothing"), 2, "is no name for a vault"),
            (("nobody", "~/nothing"), 2, "does not exist. Name a folder."),
            (("work", "/etc"), 2, "belongs to the system"),
            (("work", "~"), 2, "is a home folder as a whole"),
            (("work", "."), 2, "is a home folder as a whole"),
            (("work", ".."), 2, "leads upwards"),
            (("work", "~/nothing"), 2, "does not exist"),
            (("new", "~/nothing", "--pattern", "../*"), 2, "'../*' matches no file"),
            (("new", "{notes}", "--pattern", "["), 2, "matches no file"),
            (("new", "{notes}", "--collection", "a/b"), 2, "is no name for a collection"),
            (("n" * 300, "{notes}"), 2, "is longer than 100 bytes"),
            (("work", "~/notes/../notes"), 2, "leads upwards"),
        ],
    )
    def test_what_is_refused_makes_no_vault(
        self, invoke: Invoke, home: Path, monkeypatch: pytest.MonkeyPatch, notes: Path,
        arguments: tuple[str, ...], code: int, said: str,
    ) -> None:  # fmt: skip
        """Nothing was read, and there is no file that was not there before."""
        monkeypatch.setenv("CLAWMEM_VAULTS", '{"work": "~/work.sqlite"}')

        refused = invoke("vault", "sync", *(word.replace("{notes}", str(notes)) for word in arguments))

        assert (refused.exit_code, said in refused.stderr) == (code, True), refused.output
        assert not [path for path in home.rglob("*") if path.is_file()]

    def test_credentials_and_own_files_are_skipped_by_name_and_content(
        self, invoke: Invoke, home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Each skipped file is named with its reason; a note that quotes a key among its words is read."""
        monkeypatch.setenv("CLAWMEM_VAULTS", json.dumps({"work": str(home / "desk/work.sqlite")}))
        key = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjE\nAAAABG5vbmUAAAAE\n-----END OPENSSH PRIVATE KEY-----\n"
        files = {
            "desk/lamp.md": "# Lamp\n\nThe lamp is green.\n",
            "desk/quoted.md": f"# Rotation\n\nThe old key of the build server looked like this and was revoked:\n\n{key}\n"
            + "It was replaced in spring by a key that only the release job can read. " * 4,
            "desk/key.md": key,
            "desk/tokens.md": "API_KEY=sk-proj-9aF3kd8Qm2Zx7Lp0Vt5Rw1Yb\nDB_PASSWORD=Tr0ub4dor8x3xyzQ\n",
            "desk/history.md": "SQLite format 3\0 and so on",
            "desk/keyrings/login.md": "# Login\n",
            "desk/work.sqlite.hooks/topic.md": "# Topic\n",
        }
        write_notes(home, files)

        read = json.loads(invoke("vault", "sync", "work", "desk", "--json").stdout)

        assert read["added"] == 2
        assert sorted(read["collections"][0]["problems"]) == [
            "history.md was skipped: it is an SQLite database.",
            "key.md was skipped: it is a private key.",
            "keyrings was skipped: it is hidden, or a place for keys and passwords.",
            "tokens.md was skipped: it is a list of credentials.",
            "work.sqlite.hooks was skipped: it belongs to clawmem itself.",
        ]

    def test_hard_links_are_read_for_persons_and_skipped_for_programs(self, tmp_path: Path) -> None:
        """The other name of a hard link may lie in any folder."""
        home = tmp_path / "home"
        for folder in ("notes", "other", "vaults"):
            (home / folder).mkdir(parents=True)
        (home / "other/private.md").write_text("# Private\n", "utf-8")
        (home / "notes/lamp.md").write_text("# Lamp\n", "utf-8")
        (home / "notes/innocent.md").hardlink_to(home / "other/private.md")

        with open_services(load(home, INDEX_PATH=str(home / "vaults/a.sqlite"))) as services:
            for_program = services.sync(str(home / "notes"), "program", allowed=[home / "notes"])
            for_person = services.sync(str(home / "notes"), "person")

        assert (for_program.added, for_person.added) == (1, 2)
        assert len(for_program.problems) == 1
        assert for_program.problems[0].startswith("innocent.md was skipped: it has hard links")

    def test_programs_read_only_below_listed_folders(self, tmp_path: Path) -> None:
        """Folders of collections and those under sync_folders, by their real places; the remedy names the key."""
        home = tmp_path / "home"
        for folder in ("notes/deep", "further", "notes2", "diary"):
            (home / folder).mkdir(parents=True)
        (home / "notes/out").symlink_to(home / "diary", target_is_directory=True)
        config = f"collections: {{n: {{path: {home / 'notes'}}}}}\nsync_folders: [{home / 'further'}]\n"
        allowed = load(home, config).folders_for_programs

        for name in ("notes", "notes/deep", "further"):
            assert admitted(str(home / name), home, allowed=allowed) == home / name
        for name in ("notes2", "diary", "notes/out"):
            with pytest.raises(RestrictedFolder, match="sync_folders"):
                admitted(str(home / name), home, allowed=allowed)
        with pytest.raises(RestrictedFolder, match="sync_folders"):
            admitted(str(home / "notes"), home, allowed=[])

    def test_the_folder_of_the_vault_is_not_read(self, tmp_path: Path) -> None:
        """Also where the environment puts it elsewhere than in the cache folder of the home."""
        home = tmp_path / "home"
        (home / "store/clawmem/further").mkdir(parents=True)
        own = [home / "store/clawmem/index.sqlite"]

        for name in ("store/clawmem", "store/clawmem/further"):
            with pytest.raises(RestrictedFolder, match="belongs to clawmem itself"):
                admitted(str(home / name), home, own=own)

    def test_links_lead_nowhere_else(self, tmp_path: Path) -> None:
        """A folder is judged by what it is as well; a link inside of it is not followed."""
        home = tmp_path / "home"
        (home / "notes").mkdir(parents=True)
        (home / ".ssh").mkdir()
        (home / ".ssh/key.md").write_text("# Key\n", "utf-8")
        (home / "notes/inside").symlink_to(home / ".ssh", target_is_directory=True)
        (home / "innocent").symlink_to(home / ".ssh", target_is_directory=True)
        (home / "system").symlink_to("/etc", target_is_directory=True)
        (home / "again").symlink_to(home, target_is_directory=True)
        (home / "loop").symlink_to(home / "loop")
        (tmp_path / "alias").symlink_to(home, target_is_directory=True)

        for name in ("innocent", "system", "again"):
            with pytest.raises(RestrictedFolder):
                admitted(str(home / name), home)
        with pytest.raises(InvalidInput, match="not a folder"):
            admitted(str(home / "loop"), home)
        with open_services(load(tmp_path)) as services, pytest.raises(InvalidInput, match="No readable file"):
            services.sync(str(home / "notes"), "notes")
        # Where the home itself is a link, either of its names will do.
        assert admitted("~/notes", tmp_path / "alias") == home / "notes"
        assert admitted(str(home / "notes"), tmp_path / "alias") == home / "notes"
        with pytest.raises(RestrictedFolder):
            admitted(str(home), tmp_path / "alias")
