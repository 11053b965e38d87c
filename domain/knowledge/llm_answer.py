"""From what a language model writes to the value it means, or to None; nothing that it writes raises."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from clawmem.domain.knowledge.lenient_json import LenientReader, Senseless
from clawmem.ports.generator import JsonSchema

MAX_CHARS = 100_000  # no answer is longer; what follows is noise that would only cost time
MAX_STARTS = 64  # brackets at which a value is looked for: chatter has a few
QUOTED_BACK = 2000  # characters of a wrong answer that its author is shown

_THOUGHTS = re.compile(r"<(think|thinking|thought|reasoning)>.*?(</\1>|\Z)", re.DOTALL | re.IGNORECASE)
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


class Found(NamedTuple):
    """A value, and where in its text it ends; None when the text ended before there was anything of it."""

    value: Any
    end: int


class Usable(NamedTuple):
    """The part of a value that fits its schema, and how many items of its arrays were dropped."""

    value: Any
    dropped: int


def json_answer(
    ask: Callable[[str], str],
    prompt: str,
    schema: JsonSchema,
    *,
    tell_dropped: Callable[[int], None] = lambda dropped: None,
) -> Any | None:
    """
    The value of *schema*'s shape that *ask* gives for *prompt*; None when it gives none.

    Items of an array that do not fit are dropped as long as one fits. A first answer that cannot be used is shown to its
    author once, with what is wrong about it. The second answer counts as it is. What *ask* raises, this raises.

    Args:
        ask: A prompt to an answer; a `Generator` with its limits and its deadline already chosen.
        tell_dropped: Called with the number of items that were dropped, where some were.
    """
    answer = ask(prompt)
    found, problem = _judged(answer, schema)
    if problem:
        found, problem = _judged(ask(repair_prompt(prompt, answer, problem)), schema)
    if found is None:
        return None
    if found.dropped:
        tell_dropped(found.dropped)
    return found.value


def usable(value: Any, schema: JsonSchema) -> Usable | None:
    """
    Return what of *value* fits *schema*; ``None`` where it is of another shape, or not one item of an array fits.

    Dropped are items of an array, and members of an object that are not required.
    """
    if mismatch(value, schema) is None:
        return Usable(value, 0)
    kept: Any
    if isinstance(value, list) and isinstance(schema.get("items"), Mapping):
        items = [found for one in value if (found := usable(one, schema["items"]))]
        dropped = len(value) - len(items) + sum(one.dropped for one in items)
        kept = [one.value for one in items]
    elif isinstance(value, dict):
        kept, dropped = _usable_members(value, schema)
    else:
        return None
    return Usable(kept, dropped) if kept and mismatch(kept, schema) is None else None


def _usable_members(value: dict[str, Any], schema: JsonSchema) -> tuple[dict[str, Any], int]:
    inner = schema.get("properties", {})
    members = {
        name: usable(one, inner[name]) if name in inner else Usable(one, 0) for name, one in value.items()
    }
    fitting = {name: one for name, one in members.items() if one is not None}
    return {name: one.value for name, one in fitting.items()}, sum(one.dropped for one in fitting.values())


def repair_prompt(prompt: str, answer: str, problem: str) -> str:
    """The question once more, with the answer that could not be used and what was wrong about it."""
    return (
        f"{prompt}\n\nYour last answer could not be used: {problem}. It was:\n\n{answer[:QUOTED_BACK]}\n\n"
        "Answer again with the corrected JSON and nothing else."
    )


def read_json(text: str, schema: JsonSchema | None = None) -> Any | None:
    """
    The JSON object or array that *text* holds; None when there is none, and never an error.

    Thoughts, code fences and chatter around it do not matter, nor do comments, trailing commas, single and
    typographic quotes, quotes within strings, Python's literals and an end that is cut off. What is cut off
    within an array is dropped; within an object an unfinished string is kept. Of several values the first
    that fits *schema* is meant, otherwise the longest. Numbers that JSON cannot write become None.
    """
    try:
        found = list(_found(_without_thoughts(text[:MAX_CHARS].strip())))
        return _whole(_meant(found, schema))
    except RecursionError:
        return None


def mismatch(value: Any, schema: JsonSchema, path: str = "$") -> str | None:
    """
    The first thing about *value* that *schema* forbids, in words that a model understands; None when it fits.

    Only ``type``, ``properties``, ``required``, ``items`` and ``enum`` are looked at.
    """
    return next(_mismatches(value, schema, path), None)


def _judged(answer: str, schema: JsonSchema) -> tuple[Usable | None, str | None]:
    value = read_json(answer, schema)
    if value is None:
        return None, "it holds no JSON"
    found = usable(value, schema)
    return found, None if found else mismatch(value, schema)


def _without_thoughts(text: str) -> str:
    if text[:1] in ("{", "["):
        return text  # its strings may speak of thoughts
    return _END_OF_THOUGHTS.sub("", _THOUGHTS.sub("", text))


def _found(text: str) -> Iterator[tuple[Any, int]]:
    """Every value of *text* and of its fenced blocks, with its length."""
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


def _strict(text: str, start: int) -> Found | None:
    """The value that begins at *start*, when it is JSON as it should be (line breaks in strings forgiven)."""
    try:
        return Found(*_DECODER.raw_decode(text, start))
    except (ValueError, RecursionError):
        return None


def _lenient(text: str, start: int) -> Found | None:
    """The value that begins at *start*, as far as it can be made out; None when nothing begins there."""
    reader = LenientReader(text, start)
    try:
        value = reader.value()
    except Senseless:
        return None
    # Cut off before anything was complete: not the same as "there is nothing", which is a good answer.
    return Found(None if reader.is_cut and not value else value, reader.place)


def _finite(written: str) -> float:
    number = float(written)
    if not math.isfinite(number):
        raise ValueError(written)
    return number


def _refused(constant: str) -> Any:
    raise ValueError(constant)


def _whole(value: Any) -> Any:
    """*value* without halves of surrogate pairs, which an escape can name and nothing can store."""
    if isinstance(value, str):
        return (
            value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        )
    if isinstance(value, dict):
        return {_whole(name): _whole(inner) for name, inner in value.items()}
    return [_whole(item) for item in value] if isinstance(value, list) else value


_DECODER = json.JSONDecoder(strict=False, parse_float=_finite, parse_constant=_refused)
