"""
Stores that real memory tools write, and sample exports that packages publish, imported.

Run with ``make fixtures``, which installs the tools into the folder that ``STORES_FOLDER`` names. A tool that is not installed is
skipped. No tool calls a model: vectors are made by a stand-in.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from command_line import Invoke, ask_json

pytestmark = pytest.mark.client

FOLDER = Path(os.environ.get("STORES_FOLDER", "/nowhere"))
KILN, CLAY = "The kiln fires at nine hundred and fifty degrees.", "Clay comes from Delft."
PATIENCE_S = 300

MEM0 = """
import sys
from mem0 import Memory
from mem0.embeddings.openai import OpenAIEmbedding
OpenAIEmbedding.embed = lambda self, text, *more, **named: [float(len(text) % 7 + 1)] * 8
OpenAIEmbedding.embed_batch = lambda self, texts, *more, **named: [self.embed(one) for one in texts]
place, kiln, clay = sys.argv[1:]
vectors = {"path": f"{place}/qdrant", "on_disk": True, "embedding_model_dims": 8}
memory = Memory.from_config({
    "history_db_path": f"{place}/history.db", "vector_store": {"provider": "qdrant", "config": vectors},
})
memory.add(kiln, user_id="ann", infer=False, metadata={"category": "craft"})
gone = memory.add(clay, user_id="ann", infer=False)
memory.delete(gone["results"][0]["id"])
memory.vector_store.client.close()
"""

CLAUDE_MEM = """
const [, , program, place, kiln] = process.argv;
const { SessionStore } = require(program);
const store = new SessionStore(`${place}/claude-mem.db`);
const session = store.createSDKSession("talk", "pottery", "How hot is the kiln?");
const at = [1, 0, Date.parse("2025-03-04T05:06:07Z")];
store.updateMemorySessionId(session, "memory");
store.saveUserPrompt("talk", 1, "How hot is the kiln?");
store.storeObservation("memory", "pottery", {
  type: "decision", title: "Hotter kiln", subtitle: "", narrative: kiln,
  facts: ["It glazes better."], concepts: ["craft"], files_read: ["kiln.py"], files_modified: [],
}, ...at);
store.storeSummary("memory", "pottery", { request: "Tune the kiln", learned: "Heat matters" }, ...at);
store.close();
"""


def run(*command: object, **environ: str) -> None:
    """Run a program of a tool, which has to succeed."""
    done = subprocess.run(
        list(map(str, command)),
        env={"PATH": os.environ["PATH"], **environ},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def mem0(place: Path) -> Path:
    """Add two memories without a model, and delete one."""
    names = {"HOME": str(place), "MEM0_DIR": str(place), "MEM0_TELEMETRY": "False", "OPENAI_API_KEY": "none"}
    run(FOLDER / "mem0/bin/python", "-c", MEM0, place, KILN, CLAY, **names)
    return place


def claude_mem(place: Path) -> Path:
    """Store an observation, a summary and a prompt with the class of its worker, in its interpreter."""
    (place / "write.cjs").write_text(CLAUDE_MEM, "utf-8")
    folder = FOLDER / "claude-mem"
    [interpreter] = folder.glob("node_modules/@oven/*/bin/bun")
    program = folder / "package/plugin/sqlite/SessionStore.js"
    run(
        interpreter,
        place / "write.cjs",
        program,
        place,
        KILN,
        HOME=str(place),
        CLAUDE_MEM_DATA_DIR=str(place),
    )
    return place


def basic_memory(place: Path) -> Path:
    """Write two notes with the command line, one of which links to the other."""
    program = FOLDER / "basic-memory/bin/basic-memory"
    names = {"HOME": str(place), "BASIC_MEMORY_HOME": str(place / "notes"), "BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED": "false"}  # fmt: skip
    run(program, "project", "add", "pottery", place / "notes", **names)
    for title, text in (("Clay", CLAY), ("Kiln", f"- [fact] {KILN} #heat\n\n## Relations\n- needs [[Clay]]")):
        note = (
            "--project",
            "pottery",
            "--title",
            title,
            "--folder",
            "craft",
            "--tags",
            "craft",
            "--content",
            text,
        )
        run(program, "tool", "write-note", *note, **names)
    return place / "notes"


WRITERS: dict[str, tuple[str, Callable[[Path], Path], Mapping[str, Any]]] = {
    "mem0": ("mem0", mem0, {"imported": 1, "unmatched": {"deleted memory": 1}}),
    "claude-mem": ("claude-mem", claude_mem, {"imported": 2, "unmatched": {"prompt": 1}}),
    "basic-memory": ("basic-memory", basic_memory, {"imported": 2, "relations": 1, "unmatched": {}}),
}


def require(program: str) -> None:
    if not (FOLDER / f"{program}.installed").exists():
        pytest.skip(f"Needs {program}: make fixtures installs it")


@pytest.mark.parametrize("tool", WRITERS)
def test_the_store_of_the_tool_itself(invoke: Invoke, tmp_path: Path, tool: str) -> None:
    """Its memories are found, a repetition changes nothing, and the import is taken back with a proof."""
    program, write, expected = WRITERS[tool]
    require(program)
    place = tmp_path / "store"
    place.mkdir()
    store = write(place)

    made = ask_json(invoke, "import", tool, store)

    assert {name: made[name] for name in expected} == dict(expected)
    [found, *_] = ask_json(invoke, "search", "kiln degrees")["results"]
    assert KILN in invoke("get", found["file"]).output
    again = ask_json(invoke, "import", tool, store)
    assert (again["imported"], again["updated"], again["unchanged"]) == (0, 0, expected["imported"])
    done = ask_json(invoke, "mine", "--forget", tool, "--yes")["forgotten"]
    assert (done["documents"], any(done["probes"].values())) == (expected["imported"], False)


# By source: conversations, documents, and a title or question with a word of the sample that answers it.
SAMPLES: dict[str, tuple[str, dict[str, tuple[int, int]], str, str]] = {
    "ChatGPT, partitioned ZIP": (
        "logactyl-*/tests/fixtures/chatgpt-*.zip", {"chatgpt": (6, 4)}, "basic text chat", "Synthetic basic text chat"),
    "ChatGPT, branches": (
        "chat_history-*/tests/fixtures/chatgpt_*.json", {"chatgpt": (1, 1)}, "branching", "Branching Conversation"),
    "Claude.ai, projects": (
        "logactyl-*/tests/fixtures/claude-*.zip", {"claude.ai": (6, 6)}, "plain chat", "Synthetic plain chat"),
    "Claude.ai, tools": (
        "chat_history-*/tests/fixtures/claude_*.json", {"claude.ai": (1, 1)}, "tool flow", "Claude tool flow"),
}  # fmt: skip


@pytest.mark.parametrize("sample", SAMPLES)
def test_the_sample_export_of_a_package(invoke: Invoke, sample: str) -> None:
    """Every conversation of it becomes a document that is found by its title or its words; a repetition adds nothing."""
    require("samples")
    pattern, expected, asked, title = SAMPLES[sample]
    [file] = (one for one in (FOLDER / "samples").glob(pattern) if one.suffix != ".gz")

    made = ask_json(invoke, "mine", file)

    counts = {name: (one["conversations"], one["added"]) for name, one in made["sources"].items()}
    assert (counts, made["faults"]) == (expected, [])
    assert title in {one["title"] for one in ask_json(invoke, "search", asked)["results"]}
    again = ask_json(invoke, "mine", file)
    assert (again["skipped"], again["sources"]) == (1, {})
