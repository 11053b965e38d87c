"""References made from the table of operations; run as a script it writes them, and the methods of the Python API."""

from __future__ import annotations

import builtins
import enum
import json
import subprocess
import sys
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mcp_tools
import typer

from clawmem.app.interfaces.cli.command_line import CommandLine, cli
from clawmem.app.interfaces.rest.application import rest_application
from clawmem.app.operations.operation import AnyOperation
from clawmem.app.operations.table import all_operations
from clawmem.app.serve.runtime import ServerRuntime

ROOT = Path(__file__).parents[1]
WIDTH = 110  # of a line of a generated method
MADE = "made from the table of operations by `make reference`"


def references() -> dict[Path, str]:
    """Return the text of each generated file by its path."""
    pages = ROOT / "docs" / "reference"
    return {
        pages / "cli.md": cli_page(),
        pages / "mcp.md": mcp_page(),
        pages / "rest.md": rest_page(),
        pages / "python.md": python_page(),
        ROOT / "app" / "interfaces" / "python" / "methods.py": formatted(methods_module()),
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
    described = rest_application(ServerRuntime(Path("vault.sqlite"), {})).openapi()
    shared = described["components"]["schemas"]
    lines = ["# REST routes", "", f"<!-- {MADE} -->", "", described["info"]["description"], ""]
    for path, methods in described["paths"].items():
        for method, route in methods.items():
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
        "the parameters of one operation and returns its result, a pydantic model. The first required parameter can be given by position,",
        "all others need their names. Errors are `clawmem.ports.errors.ClawmemError`.",
        "",
    ]
    for one in _with_methods():
        schema = one.request.model_json_schema()
        lines += [f"## {_method(one)}", "", *_paragraph(one.about), ""]
        lines += _parameters(_resolved(schema), schema.get("required", ()))
        lines += [
            f"Returns `{one.result.__name__}`: {', '.join(f'`{name}`' for name in one.result.model_fields)}.",
            "",
        ]
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


def _with_methods() -> list[AnyOperation]:
    """Return the operations that are more than a route of the REST API."""
    return [one for one in all_operations() if one.commands or one.is_tool]


def _method(operation: AnyOperation) -> str:
    """Return the name of a method; one that would hide a builtin gives way to the name of the function."""
    name = operation.name.removeprefix("memory_")
    return operation.function.__name__ if hasattr(builtins, name) else name


def methods_module() -> str:
    """Return the module with a method for each operation."""
    imports: set[tuple[str, str]] = set()
    methods = [_method_source(one, imports) for one in _with_methods()]
    named = "\n".join(f"    from {module} import {name}" for module, name in sorted(imports))
    return (
        f'"""Methods of the Python API, {MADE}."""\n\n'
        "from __future__ import annotations\n\n"
        "from typing import TYPE_CHECKING, Any, Literal, TypeVar\n\n"
        f"if TYPE_CHECKING:\n{named}\n\n"
        'R = TypeVar("R")\n\n\n'
        "# fmt: off\n"
        "class Methods:\n"
        '    """A method for each operation."""\n\n'
        "    def _run(self, name: str, given: dict[str, Any]) -> R:  # type: ignore[type-var]\n"
        "        raise NotImplementedError\n\n" + "\n".join(methods)
    )


def _method_source(operation: AnyOperation, imports: set[tuple[str, str]]) -> str:
    fields = operation.request.model_fields
    imports.add((operation.result.__module__, operation.result.__name__))
    first = next((name for name, field in fields.items() if field.is_required()), None)
    parameters = [
        f"{name}: {_spelled(fields[name].annotation, imports)}" for name in ([first] if first else [])
    ]
    rest = [
        f"{name}: {_spelled(field.annotation, imports)}"
        + ("" if field.is_required() else f" = {_literal(field.get_default(call_default_factory=True))}")
        for name, field in fields.items()
        if name != first
    ]
    signature = ["self", *parameters, *(["*", *rest] if rest else [])]
    head = f"    def {_method(operation)}({{}}) -> {operation.result.__name__}:\n"
    one_line = head.format(", ".join(signature))
    about = "\n".join(f"        {line}".rstrip() for line in operation.about.splitlines()).lstrip()
    closing = "\n        " if "\n" in about else ""
    return (
        f"{one_line if len(one_line) <= WIDTH else head.format(_filled(signature))}"
        f'        """{about}{closing}"""\n'
        f'        return self._run("{operation.name}", locals())\n'
    )


def _filled(parts: list[str]) -> str:
    """Return *parts* with commas, as indented lines of up to `WIDTH` characters."""
    lines = [""]
    for part in parts:
        lines = [*lines, ""] if len(lines[-1]) + len(part) > WIDTH - 10 else lines
        lines[-1] += f"{part}, "
    return "".join(f"\n        {line.strip()}" for line in lines) + "\n    "


def _spelled(annotation: Any, imports: set[tuple[str, str]]) -> str:
    """Return the source of an annotation, and collect the names that it needs."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation is None or annotation is type(None):
        return "None"
    if origin is typing.Annotated:
        return _spelled(arguments[0], imports)
    if origin is typing.Literal:
        return f"Literal[{', '.join(map(_literal, arguments))}]"
    if origin in (typing.Union, types.UnionType):
        return " | ".join(_spelled(one, imports) for one in arguments)
    if origin is not None:
        inside = ", ".join("..." if one is Ellipsis else _spelled(one, imports) for one in arguments)
        return f"{origin.__name__}[{inside}]"
    if annotation is Any:
        return "Any"
    if annotation.__module__ != "builtins":
        imports.add((annotation.__module__, annotation.__name__))
    return str(annotation.__name__)


def _literal(value: Any) -> str:
    """Return the source of a default; a member of an enumeration by its value, which the request accepts as well."""
    plain = value.value if isinstance(value, enum.Enum) else value
    return json.dumps(plain, ensure_ascii=False) if isinstance(plain, str) else repr(plain)


def formatted(source: str) -> str:
    """Return *source* as ruff sorts and formats it."""
    for step in (["check", "--fix-only", "--quiet"], ["format"]):
        command = [sys.executable, "-m", "ruff", *step, "-", "--stdin-filename", str(ROOT / "methods.py")]
        done = subprocess.run(command, input=source, check=True, capture_output=True, text=True, cwd=ROOT)
        source = done.stdout
    return source


if __name__ == "__main__":
    for path, text in references().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
