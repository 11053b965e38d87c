"""Notes, and prompts about them and about something else, for tests of real clients."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

NOTES = {
    "ferry.md": "# Ferry\n\nThe night ferry to Gotland leaves Nynäshamn at 21:15.\n",
    "boiler.md": "# Boiler\n\nThe boiler pressure must stay below 1.8 bar.\n",
    "hives.md": "# Beehives\n\nThe third beehive has a queen from 2025.\n",
    "choir.md": "# Choir\n\nThe choir rehearses Fauré's Requiem on Mondays.\n",
    "loom.md": "# Loom\n\nThe loom needs a reed with 40 dents for linen.\n",
    "telescope.md": "# Telescope\n\nThe telescope mirror was coated again in March.\n",
    "orchard.md": "# Orchard\n\nThe Gravenstein apples in the orchard ripen in August.\n",
    "kiln.md": "# Kiln\n\nThe kiln fires stoneware at 1240 degrees.\n",
}
ASKED = {
    "When does the night ferry to Gotland leave?": "21:15",
    "How high may the boiler pressure be?": "1.8 bar",
    "Which beehive has the queen from 2025?": "third beehive",
    "What does the choir rehearse on Mondays?": "Requiem",
    "Which reed does the loom need for linen?": "40 dents",
    "When was the telescope mirror coated?": "March",
    "When do the Gravenstein apples ripen?": "August",
    "At how many degrees does the kiln fire stoneware?": "1240",
}
OFF_TOPIC = (
    "Who won the football world cup in 1998?",
    "Write a limerick about a penguin.",
    "What is the capital of Mongolia?",
    "Explain how a transistor works.",
)
DECIDED = "We decided to use Postgres for the ticket queue because one database is enough."
QUEUE = "Where should the ticket queue live?"
LATER = "Which database did we choose for the ticket queue?"


def write_program(file: Path) -> None:
    """Write the program ``clawmem`` of this run, as a client finds it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -P -m clawmem "$@"\n', "utf-8")
    file.chmod(0o755)
