"""A vault with something of everything, a server of it, and the same questions on the command line."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from command_line import write_notes
from jsonschema import Draft202012Validator
from process_environ import process_environ
from server_process import ServerProcess, serving
from typer.testing import CliRunner

from clawmem.app.bootstrap.opening import open_services
from clawmem.app.client.autostart import ONE_HEAP
from clawmem.app.interfaces.cli.command_line import cli
from clawmem.app.settings.model import load_settings
from clawmem.domain.knowledge.entities import entity_id
from clawmem.ports.knowledge import Entity, Note, Relation, RelationKind, Triple
from clawmem.ports.sessions import Session

NOTES = {
    "decisions/redis.md": "# Keep sessions in Redis\n\nLogin sessions live in Redis for 14 days.\n",
    "decisions/postgres.md": "# Move sessions to Postgres\n\nOne database is enough: sessions left Redis.\n",
    "people/haruka.md": "# Haruka Mori\n\nHaruka designs ticket machines and counts seconds.\n",
    "markup.md": "# Ticket <script>alert(1)</script>\n\nA page about tickets with <b>markup</b> in it.\n",
}
REDIS, POSTGRES = "notes/decisions/redis.md", "notes/decisions/postgres.md"


class World:
    """A home, its server, and its command line."""

    def __init__(self, home: Path, environ: dict[str, str], server: ServerProcess) -> None:
        self.home = home
        self.environ = environ
        self.server = server

    def get(self, path: str, **parameters: Any) -> tuple[int, Any]:
        heard = self.server.ask("GET", f"{quote(path)}?{urlencode(parameters, doseq=True)}")
        return heard.status, json.loads(heard.body)

    def post(self, path: str, **parameters: Any) -> tuple[int, Any]:
        heard = self.server.ask("POST", quote(path), parameters)
        return heard.status, json.loads(heard.body)

    def cli(self, *arguments: str) -> Any:
        """What the command line says with ``--json``."""
        return _cli(self.environ, *arguments)


class Described:
    """The description that a server gives of itself."""

    def __init__(self, world: World) -> None:
        _, self.document = world.get("/openapi.json")

    def operations(self) -> dict[str, Any]:
        """By method and path."""
        paths = self.document["paths"].items()
        return {f"{way.upper()} {path}": one for path, ways in paths for way, one in ways.items()}

    def parameters(self, operation: str) -> list[str]:
        """Return the parameters of an operation in its query string and its body."""
        one = self.operations()[operation]
        in_query = [each["name"] for each in one.get("parameters", ()) if each["in"] == "query"]
        return [*in_query, *(self.body(one) or {}).get("properties", {})]

    def body(self, operation: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return the schema of the body of an operation; ``None`` if it has no body."""
        if "requestBody" not in operation:
            return None
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        return self.document["components"]["schemas"].get(schema.get("$ref", "").rpartition("/")[2], schema)

    @cache  # noqa: B019
    def validator(self, operation: str, status: int) -> Draft202012Validator:
        answers = self.operations()[operation]["responses"]
        told = answers.get(str(status)) or answers["default"]
        schema = told["content"]["application/json"]["schema"]
        return Draft202012Validator({**schema, "components": self.document["components"]})


def plain(path: str) -> str:
    return path.replace(":path}", "}")


@contextmanager
def world_at(home: Path, backend: str = "sqlite", *, fresh: bool = False) -> Iterator[World]:
    """A home with notes, a chain of causes, a session and a fact; its server ends with the block."""
    write_notes(home / "notes", NOTES)
    environ = process_environ(home, **(ONE_HEAP if fresh else {}))
    _cli(environ, "--backend", backend, "bootstrap", str(home / "notes"))
    _add(environ)
    with serving(environ, home, fresh=fresh) as server:
        yield World(home, environ, server)


def _cli(environ: dict[str, str], *arguments: str) -> Any:
    hidden = {name: None for name in os.environ if name.startswith(("CLAWMEM_", "XDG_", "INDEX_"))}
    done = CliRunner().invoke(cli, [*arguments, "--json"], env={**hidden, **environ})
    assert done.stdout.strip(), done.stderr or done.exception
    return json.loads(done.stdout)


def _add(environ: dict[str, str]) -> None:
    queue, database = (Entity(entity_id(name, "tool"), name, "tool") for name in ("Redis", "Postgres"))
    with open_services(load_settings(environ=environ)) as services, services.vault.transactions.writing():
        old, new = services.lookup.find(REDIS), services.lookup.find(POSTGRES)
        reason = {"reasoning": "one database is enough"}
        services.vault.relations.put([Relation(old.id, new.id, RelationKind.CAUSAL, 0.8, metadata=reason)])
        services.vault.sessions.save(Session("5f0c", "2026-01-02T09:00:00.000Z", summary="Moved sessions."))
        services.vault.entities.set_mentions(new.id, [queue, database])
        services.vault.notes.put(Note(old.id, ("redis",), written_at="2026-01-01T09:00:00.000Z"))
        evolved = Note(
            old.id, ("redis",), ("hosting",), "Where logins were.", "m", cause=new.id, reason="It moved."
        )
        services.vault.notes.put(evolved)
        services.vault.triples.add([Triple(database, "replaced", queue, new.id, "2026-01-02", said="moved")])
