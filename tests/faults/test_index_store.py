"""Indexes in an object store that fails, hangs or is gone: answers come from what is left, and say so."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import pytest
from command_line import Invoke, write_file
from object_store import ObjectStore
from typer.testing import Result

from clawmem.adapters.lancedb import derived_index
from clawmem.app.services.retrieval.retrieve import DEADLINE_S

ANSWER_WITHIN = derived_index.ANSWER_WITHIN
SLACK_S = 20.0  # for opening the vault, and a busy machine
ANIMALS = "zebra yak gnu ibex lynx otter".split()
VERBS = ("search", "query --mode=vectors", "query")


@pytest.fixture(scope="module")
def store() -> Iterator[ObjectStore]:
    """One for all tests of this file, each of which has a bucket of its own."""
    made = ObjectStore()
    yield made
    made.be("refusing")


class RemoteVault:
    """The command line over a vault whose indexes lie in the store."""

    def __init__(self, store: ObjectStore, invoke: Invoke, place: Path, patching: pytest.MonkeyPatch) -> None:
        self._store = store
        self._invoke = invoke
        self._place = place
        self._patching = patching
        self._options = store.options()
        self.store_is("open")

    def store_is(self, mood: str) -> None:
        """Change the mood of the store. When it is bad there is no need to wait for it for long."""
        self._store.be(mood)
        self._patching.setattr(derived_index, "ANSWER_WITHIN", ANSWER_WITHIN if mood == "open" else 0.5)
        options = self._options | {"timeout": "30s" if mood == "open" else "1500ms"}
        collections = {"notes": {"path": str(self._place / "notes")}}
        settings = {"backend": "lancedb", "backend_options": options, "collections": collections}
        config = self._place / "home/.config/clawmem/config.yaml"
        config.write_text(json.dumps(settings), "utf-8")

    def write(self, animal: str) -> None:
        file = self._place / f"notes/{animal}.md"
        write_file(file, f"# The {animal}\n\nThe {animal} eats grass.\n")

    def delete(self, animal: str) -> None:
        (self._place / f"notes/{animal}.md").unlink()

    def run(self, *args: str) -> Result:
        result = self._invoke(*args)
        assert result.exit_code == 0, result.output
        return result

    def find(self, verb: str, animal: str) -> tuple[list[str], str]:
        """The animals that a question finds, in time, and what is said about the answer."""
        began = monotonic()
        answer = self.run(verb, animal, "--json")
        assert monotonic() - began < DEADLINE_S + SLACK_S
        return [Path(found["path"]).stem for found in json.loads(answer.stdout)["results"]], answer.stderr


@pytest.fixture
def remote(
    store: ObjectStore, invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> RemoteVault:
    """Such a vault with a note on each animal, all of it carried to the store."""
    store.be("open")
    made = RemoteVault(store, invoke, tmp_path, monkeypatch)
    for animal in ANIMALS:
        made.write(animal)
    assert "Made the vault" in made.run("update", "--embed").stderr
    assert json.loads(made.run("status", "--json").stdout)["info"]["backend"] == "lancedb"
    return made


@pytest.mark.parametrize(
    "mood",
    [
        "failing",
        pytest.param("hanging", marks=pytest.mark.slow),
        pytest.param("refusing", marks=pytest.mark.slow),
    ],
)
def test_a_store_that_comes_back(remote: RemoteVault, mood: str) -> None:
    """Meanwhile questions are answered in time, notes are taken in and found; afterwards everything is carried there."""
    assert ANSWER_WITHIN < DEADLINE_S
    remote.store_is(mood)

    assert "index lags" in take_in(remote).stderr
    for verb in VERBS:
        found, said = remote.find(verb, "okapi")
        assert found[0] == "okapi"
        assert "yak" not in found
        assert "degraded" in said
    assert remote.find("query", "zebra")[0][0] == "zebra"  # older than the trouble: its vector is a record

    remote.store_is("open")
    assert remote.run("update").stderr == ""
    assert remote.run("doctor", "--verify").stderr == ""
    for verb in VERBS:
        found, said = remote.find(verb, "okapi")
        assert (found[0], said) == ("okapi", "")


def test_leaving_a_store_that_is_gone(remote: RemoteVault) -> None:
    """One command moves the indexes away from a store that never comes back."""
    remote.store_is("refusing")

    remote.run("rebuild", "--backend", "sqlite")

    for verb in VERBS:
        answer = remote.run(verb, "--backend", "sqlite", "zebra", "--json")
        assert "zebra" in answer.stdout
        assert answer.stderr == ""


def take_in(remote: RemoteVault) -> Result:
    """One note more, and one less."""
    remote.write("okapi")
    remote.delete("yak")
    return remote.run("update", "--embed")
