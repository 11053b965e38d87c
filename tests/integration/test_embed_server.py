"""Vectors from a server: named in the environment, used by every command, missed by none that can do without."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import Invoke
from scripted_server import scripted, well_behaved

from clawmem.app.settings.model import load_settings
from clawmem.ports.errors import ConfigError


def test_a_server_takes_over(invoke: Invoke, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The vectors of a server that is named take the place of the shipped ones; back again it takes its name."""
    invoke("bootstrap", notes)
    before = json.loads(invoke("--json", "status").stdout)
    with scripted(well_behaved) as server:
        monkeypatch.setenv("CLAWMEM_EMBED_URL", server.url)
        assert invoke("embed").exit_code == 0
        after = json.loads(invoke("--json", "status").stdout)
        assert invoke("query", "--mode", "vectors", "--min-score", 0, "sessions").stdout
        monkeypatch.delenv("CLAWMEM_EMBED_URL")

    refused = invoke("embed")

    assert (after["model"] != before["model"], after["embeddings"]) == (True, before["embeddings"])
    assert (refused.exit_code, "clawmem embed --force" in refused.stderr) == (6, True)
    assert json.loads(invoke("--json", "status").stdout)["model"] == after["model"]
    assert invoke("models", "use", "static").exit_code == 0
    assert invoke("embed").exit_code == 0
    assert json.loads(invoke("--json", "status").stdout)["model"] == before["model"]


def test_a_server_that_is_away_takes_nobodys_place(
    invoke: Invoke, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Questions are answered by the shipped vectors, undisturbed, until the server has made its own."""
    invoke("bootstrap", notes)
    monkeypatch.setenv("CLAWMEM_EMBED_URL", "http://127.0.0.1:9")
    before = json.loads(invoke("--json", "status").stdout)

    refused, asked = invoke("embed"), invoke("query", "--mode", "vectors", "where do sessions live")

    assert (refused.exit_code, "cannot answer now" in refused.stderr) == (6, True)
    assert (asked.exit_code, asked.stderr) == (0, "")
    after = json.loads(invoke("--json", "status").stdout)
    assert (after["model"], after["embeddings"]) == (before["model"], before["embeddings"])


@pytest.mark.parametrize("role", ["EMBED", "LLM", "RERANK"])
@pytest.mark.parametrize(
    "address",
    (
        "banana, localhost:8088, ftp://host, http://, http://a b, http://me:hunter2@host:port, http://x:99999"
    ).split(", "),
)
def test_invalid_addresses(role: str, address: str) -> None:
    """An invalid address is refused when the settings are read, by the name of its variable and without its password."""
    with pytest.raises(
        ConfigError, match=f"CLAWMEM_{role}_URL: is no address .* like http://localhost:8088"
    ) as caught:
        load_settings(environ={f"CLAWMEM_{role}_URL": address})

    assert "hunter2" not in f"{caught.value} {caught.value.__cause__}"
