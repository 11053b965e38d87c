"""References made from the table of operations; run as a script it writes them."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mcp_tools
import typer

from clawmem.app.interfaces.cli.command_line import CommandLine, cli
from clawmem.app.interfaces.python.memory import methods
from clawmem.app.interfaces.rest.application import rest_application
from clawmem.app.serve.server import ServerRuntime

ROOT = Path(__file__).parents[1]
MADE = "made from the table of operations by `make reference`"


def references() -> dict[Path, str]:
    """Return the text of each generated file by its path."""
    pages = ROOT / "docs" / "reference"
    return {
        pages / "cli.md": cli_page(),
        pages / "mcp.md": mcp_page(),
        pages / "rest.md": rest_page(),
        pages / "python.md": python_page(),
    }


# -- command line -----------------------------------------------------------------------------------


def cli_page() -> str:
    """Return the reference of the command line."""
    root = typing.cast(Any, typer.main.get_command(cli))
    context = root.make_context("clawmem", ["--alone", "status"], resilient_parsing=True)
    sections = [f"# Command line\n\n<!-- {MADE} -->\n"]
    for name in sorted(CommandLine.list_commands(root, context)):
        sections += _command_sections(root.get_command(context, name), f"clawmem {name}")
    return "\n".join(sections)


def _command_sections(command: Any, words: str) -> Iterator[str]:
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    usage = " ".join([words, *(one.metavar or one.name.upper() for one in arguments)])
    usage += (getattr(command, "options_metavar", "") or "").removeprefix("[OPTIONS]")
    about = "\n".join(line.strip() for line in (command.help or "").splitlines()).strip()
    lines = [f"## {usage}", "", about, ""]
    rows = [
        f"| {_options_of(one)} | {_cell(getattr(one, 'help', '') or '')} |"
        for one in command.params
        if (getattr(one, "help", "") or one.param_type_name == "option") and one.name != "help"
    ]
    if rows:
        lines += ["| Parameter | |", "|---|---|", *rows, ""]
    if getattr(command, "commands", None) and not command.params:
        lines = [f"## {words}", "", about, ""]
    yield "\n".join(lines)
    for name, below in sorted(getattr(command, "commands", {}).items()):
        yield from _command_sections(below, f"{words} {name}")


def _options_of(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{parameter.metavar or parameter.name.upper()}`"
    return ", ".join(f"`{one}`" for one in [*parameter.opts, *parameter.secondary_opts])


# -- tools ------------------------------------------------------------------------------------------


def mcp_page() -> str:
    """Return the reference of the tools, by set."""
    lines = ["# MCP tools", "", f"<!-- {MADE} -->", ""]
    for chosen, told in mcp_tools.told().items():
        lines += [f"## Tools of the set `{chosen}`", ""]
        for tool in told["tools"]:
            lines += [f"### {tool['name']}", "", tool["description"], ""]
            schema = tool["inputSchema"]
            lines += _parameters(schema.get("properties", {}), schema.get("required", ()))
    return "\n".join(lines)


def rest_page() -> str:
    """Return the reference of the REST routes, as the server describes them."""
    runtime = ServerRuntime(Path("vault.sqlite"), {})
    described = rest_application(runtime.dispatcher, runtime.answer_event).openapi()
    shared = described["components"]["schemas"]
    lines = ["# REST routes", "", f"<!-- {MADE} -->", "", described["info"]["description"], ""]
    for path, routes in described["paths"].items():
        for method, route in routes.items():
            lines += [f"## {method.upper()} {path}", "", route["summary"], ""]
            parameters = route.get("parameters", ())
            content = (
                route.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
            )
            body = shared.get(content.get("$ref", "").rpartition("/")[2], {})
            properties = {one["name"]: one["schema"] for one in parameters} | body.get("properties", {})
            required = [one["name"] for one in parameters if one["required"]] + body.get("required", [])
            lines += _parameters(_resolved({"properties": properties, "$defs": shared}), required)
    return "\n".join(lines)


def _parameters(properties: dict[str, Any], required: typing.Collection[str]) -> list[str]:
    if not properties:
        return []
    rows = [
        f"| `{name}` | {_type_of(one)} | {'required' if name in required else _default(one)} | {_cell(one.get('description', ''))} |"
        for name, one in properties.items()
    ]
    return ["| Parameter | Type | Default | |", "|---|---|---|---|", *rows, ""]


def _type_of(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return ", ".join(f"`{one}`" for one in schema["enum"])
    if several := schema.get("anyOf"):
        return " or ".join(_type_of(one) for one in several)
    if schema.get("type") == "array":
        return f"array of {_type_of(schema.get('items', {}))}"
    return str(schema.get("type", schema.get("$ref", "any").rpartition("/")[2]))


def _default(schema: dict[str, Any]) -> str:
    return f"`{schema['default']}`" if schema.get("default") not in (None, "") else ""


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


# -- Python -----------------------------------------------------------------------------------------


def python_page() -> str:
    """Return the reference of the Python API."""
    lines = [
        "# Python",
        "",
        f"<!-- {MADE} -->",
        "",
        "```python",
        "from clawmem import Memory",
        "",
        "with Memory.open() as memory:",
        '    memory.pin("notes/plan.md")',
        "```",
        "",
        "`Memory.open(path)` opens the vault at a path or of a name; without a path it is the vault of the settings. Each method takes",
        "the parameters of one operation and returns its result, a record or a list of records.",
        "Errors are `clawmem.ports.errors.ClawmemError`.",
        "",
    ]
    for name, one in methods().items():
        schema = one.request.model_json_schema()
        lines += [f"## {name}", "", *_paragraph(one.about), ""]
        lines += _parameters(_resolved(schema), schema.get("required", ()))
        result = one.result.model_json_schema()
        result = result.get("$defs", {}).get(result.get("$ref", "").rpartition("/")[2], result)
        keys = ", ".join(f"`{name}`" for name in result["properties"])
        lines += [f"Returns {'a list of records' if one.items else 'a record'}: {keys}.", ""]
    return "\n".join(lines)


def _resolved(schema: dict[str, Any]) -> dict[str, Any]:
    shared = schema.get("$defs", {})

    def whole(one: Any) -> Any:
        if not isinstance(one, dict):
            return one
        named = one.get("$ref", "").rpartition("/")[2]
        return {
            key: whole(value) for key, value in ({**shared.get(named, {}), **one} if named else one).items()
        }

    return {name: whole(one) for name, one in schema.get("properties", {}).items()}


def _paragraph(text: str) -> list[str]:
    return text.splitlines()


if __name__ == "__main__":
    for path, text in references().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
