"""The OpenCode plugin as setup installs it, over the real command, in a process of Node, with a stand-in for OpenCode."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import Invoke
from waiting import eventually

HOST = Path(__file__).parents[1] / "data" / "opencode_host.mjs"
QUESTION = "Where do login sessions live, and for how many days?"
OTHER = "Where does the captain keep the spare key?"
DECIDED = "We decided to use Postgres for the queue because one database is enough."

Host = Callable[..., list[Any]]
node = shutil.which("node")
pytestmark = pytest.mark.skipif(node is None, reason="needs Node")


@pytest.fixture
def host(remembered: Invoke, program: Path, home: Path, environ: dict[str, str], tmp_path: Path) -> Host:
    """Run steps in the stand-in, over the vault of the notes."""
    assert remembered("setup", "opencode").exit_code == 0
    [installed] = home.rglob("plugin/clawmem.js")
    module = tmp_path / "clawmem.mjs"  # Node takes the ending as the kind of module
    command = json.dumps({"command": [str(program)]})[1:-1]
    module.write_text(re.sub(r'"command": \[[^]]*\]', command, installed.read_text("utf-8")), "utf-8")

    def run(*steps: dict[str, Any], **environment: str) -> list[Any]:
        asked = {"plugin": str(module), "children": ["child"], "steps": steps}
        done = subprocess.run(
            [str(node), str(HOST)], input=json.dumps(asked).encode(), capture_output=True, cwd=home,
            env={**environ, "XDG_DATA_HOME": str(home / "data"), **environment}, timeout=120, check=True,
        )  # fmt: skip
        return json.loads(done.stdout)

    return run


def message(text: str, session: str = "ses_1") -> dict[str, Any]:
    part = {"id": "prt_1", "sessionID": session, "messageID": "msg_1", "type": "text", "text": text}
    return {
        "hook": "chat.message",
        "input": {"sessionID": session},
        "output": {"message": {"id": "msg_1"}, "parts": [part]},
    }


def answer(text: str, session: str = "ses_1") -> dict[str, Any]:
    ids = {"sessionID": session, "messageID": "msg_2", "partID": "prt_2"}
    return {"hook": "experimental.text.complete", "input": ids, "output": {"text": text}}


def idle(session: str = "ses_1") -> dict[str, Any]:
    return {
        "hook": "event",
        "input": {"event": {"type": "session.idle", "properties": {"sessionID": session}}},
    }


def test_a_session(host: Host, remembered: Invoke, home: Path) -> None:
    """The block is a hidden part of the prompt; the turn is captured, and the session's own state goes into a compaction."""
    edit = {"tool": "edit", "sessionID": "ses_1", "callID": "c1", "args": {"filePath": "/work/queue.py"}}
    hook = "experimental.session.compacting"
    compactions = [
        {"hook": hook, "input": {"sessionID": name}, "output": {"context": []}} for name in ("ses_1", "SES_1")
    ]

    known, *_ = host(
        message(f'"{QUESTION}"'), message(OTHER, "SES_1"), {"hook": "tool.execute.after", "input": edit, "output": {}},
        answer("In a drawer.", "SES_1"), answer(DECIDED), idle("SES_1"), idle(),
    )  # fmt: skip

    own, added = known["parts"]
    assert own["text"] == f'"{QUESTION}"'  # as `opencode run` writes it
    assert "Redis for 14 days" in added["text"]
    assert added["synthetic"] is True and added["id"] > own["id"] and added["messageID"] == "msg_1"
    # On a busy machine the hook may reach its deadline before it has saved the state.
    eventually(lambda: all(compaction["context"] for compaction in host(*compactions)), 120)
    states = ["".join(compaction["context"]) for compaction in host(*compactions)]
    expected = (QUESTION, "/work/queue.py", OTHER)
    assert [[words in state for words in expected] for state in states] == [[1, 1, 0], [0, 0, 1]]
    eventually(lambda: "Postgres for the queue" in remembered("list").output)
    [transcript] = home.rglob("ses_1-*/transcript.jsonl")
    assert transcript.stat().st_mode & 0o777 == 0o600
    assert "Redis" not in transcript.read_text("utf-8")
    assert f'"content":"{QUESTION}"' in transcript.read_text("utf-8")


def test_what_is_not_the_user_s(host: Host, home: Path) -> None:
    """Another topic gets nothing; a subagent's session neither gets nor leaves anything; a broken program is no error."""
    off, child, *_ = host(
        message("who won the football world cup?"), message(QUESTION, "child"), answer(DECIDED, "child"), idle("child")
    )  # fmt: skip

    assert len(off["parts"]) == len(child["parts"]) == 1
    assert not list(home.rglob("child/*"))
    [plugin] = home.parent.rglob("clawmem.mjs")
    plugin.write_text(plugin.read_text("utf-8").replace('"command": ["', '"command": ["/gone'), "utf-8")
    [silent, *_] = host(message(QUESTION), answer(DECIDED), idle())
    assert len(silent["parts"]) == 1
