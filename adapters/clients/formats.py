"""Formats of settings: a text is read as plain values, and rewritten for changed values with its comments."""

import json
import re
from collections.abc import Callable, Mapping, MutableMapping
from contextlib import suppress
from functools import partial
from io import StringIO
from itertools import pairwise
from typing import Any, NamedTuple

import tomlkit
from json5.dumper import ModelDumper
from json5.dumper import dumps as dump_json5
from json5.loader import DefaultLoader, ModelLoader
from json5.loader import loads as load_json5
from json5.model import Comment, JSONArray, JSONObject, String, Value
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import YAMLError
from tomlkit.exceptions import TOMLKitError

Values = dict[str, Any]
MARK = "\ufeff"  # of the byte order, which editors of Windows write


class Format(NamedTuple):
    """
    A format of settings.

    Attributes:
        title: Its name.
        load: Returns the value of a text that is not empty; raises an error of its library.
        write: Returns a text with other values, which has the line ends ``\\n``.
    """

    title: str
    load: Callable[[str], Any]
    write: Callable[[str, Values], str]

    def rewrite(self, text: str, values: Values) -> str:
        """Return *text* with other values; a mark of the byte order and the ends of lines stay."""
        bare = text.removeprefix(MARK)
        new = self.write(bare.replace("\r\n", "\n"), values)
        return text[: len(text) - len(bare)] + (new.replace("\n", "\r\n") if "\r\n" in text else new)

    def parse(self, text: str) -> Values:
        """Return the values of a text. Raises `ValueError`, which says where the text is wrong, or `TypeError`."""
        text = text.removeprefix(MARK)
        try:
            values = self.load(text) if text.strip() else None
        except json.JSONDecodeError as error:
            place = re.search(r"line (\d+) column (\d+)", str(error))
            problem = error.msg if self.title == "JSON" else "syntax error"
            raise ValueError(
                f"line {place[1]}, column {place[2]}: {problem}" if place else str(error)
            ) from error
        except YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
            raise ValueError(f"{where}{getattr(error, 'problem', None) or error}") from error
        except TOMLKitError as error:
            raise ValueError(str(error)) from error
        values = {} if values is None else values  # as YAML of comments alone
        if not isinstance(values, dict):
            raise TypeError("it is no mapping of names to values")
        return values


def _json(value: object, indent: str | int) -> str:
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return text.encode("utf-8", "backslashreplace").decode()  # half of a pair has no UTF-8


def _rewrite_json(text: str, values: Values) -> str:
    indented = re.search(r"\n([ \t]+)\S", text)
    indent = indented[1] if indented else 2
    former = _json(json.loads(text.strip() or "{}"), indent)
    texts = partial(json.loads, parse_float=str, parse_int=str)
    is_small = len(text) < 100_000  # JSON5 takes a second for twice as much
    if text.strip() and ((is_small and former != text.strip()) or texts(former) != texts(text)):
        return _rewrite_json5(text, values)  # which keeps the layout and the numbers of a person
    return _json(values, indent) + ("" if text and not text.endswith("\n") else "\n")


def _load_json5(text: str, **options: Any) -> Any:
    # The library takes two characters, which JSON permits in a string, for ends of lines.
    return load_json5(text.replace("\u2028", r"\u2028").replace("\u2029", r"\u2029"), **options)


def _rewrite_json5(text: str, values: Values) -> str:
    model = _load_json5(text if text.strip() else "{}\n", loader=ModelLoader())
    indented = re.search(r"\n([ \t]+)\S", text)
    model.value = Json5Edit(indented[1] if indented else "  ").merge(model.value, values)
    return dump_json5(model, dumper=ModelDumper())  # type: ignore[arg-type]  # as its documentation shows


class Json5Edit(NamedTuple):
    """Changes of a JSON5 model with the *indent* of its text. New members are the first ones."""

    indent: str

    def merge(self, node: Value, value: Any, outer: str = "") -> Value:
        """Return *node* with *value*; *outer* is the indentation of its line. Equal members stay as they are."""
        inner = outer + self.indent
        if DefaultLoader().load(node) == value:
            return node
        if not (isinstance(node, JSONObject) and isinstance(value, dict)):
            new = self._node(value, outer)
            if isinstance(node, JSONArray) and isinstance(new, JSONArray):
                known = [(DefaultLoader().load(member), member) for member in node.values]
                for at, (item, place) in enumerate(zip(value, new.values, strict=True)):
                    if equal := next((pair for pair in known if pair[0] == item), None):
                        known.remove(equal)
                        equal[1].wsc_before, equal[1].wsc_after = place.wsc_before, place.wsc_after
                        new.values[at] = equal[1]
            new.wsc_before, new.wsc_after = node.wsc_before, node.wsc_after
            return new
        names = [DefaultLoader().load(key) for key in node.keys]
        for at in reversed(range(len(names))):
            if names[at] in value:
                node.values[at] = self.merge(node.values[at], value[names[at]], inner)
            else:
                _delete(node, at)
        for name in reversed([name for name in value if name not in names]):
            key, member = String(name, json.dumps(name, ensure_ascii=False)), self._node(value[name], inner)
            if node.keys:
                node.keys[0].wsc_before = [*node.leading_wsc, *node.keys[0].wsc_before]
                node.leading_wsc = []
            else:
                member.wsc_after = [f"\n{outer}"]
            key.wsc_before, member.wsc_before = [f"\n{inner}"], [" "]
            node.keys.insert(0, key)
            node.values.insert(0, member)
        return node

    def _node(self, value: object, indent: str) -> Value:
        text = _json(value, self.indent).replace("\n", f"\n{indent}")
        return _load_json5(text, loader=ModelLoader()).value  # type: ignore[no-any-return]


def _has_comment(blanks: list[str | Comment]) -> bool:
    return any(isinstance(part, Comment) for part in blanks)


def _delete(box: JSONObject, at: int) -> None:
    """Delete a member. Comments before it stay, because they may belong to the line above."""
    key, value = box.keys.pop(at), box.values.pop(at)
    comments, after = (part if _has_comment(part) else [] for part in (key.wsc_before, value.wsc_after))
    if at < len(box.keys):
        box.keys[at].wsc_before = [*comments, *box.keys[at].wsc_before]
        if at == 0 and not _has_comment(box.leading_wsc):
            box.leading_wsc = []
    elif box.trailing_comma and box.keys:
        box.trailing_comma.wsc_after = [*comments, *box.trailing_comma.wsc_after]
    elif box.keys:
        box.values[-1].wsc_after = [*box.values[-1].wsc_after, *comments, *value.wsc_after]
    else:
        box.leading_wsc, box.trailing_comma = [*box.leading_wsc, *comments, *after], None


def _rewrite_toml(text: str, values: Values) -> str:
    """Return *text* with other values. tomlkit fails, or loses tables, where the parts of a table are apart."""
    for is_kept in (True, False):
        document = tomlkit.parse(text)
        changed = [name for name, value in document.unwrap().items() if values.get(name) != value]
        for name in () if is_kept else changed:
            del document[name]
        with suppress(LookupError):
            _merge(document, values)
            new = f"{document.as_string().rstrip()}\n"
            if tomlkit.parse(new).unwrap() == values:
                return new
    raise ValueError(f"the parts of {', '.join(changed)} are too far apart to change them")


def _indents(text: str) -> tuple[int, int]:
    """Return by how much *text* indents members, and dashes of lists: as below the first key that has some."""
    lines = [line for line in text.splitlines() if line.strip(" -") and not line.lstrip().startswith("#")]
    found: dict[bool, int] = {}
    for above, line in pairwise(lines):
        is_dash = line.lstrip().startswith("- ")
        depth = len(above.lstrip(" -")) - len(above) + len(line) - len(line.lstrip())
        if above.rstrip().endswith(":") and depth >= (0 if is_dash else 1):
            found.setdefault(is_dash, depth)
    return found.get(False, 2), found.get(True, 0)


def _rewrite_yaml(text: str, values: Values) -> str:
    yaml, output = YAML(pure=True), StringIO()
    yaml.preserve_quotes, yaml.width = True, 10_000
    mapping, dash = _indents(text)
    yaml.indent(mapping=mapping, sequence=dash + 2, offset=dash)
    document = yaml.load(text)
    if document is None:  # nothing but comments, which ruamel drops, or null
        output.write("".join(re.findall(r"(?m)^\s*#.*\n", f"{text}\n")))
        document = CommentedMap()
    _merge(document, values)
    if document:
        yaml.dump(document, output)
    return output.getvalue()


def _merge(document: MutableMapping[str, Any], values: Mapping[str, Any], *, is_root: bool = True) -> None:
    """Give *document* other *values*; equal members stay as they are."""
    for name in [name for name in document if name not in values]:
        del document[name]
    for name, value in values.items():
        if isinstance(document.get(name), MutableMapping) and isinstance(value, Mapping):
            _merge(document[name], value, is_root=False)
        elif name not in document and isinstance(document, CommentedMap) and not is_root:
            document.insert(0, name, value)  # comments after the last member belong to what follows
        elif name not in document or document[name] != value:
            document[name] = value


JSON, JSON5 = Format("JSON", json.loads, _rewrite_json), Format("JSON5", _load_json5, _rewrite_json5)
TOML = Format("TOML", lambda text: tomlkit.parse(text).unwrap(), _rewrite_toml)
YAML_FORMAT = Format("YAML", lambda text: YAML(typ="safe", pure=True).load(text), _rewrite_yaml)
