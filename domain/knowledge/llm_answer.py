"""Conversion of a language model's answer to a value of a schema, or to None. No answer raises an error."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from clawmem.domain.knowledge.lenient_json import LenientReader, UnreadableJson
from clawmem.ports.models import JsonSchema

MAX_CHARS = 100_000  # no useful answer is longer
MAX_STARTS = 64  # opening brackets at which a value is searched; surrounding chatter contains few
QUOTED_BACK = 2000  # characters of an unusable answer that the repair prompt quotes

_THOUGHTS = re.compile(r"<(think|thinking|thought|reasoning)>.*?(</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_JSON_START = re.compile(r"[\[{]")
_END_OF_THOUGHTS = re.compile(r"\A.*</(?:think|thinking|thought|reasoning)>", re.DOTALL | re.IGNORECASE)
_FENCED = re.compile(r"(?:```|~~~)[\w-]*[ \t]*\n(.*?)(?:\n[ \t]*(?:```|~~~)|\Z)", re.DOTALL)
_OPENING = re.compile(r"[\[{]")

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "null": (type(None),),
}


class ParsedValue(NamedTuple):
    """A value and the offset of its end; the value is None if the text ended before any of it was complete."""

    value: Any
    end: int


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

    Ignores thoughts, code fences and chatter around the value. Accepts comments, trailing commas, single and
    typographic quotes, quotes within strings, Python's literals and a cut-off end: a cut-off array item is dropped,
    a cut-off string in an object is kept. Of several values the first that fits *schema* is returned, otherwise the
    longest. Numbers that JSON cannot represent become None.
    """
    try:
        found = list(_found(_without_thoughts(text[:MAX_CHARS].strip())))
        return _whole(_meant(found, schema))
    except RecursionError:
        return None


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
    while (thought := _THOUGHTS.search(text)) and not _JSON_START.search(text, 0, thought.start()):
        text = text[: thought.start()] + text[thought.end() :]
    end = _END_OF_THOUGHTS.match(text)
    return text[end.end() :] if end and _JSON_START.search(text, end.end()) else text


def _found(text: str) -> Iterator[tuple[Any, int]]:
    """Yield every value in *text* and in its fenced blocks, with its length."""
    for block in (text, *(match[1] for match in _FENCED.finditer(text))):
        place = 0
        for _ in range(MAX_STARTS):
            opening = _OPENING.search(block, place)
            if opening is None:
                break
            start = opening.start()
            found = _strict(block, start) or _lenient(block, start)
            if found and found.value is not None:
                yield found.value, found.end - start
            place = found.end if found else start + 1


def _meant(found: Sequence[tuple[Any, int]], schema: JsonSchema | None) -> Any | None:
    if schema is not None:
        for value, _ in found:
            if mismatch(value, schema) is None:
                return value
    return max(found, key=lambda one: one[1], default=(None, 0))[0]


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


def _strict(text: str, start: int) -> ParsedValue | None:
    """Return the value at *start* if it is valid JSON (line breaks in strings are accepted)."""
    try:
        return ParsedValue(*_DECODER.raw_decode(text, start))
    except (ValueError, RecursionError):
        return None


def _lenient(text: str, start: int) -> ParsedValue | None:
    """Return the value at *start* as far as it can be read; None if no value begins there."""
    reader = LenientReader(text, start)
    try:
        value = reader.value()
    except UnreadableJson:
        return None
    # Cut off before anything was complete. An empty value that is complete is a valid answer.
    return ParsedValue(None if reader.is_cut and not value else value, reader.place)


def _finite(written: str) -> float:
    number = float(written)
    if not math.isfinite(number):
        raise ValueError(written)
    return number


def _refused(constant: str) -> Any:
    raise ValueError(constant)


def _whole(value: Any) -> Any:
    """Return *value* without unpaired surrogates, which JSON escapes can express but no storage accepts."""
    if isinstance(value, str):
        return (
            value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        )
    if isinstance(value, dict):
        return {_whole(name): _whole(inner) for name, inner in value.items()}
    return [_whole(item) for item in value] if isinstance(value, list) else value


_DECODER = json.JSONDecoder(strict=False, parse_float=_finite, parse_constant=_refused)
