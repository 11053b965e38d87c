"""Conversion of a language model's answer to a value of a schema, or to None. No answer raises an error."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import json5

from clawmem.ports.models import JsonSchema

MAX_CHARS = 100_000  # no useful answer is longer
MAX_DEPTH = 40
MAX_STARTS = 16  # opening brackets at which a value is searched; surrounding chatter contains few
QUOTED_BACK = 2000  # characters of an unusable answer that the repair prompt quotes

_THOUGHTS = re.compile(r"<(think|thinking|thought|reasoning)>.*?(</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_END_OF_THOUGHTS = re.compile(r"\A.*</(?:think|thinking|thought|reasoning)>", re.DOTALL | re.IGNORECASE)
_OPENING = re.compile(r"[\[{]")
_TOKEN = re.compile(r"""(["'])(?:(?!\1)[^\\]|\\.)*+(?:\1|\Z)|[{}\[\],]""", re.DOTALL)
_DECODER = json.JSONDecoder(strict=False)

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "null": (type(None),),
}


TEXT: JsonSchema = {"type": "string"}
NUMBER: JsonSchema = {"type": "number"}
BOOLEAN: JsonSchema = {"type": "boolean"}


def object_schema(required: str = "", /, **properties: JsonSchema) -> JsonSchema:
    """Return the schema of an object with *properties*; *required* are names, separated by blanks."""
    return {"type": "object", "properties": properties, "required": required.split()}


def list_schema(items: JsonSchema) -> JsonSchema:
    """Return the schema of a list of *items*."""
    return {"type": "array", "items": items}


class UsableValue(NamedTuple):
    """The part of a value that fits its schema."""

    value: Any


def json_answer(
    ask: Callable[[str], str],
    prompt: str,
    schema: JsonSchema,
) -> Any | None:
    """
    Return the value in *ask*'s answer to *prompt* that fits *schema*; None if there is none.

    Array items that do not fit are dropped as long as one fits. If the first answer is not usable, the model is asked
    once more, with its answer and the problem in the prompt. Exceptions of *ask* propagate.

    Args:
        ask: Returns the answer to a prompt; a `Generator` with its limits and its deadline already bound.
    """
    answer = ask(prompt)
    found, problem = _judged(answer, schema)
    if problem:
        found, problem = _judged(ask(repair_prompt(prompt, answer, problem)), schema)
    return found.value if found else None


def usable(value: Any, schema: JsonSchema) -> UsableValue | None:
    """
    Return the part of *value* that fits *schema*; ``None`` if its type differs or no item of an array fits.

    Array items that do not fit and optional object members that do not fit are dropped.
    """
    if mismatch(value, schema) is None:
        return UsableValue(value)
    part: Any = None
    if isinstance(value, list) and isinstance(schema.get("items"), Mapping):
        part = [fitting.value for item in value if (fitting := usable(item, schema["items"]))]
    elif isinstance(value, dict):
        inner = schema.get("properties", {})
        members = {
            name: usable(member, inner[name]) if name in inner else UsableValue(member)
            for name, member in value.items()
        }
        part = {name: fitting.value for name, fitting in members.items() if fitting}
    return UsableValue(part) if part and mismatch(part, schema) is None else None


def repair_prompt(prompt: str, answer: str, problem: str) -> str:
    """Return the prompt once more, with the unusable answer and its problem."""
    return (
        f"{prompt}\n\nYour last answer could not be used: {problem}. It was:\n\n{answer[:QUOTED_BACK]}\n\n"
        "Answer again with the corrected JSON and nothing else."
    )


def read_json(text: str, schema: JsonSchema | None = None) -> Any | None:
    """
    Return the JSON object or array in *text*; None if there is none. Never raises.

    Ignores thoughts, code fences and chatter around the value. Accepts JSON5, Python's notation and a cut-off end: the
    incomplete item of an array and the incomplete member of an object are dropped. Of several values the first that
    fits *schema* is returned, otherwise the longest. Numbers that JSON cannot represent become None.
    """
    values = list(_values(_without_thoughts(text[:MAX_CHARS].strip())))
    fitting = (value for value, _ in values if schema is not None and mismatch(value, schema) is None)
    longest, _ = max(values, key=lambda pair: pair[1], default=(None, 0))
    return next(fitting, longest)


def mismatch(value: Any, schema: JsonSchema, path: str = "$") -> str | None:
    """
    Return the first violation of *schema* in *value*, in words that a model understands; None if it fits.

    Only ``type``, ``properties``, ``required``, ``items`` and ``enum`` are checked.
    """
    return next(_mismatches(value, schema, path), None)


def _judged(answer: str, schema: JsonSchema) -> tuple[UsableValue | None, str | None]:
    value = read_json(answer, schema)
    if value is None:
        return None, "it holds no JSON"
    found = usable(value, schema)
    return found, None if found else mismatch(value, schema)


def _without_thoughts(text: str) -> str:
    """Return *text* without the thoughts that stand before the first JSON value; tags within a value are its text."""
    while (thought := _THOUGHTS.search(text)) and not _OPENING.search(text, 0, thought.start()):
        text = text[: thought.start()] + text[thought.end() :]
    end = _END_OF_THOUGHTS.match(text)
    return text[end.end() :] if end and _OPENING.search(text, end.end()) else text


def _values(text: str) -> Iterator[tuple[Any, int]]:
    """Yield the objects and arrays in *text*, with their lengths."""
    place = 0
    for _ in range(MAX_STARTS):
        opening = _OPENING.search(text, place)
        if opening is None:
            return
        place = opening.start() + 1
        with suppress(ValueError, RecursionError):
            value, end = _DECODER.raw_decode(text, opening.start())
            yield _storable(value), end - opening.start()
            place = end
            continue
        piece = _completed(text, opening.start())
        for parse in (json5.loads, ast.literal_eval):
            with suppress(ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
                yield _storable(parse(piece)), len(piece)
                place = opening.start() + len(piece)
                break


def _completed(text: str, start: int) -> str:
    """Return the object or array at *start* up to its bracket, or else closed after its last complete item."""
    closing: list[str] = []
    end, open_brackets = start, closing
    for token in _TOKEN.finditer(text, start):
        sign = token[0]
        if len(closing) > MAX_DEPTH:
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


def _storable(value: Any) -> Any:
    """
    Return *value* with None for numbers that JSON cannot represent, and without unpaired surrogates.

    Raises:
        TypeError, ValueError: it has a part that JSON does not know.
    """
    text = json.dumps(value, ensure_ascii=False).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return json.loads(text, parse_constant=lambda constant: None)


def _mismatches(value: Any, schema: JsonSchema, path: str) -> Iterator[str]:
    kinds = _kinds(schema)
    if kinds and not any(_is_a(value, kind) for kind in kinds):
        yield f"{path} is not of type {' or '.join(kinds)}"
    elif "enum" in schema and not any(_is_same(value, choice) for choice in schema["enum"]):
        yield f"{path} is none of {json.dumps(list(schema['enum']), ensure_ascii=False)}"
    elif isinstance(value, dict):
        yield from (f"{path}.{name} is missing" for name in schema.get("required", ()) if name not in value)
        for name, inner in schema.get("properties", {}).items():
            if name in value:
                yield from _mismatches(value[name], inner, f"{path}.{name}")
    elif isinstance(value, list) and "items" in schema:
        for place, item in enumerate(value):
            yield from _mismatches(item, schema["items"], f"{path}[{place}]")


def _kinds(schema: JsonSchema) -> list[str]:
    kinds = schema.get("type", [])
    return [kinds] if isinstance(kinds, str) else list(kinds)


def _is_a(value: Any, kind: str) -> bool:
    if kind in _TYPES:
        return isinstance(value, _TYPES[kind])
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return kind == "number" or isinstance(value, int) or value.is_integer()


def _is_same(value: Any, choice: Any) -> bool:
    return bool(value == choice) and isinstance(value, bool) is isinstance(choice, bool)
