"""Conversion of a language model's answer to a value of a schema, or to None. No answer raises an error."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

import json5

from clawmem.ports.json_text import whole_text
from clawmem.ports.models import JsonSchema

MAX_CHARS = 100_000  # no useful answer is longer

_THOUGHTS = re.compile(r"<(think|thinking|thought|reasoning)>.*?(</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_END_OF_THOUGHTS = re.compile(r"\A.*</(?:think|thinking|thought|reasoning)>", re.DOTALL | re.IGNORECASE)
_PLACEHOLDER = re.compile(
    r"\{\{|<!--|\$\{|^\W*$|\b(?:title|fact|summary) (?:here|goes)\b|^\W*(?:n/?a|none|null|unknown|todo|tbd|title|subject|predicate"
    r"|object|entity|name|literal|value|(?:subject|object|entity|canonical)[ _-](?:name|entity)"
    r"|(?:entity|name)[ _-]or[ _-]literal)\W*$",
    re.IGNORECASE,
)
_OPENING = re.compile(r"[\[{]")
_TOKEN = re.compile(r"""(["'])(?:(?!\1)[^\\]|\\.)*(?:\1|\Z)|[{}\[\],]""", re.DOTALL)

_TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}

TEXT: JsonSchema = {"type": "string"}
NUMBER: JsonSchema = {"type": "number"}
INTEGER: JsonSchema = {"type": "integer"}
BOOLEAN: JsonSchema = {"type": "boolean"}
TEXTS: JsonSchema = {"type": "array", "items": TEXT}


def object_schema(required: str = "", /, **properties: JsonSchema) -> JsonSchema:
    """Return the schema of an object with *properties*; *required* are names, separated by blanks."""
    return {"type": "object", "properties": properties, "required": required.split()}


def list_schema(items: JsonSchema) -> JsonSchema:
    """Return the schema of a list of *items*."""
    return {"type": "array", "items": items}


def enum_schema(names: Iterable[str]) -> JsonSchema:
    """Return the schema of one of *names*."""
    return {"type": "string", "enum": [str(name) for name in names]}


class ModelTask(NamedTuple):
    """Parameters of a model request for one purpose."""

    purpose: str
    schema: JsonSchema
    temperature: float
    max_tokens: int


def json_answer(ask: Callable[[str], str], prompt: str, schema: JsonSchema) -> Any | None:
    """
    Return the value in *ask*'s answer to *prompt* that fits *schema*; None if there is none.

    Array items that do not fit are dropped as long as one fits. If the first answer is not usable, the model is asked
    once more, with its answer and the problem in the prompt. Exceptions of *ask* propagate.

    Args:
        ask: Returns the answer to a prompt; a `Generator` with its limits and its deadline already bound.
    """
    text = prompt
    for _ in range(2):
        answer = ask(text)
        value = _whole(read_json(answer, schema), schema)
        fitting, problem = (None, "it holds no JSON") if value is None else fitted(value, schema)
        if not problem:
            return fitting
        text = (
            f"{prompt}\n\nYour last answer could not be used: {problem}. It was:\n\n{answer[:2000]}\n\n"
            "Answer again with the corrected JSON and nothing else."
        )
    return None


def fitted(value: Any, schema: JsonSchema, path: str = "$") -> tuple[Any, str]:
    """
    Return the part of *value* that fits *schema*, and the first problem, in words that a model understands.

    Array items that do not fit and optional object members that do not fit are dropped; an array of which no item fits
    does not fit. Only ``type``, ``properties``, ``required``, ``items`` and ``enum`` are checked.
    """
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    own = {kind for kind, type_ in _TYPES.items() if isinstance(value, type_)}
    if isinstance(value, int | float) and not isinstance(value, bool):
        own |= {"number", "integer"} if float(value).is_integer() else {"number"}
    if kinds and own.isdisjoint(kinds):
        return None, f"{path} is not of type {' or '.join(kinds)}"
    if "enum" in schema:  # models vary the case of names
        own_name = str(value).strip().casefold()
        value = next((name for name in schema["enum"] if str(name).casefold() == own_name), value)
    if "enum" in schema and value not in schema["enum"]:
        return None, f"{path} is none of {json.dumps(schema['enum'], ensure_ascii=False)}"
    if isinstance(value, dict):
        inner = schema.get("properties", {})
        members = {
            name: fitted(member, inner.get(name, {}), f"{path}.{name}") for name, member in value.items()
        }
        required = (
            members.get(name, (None, f"{path}.{name} is missing")) for name in schema.get("required", ())
        )
        problem = next((problem for _, problem in required if problem), "")
        fitting = {name: part for name, (part, fault) in members.items() if not fault}
        return None if problem else fitting, problem
    if isinstance(value, list) and "items" in schema:
        items = [fitted(item, schema["items"], f"{path}[{place}]") for place, item in enumerate(value)]
        whole = [part for part, problem in items if not problem]
        return whole, "" if whole or not items else items[0][1]
    return value, ""


def _whole(value: Any, schema: JsonSchema) -> Any:
    """Return *value*; a list, or one item, that stands for the only required member of *schema* within an object of it."""
    [name, *others] = schema.get("required") or [""]
    is_list = not others and schema.get("properties", {}).get(name, {}).get("type") == "array"
    if value is None or not is_list or (isinstance(value, dict) and name in value):
        return value
    return {name: value if isinstance(value, list) else [value]}


def is_placeholder(text: str) -> bool:
    """Whether *text* repeats the form that a model was to fill in, or stands for nothing."""
    return _PLACEHOLDER.search(text) is not None


def read_json(text: str, schema: JsonSchema | None = None) -> Any | None:
    """
    Return the JSON object or array in *text*; None if there is none. Never raises.

    Ignores thoughts, code fences and chatter around the value. Accepts JSON5 and a cut-off end: the incomplete item of an
    array and the incomplete member of an object are dropped. Of several values the first that fits *schema* is
    returned, otherwise the first. Numbers that JSON cannot represent become None.
    """
    text = text[:MAX_CHARS].strip()
    # Thoughts before the first JSON value are left out; tags within a value are its text.
    while (thought := _THOUGHTS.search(text)) and not _OPENING.search(text, 0, thought.start()):
        text = text[: thought.start()] + text[thought.end() :]
    end = _END_OF_THOUGHTS.match(text)
    values = list(_values(text[end.end() :] if end and _OPENING.search(text, end.end()) else text))
    fitting = (value for value in values if schema is not None and not fitted(value, schema)[1])
    return next(fitting, values[0] if values else None)


def _values(text: str) -> Iterator[Any]:
    place = 0
    for _ in range(16):
        opening = _OPENING.search(text, place)
        if opening is None:
            return
        place = opening.start() + 1
        piece = _completed(text, opening.start())
        for parse in (partial(json.loads, strict=False), json5.loads):
            with suppress(ValueError, TypeError, RecursionError, MemoryError):
                # Pairs of surrogates are joined, single ones replaced.
                value = whole_text(json.dumps(parse(piece), ensure_ascii=False))
                yield json.loads(value, parse_constant=lambda constant: None)
                place = opening.start() + len(piece)
                break


def _completed(text: str, start: int) -> str:
    """Return the object or array at *start* up to its bracket, or else closed after its last complete item."""
    closing: list[str] = []
    end, open_brackets = start, closing
    for token in _TOKEN.finditer(text, start):
        sign = token[0]
        if len(closing) > 40:
            break
        if sign in "{[":
            closing = [*closing, "}" if sign == "{" else "]"]
        elif sign in "}]":
            closing = closing[:-1]
            if not closing:
                return text[start : token.end()]
        if sign in ",}]" and "]" not in closing[:-1]:  # not within an incomplete item of an array
            end, open_brackets = token.end() - (sign == ","), closing
    return text[start:end] + "".join(reversed(open_brackets))
