"""Constructs of Obsidian, Logseq and Dataview: each is found at its line, and comments are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Invoke, ask_json, write_notes

NOTE = """---
status: open
---
# Garden

> [!warning]- Frost
> Cover the figs before the first night below zero.
> > [!tip] Use fleece

- [ ] Prune the quince 📅 2024-03-01 #task
- [x] Oil the shears
\t- [ ] Sharpen the scythe [due:: 2024-04-05]

The compost is turned in spring.[^heap] It smells of earth. ^compost

[^heap]: The heap behind the barn.
[^2]: A remark about ladybirds.

mood:: cheerful
harvest:: nine pumpkins

| Bed | Crop |
|---|---|
| north | leeks |

$$
area = \\pi r^2

$$

```mermaid
graph TD
  Sowing --> Sprout
```

```dataview
TABLE hyssop FROM "Beds"
```

{{query (task TODO) [[lovage]] }}

<!-- The combination
is marigold --> Visible words follow.

%% Aunt Hilda owes fifty. %%

Inline %%hidden trowel%% remark and a ==highlighted hosepipe==.

`<!-- kept -->` wheelbarrow, and 50%% of the manure.

- A block of Logseq about nettles
  id:: 66f1a2b3-0000-4000-8000-000000000001
- template:: Round
  template-including-parent:: false
	- TODO water the sorrel <!-- daily -->
- Rain barrel
"""

LINES = {
    "figs below zero": 6,  # with the title of the callout
    "fleece": 8,
    "quince": 10,
    "scythe": 12,
    "compost smells": 14,
    "heap barn": 16,
    "ladybirds": 17,
    "mood cheerful": 19,
    "pumpkins": 20,
    "leeks": 24,
    "area pi": 27,
    "sowing sprout": 32,  # with the beginning of the statement
    "visible words": 43,
    "hosepipe": 47,
    "wheelbarrow kept": 49,
    "manure": 49,
    "nettles": 51,
    "rain barrel": 56,
}

WEEDS = (
    "Weeds: {{embed ((66f1a2b3-0000-4000-8000-000000000001))}}, ((66f1a2b3-0000-4000-8000-00000000ffff)).\n"
)


@pytest.fixture
def garden(invoke: Invoke, home: Path) -> Invoke:
    write_notes(home / "garden", {"garden.md": NOTE, "note.md": f"<!-- # Wrong -->\n# Right\n\n{WEEDS}"})
    invoke("bootstrap", home / "garden", "--skip-embed")
    return invoke


def test_each_construct_is_found_at_its_line(garden: Invoke) -> None:
    """Callouts, tasks, footnotes, fields, tables, formulas, diagrams, and text next to comments."""
    found = {words: ask_json(garden, "search", words)["results"] for words in LINES}

    assert {words: [one["start_line"] for one in results] for words, results in found.items()} == {
        words: [line] for words, line in LINES.items()
    }


def test_comments_queries_and_templates_are_not_indexed(garden: Invoke) -> None:
    """Neither as text nor as title, and get does not show it."""
    for words in ("marigold", "Hilda owes", "trowel", "wrong", "hyssop", "lovage", "sorrel"):
        assert ask_json(garden, "search", words)["results"] == []
    shown = garden("get", "garden/garden.md").stdout
    assert "marigold" not in shown and "Visible words follow." in shown
    assert ask_json(garden, "get", "garden/note.md")["title"] == "Right"
    assert garden("doctor", "--verify").exit_code == 0
    block = garden("surface", "which block of Logseq is about nettles?").stdout
    assert "nettles" in block and "id::" not in block
    # A reference to a block shows it.
    snippet = ask_json(garden, "search", "weeds")["results"][0]["snippet"]
    assert snippet.splitlines()[-1] == "Weeds: A block of Logseq about nettles, ."
    assert snippet in garden("get", "garden/note.md").stdout
    assert snippet in garden("surface", "which weeds are right?").stdout
