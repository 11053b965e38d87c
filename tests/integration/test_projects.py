"""Projects of sessions: what was said in one repository about it is kept from sessions in others."""

from __future__ import annotations

import json
import os
from pathlib import Path

from command_line import Invoke, write_notes
from hook_process import ask_inside, transcript

from clawmem.app.environment.session_topics import project_of
from clawmem.app.interfaces.hooks.handlers import HANDLERS, HookContext
from clawmem.app.interfaces.hooks.protocol import HookEvent

RULE = "Always use tabs in this repository."
TASTE = "I prefer short commit messages."
PROMPT = "do we use tabs or spaces in this repository?"


def repository(root: Path) -> Path:
    (root / ".git").mkdir(parents=True)
    (root / "src").mkdir()
    return root


def work_tree(root: Path, main: Path) -> Path:
    root.mkdir(parents=True)
    (root / ".git").write_text(f"gitdir: {main}/.git/worktrees/{root.name}\n", "utf-8")
    return root


def test_the_project_of_a_folder(tmp_path: Path) -> None:
    """Subfolders and work trees belong to their repository; two of the same name are two, and a folder is its own."""
    one, other = repository(tmp_path / "a/shop"), repository(tmp_path / "b/shop")
    tree = work_tree(tmp_path / "trees/feature", one)
    submodule = one / "lib"
    submodule.mkdir()
    (submodule / ".git").write_text("gitdir: ../.git/modules/lib\n", "utf-8")
    plain, bare = tmp_path / "plain", tmp_path / "bare"
    plain.mkdir()
    tree_of_bare = work_tree(bare / "main", bare)
    (bare / ".git").write_text("gitdir: ./.bare", "utf-8")
    (tree_of_bare / ".git").write_text(f"gitdir: {bare}/.bare/worktrees/main", "utf-8")

    assert {project_of(str(folder)) for folder in (one, one / "src", tree, one / "gone")} == {str(one)}
    assert project_of(str(other / "src")) == str(other)
    assert project_of(str(submodule)) == str(submodule)
    assert project_of(str(plain)) == str(plain)
    assert project_of(str(tree_of_bare)) == project_of(str(bare)) == str(bare)
    assert [project_of(folder) for folder in ("", "shop", "/a\0b")] == ["", "", ""]


def test_a_rule_of_one_repository_stays_there(
    remembered: Invoke, environ: dict[str, str], home: Path, tmp_path: Path
) -> None:
    """A work tree of it is told the rule and the handoff, another repository only what the user prefers anywhere, with the folders that tell the two apart."""
    one, other = repository(tmp_path / "a/x/shop"), repository(tmp_path / "b/x/shop")
    said = transcript(home / "s1.jsonl", (f"{RULE} {TASTE}", "Noted.\n\nNext step: wire the exporter."))
    for name in ("decision-extractor", "handoff-generator"):
        stop = {
            "hook_event_name": "Stop",
            "session_id": "s1",
            "transcript_path": str(said),
            "cwd": str(one / "src"),
        }
        ask_inside(environ, name, stop)

    def context(name: str, event: str, cwd: Path, **fields: str) -> str:
        asked = {"hook_event_name": event, "session_id": f"{name}{cwd.name}", "cwd": str(cwd), **fields}
        return ask_inside(environ, name, asked).context

    tree = work_tree(tmp_path / "trees/feature", one)
    here, there = (
        context("session-bootstrap", "SessionStart", cwd, source="startup") for cwd in (tree, other)
    )
    assert RULE[:-1] in here
    assert "wire the exporter" in here
    assert RULE[:-1] not in there
    assert "wire the exporter" not in there
    assert TASTE[:-1] in there
    assert TASTE[:-1] + " (project a/x/shop" in there
    assert "(project" not in here
    here, there = (
        context("context-surfacing", "UserPromptSubmit", cwd, prompt=PROMPT) for cwd in (tree, other)
    )
    assert RULE[:-1] in here
    assert RULE[:-1] not in there
    # The handoff has both statements, but no prompt is shown it.
    both = "do we use tabs or spaces in this repository, and what about short commit messages?"
    here, there = (
        context("context-surfacing", "UserPromptSubmit", cwd, prompt=both) for cwd in (tree, other)
    )
    assert TASTE[:-1] in here and ", project a/x/shop" not in here
    assert TASTE[:-1] in there and ", project a/x/shop" in there
    compacted = {"source": "compact", "compact_summary": both}
    here, there = (context("postcompact-inject", "SessionStart", cwd, **compacted) for cwd in (tree, other))
    assert RULE[:-1] in here and "project a/x/shop" not in here
    assert RULE[:-1] not in there and "project a/x/shop" in there
    again = {
        **stop,
        "session_id": "s2",
        "cwd": str(other),
        "transcript_path": str(transcript(home / "s2.jsonl", ("Hello.", "Hi."), (RULE, "Noted."))),
    }
    ask_inside(environ, "decision-extractor", again)
    assert RULE[:-1] in context("context-surfacing", "UserPromptSubmit", other, prompt=f"again: {PROMPT}")
    found = json.loads(remembered("search", "tabs", "--where", f"project={one}", "--json").stdout)["results"]
    assert [found_note["content_type"] for found_note in found][:1] == ["preference"]


def test_a_memory_whose_file_changed_is_marked(
    remembered: Invoke, environ: dict[str, str], tmp_path: Path
) -> None:
    """In prompts from its repository, for cited lines or a whole file that differ or are gone; not elsewhere."""
    shop, other = repository(tmp_path / "shop"), repository(tmp_path / "other")
    queue, limits, secret = shop / "src/queue.py", shop / "limits.toml", tmp_path / "outside.md"
    for file in (queue, limits, secret):
        file.write_bytes(b"one\ntwo\nthree\n\xff\n")
    said = (
        "We decided to keep the retry of the queue in queue.py:2-3 because it is short.",
        "We decided to write every limit of the importer into `limits.toml`, and nothing into `/dev/zero`.",
        f"We decided to read the glossary in {secret}:1 and in ../outside.md:1 and in gone.py:7 before a release.",
    )
    stop = transcript(tmp_path / "s1.jsonl", *((sentence, "Noted.") for sentence in said))
    event = HookEvent("Stop", session_id="s1", cwd=str(shop / "src"), transcript_path=str(stop))
    HANDLERS["decision-extractor"](event, HookContext(environ))

    def marked(prompt: str, folder: Path) -> bool:
        asked = HookEvent("UserPromptSubmit", cwd=str(folder), prompt=prompt)
        block = HANDLERS["context-surfacing"](asked, HookContext(environ))
        assert "We decided" in block
        return "the file changed since" in block

    retry = "where do we keep the retry of the queue?"
    limit = "where do we write every limit of the importer?"
    assert not marked(retry, shop) and not marked(limit, shop)
    queue.write_bytes(b"1\ntwo\nthree\n4\n")
    limits.write_bytes(b"one\ntwo\nthree\n4\n")
    assert [marked(retry, shop), marked(limit, shop), marked(limit, other)] == [False, True, False]
    queue.write_bytes(b"one\n" + b"two\n" * 600_000)
    assert marked(retry, shop / "src")
    queue.unlink()
    os.mkfifo(queue)
    secret.unlink()
    assert marked(retry, shop)
    assert not marked("do we read the glossary before a release?", shop)
    values = json.loads(remembered("list", "--where", "cites", "--json").stdout)["documents"]
    assert len(values) == 2


def test_notes_of_another_project_rank_lower(
    remembered: Invoke, environ: dict[str, str], tmp_path: Path
) -> None:
    """A prompt of one project is given its own note first, and the other one with its project."""
    for name, script in (("shop", "ship.sh"), ("api", "launch.sh")):
        write_notes(tmp_path / name, {"deploy.md": f"# Deploy\n\nWe deploy with the script {script}.\n"})
        remembered("collection", "add", tmp_path / name, "--project", name)
    remembered("update")

    def block(folder: Path) -> str:
        folder.mkdir(parents=True)
        asked = HookEvent("UserPromptSubmit", cwd=str(folder), prompt="with which script do we deploy?")
        return HANDLERS["context-surfacing"](asked, HookContext(environ))

    ours = block(tmp_path / "w/api")
    assert ours.index("launch.sh") < ours.index("shop/deploy.md") and ", project shop" in ours
    assert ", project api" not in ours and ", project api" in block(tmp_path / "w/shop")
