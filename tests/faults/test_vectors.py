"""Vectors after changes of notes, and vectors of another model."""

from __future__ import annotations

from collections.abc import Callable

from fault_worlds import World

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
