"""Vectors after changes of notes, and vectors of another model."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

import pytest
from command_line import Invoke
from fault_worlds import World

from clawmem.adapters.memory.models import HashingEmbedder
from clawmem.ports.records import Vector

QUESTIONS = ("zebra stripes", "yak of the mountains", "gnu", "herd animals of the plain")
NOTES = {
    "zebra.md": "# Zebra\n\nStripes of the plain.\n",
    "yak.md": "# Yak\n\nA yak of the mountains.\n",
    "gnu.md": "# Gnu\n\nHerd animals, gnu after gnu.\n",
}


def filled(world: World) -> World:
    for name, text in NOTES.items():
        world.write(name, text)
    world.update()
    world.embed()
    return world


def answers(world: World) -> list[list[tuple[str, float]]]:
    """All answers by meaning, with scores that do not depend on who computed them."""
    return [
        [(r.document.path, round(r.relevance, 5)) for r in world.ask(question, verb).results]
        for question in QUESTIONS
        for verb in ("vsearch", "query")
    ]


class Flat(HashingEmbedder):
    """Another model, of another length."""

    fingerprint = "flat-2"
    dimensions = 2

    def embed_query(self, text: str) -> Vector:
        return struct.pack("<2f", 0.6, 0.8)

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        return [self.embed_query(text) for text in texts]


class TestChanges:
    def test_taking_turns(self, world: World) -> None:
        """What one opening adds, changes and removes the next one sees, over and over."""
        filled(world)
        for turn in range(4):
            world.open()
            world.write(f"new{turn}.md", f"Newcomer number{turn}.")
            world.write("yak.md", f"Changed to llama{turn}.", hours_ago=1 - turn / 10)
            if turn:
                (world.root / f"new{turn - 1}.md").unlink()
            world.update()
            world.embed()
            world.open(read_only=True)

            assert world.found(f"newcomer number{turn}", "vsearch")[0] == f"new{turn}.md"
            assert world.found(f"changed to llama{turn}", "vsearch")[0] == "yak.md"
            assert f"new{turn - 1}.md" not in world.found("newcomer", "vsearch")
            assert world.verify() == []

    def test_beginning_anew(self, world: World) -> None:
        """``embed --force`` leaves nothing of the former vectors to be found."""
        filled(world)
        count = world.vault.vectors.count()
        world.embedder = Flat()

        assert world.embed(force=True).failed == 0

        assert world.vault.vectors.count() == count
        assert world.vault.embeddings.fingerprint() == "flat-2"
        assert len(world.found("zebra", "vsearch")) == 3
        assert world.verify() == []

    def test_an_aborted_turn(self, world: World) -> None:
        """A transaction that is rolled back changes no answer."""
        filled(world)
        before = answers(world)
        with pytest.raises(KeyboardInterrupt), world.vault.transactions.writing():
            world.vault.embeddings.clear()
            raise KeyboardInterrupt

        assert answers(world) == before
        world.open()
        assert answers(world) == before
        assert world.verify() == []

    def test_two_vaults_at_once(self, world: World, worlds: Callable[..., World]) -> None:
        """Two open vaults over one file never show each other something stale."""
        filled(world)
        other = worlds("vault")
        for turn in range(3):
            writer, reader = (world, other) if turn % 2 else (other, world)
            writer.write("gnu.md", f"Gnu and turn{turn} turn{turn}.", hours_ago=1 - turn / 10)
            writer.update()
            writer.embed()

            assert reader.found(f"turn{turn}", "vsearch")[0] == "gnu.md"
            assert answers(reader) == answers(writer)
            assert reader.verify() == []


class TestAnotherModel:
    def test_at_the_command_line(self, world: World, invoke: Invoke) -> None:
        """A model that nobody chose, over a vault of one that is not here: both verbs refuse, then everything anew."""
        filled(world)

        by_words = invoke("query", "zebra")
        assert (by_words.exit_code, "zebra.md" in by_words.stdout) == (0, True)
        assert by_words.stderr.startswith("degraded: vector: The vault holds vectors of 'hashing")
        for verb in (("vsearch", "zebra"), ("embed",)):
            refused = invoke(*verb)
            assert (refused.exit_code, refused.stdout) == (6, "")
            assert "clawmem embed --force" in refused.stderr
        assert "3 unchanged" in invoke("update").stdout

        assert invoke("embed", "--force").exit_code == 0

        assert "zebra.md" in invoke("vsearch", "zebra stripes").stdout
        assert invoke("query", "zebra").stderr == ""
        assert invoke("verify").exit_code == 0

    def test_after_the_last_vector_went(self, world: World) -> None:
        """A vault that was emptied takes in a model of any length."""
        filled(world)
        for name in NOTES:
            (world.root / name).unlink()
        world.update()
        assert world.embed().cleaned > 0
        world.embedder = Flat()
        world.write("ox.md", "An ox.")
        world.update()

        assert world.embed().embedded == 1

        assert world.found("ox", "vsearch") == ["ox.md"]
        assert world.verify() == []
