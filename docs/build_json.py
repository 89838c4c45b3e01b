"""Writes the tables of fields in docs/json.md from the descriptions in docs/schemas.

    python docs/build_json.py

Everything else of the page is written by hand. A test compares the tables with the schemas.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PAGE = HERE / "json.md"
_PLACE = re.compile(r"(<!-- fields: (\S+) -->\n).*?(<!-- end of fields -->)", re.DOTALL)
_ORDER = ("measure", "compare", "refine", "run", "report", "tasks", "doctor")
_OR_NULL = "_or_null"

Schema = Mapping[str, Any]


def page(text: str) -> str:
    """The page with every table made anew."""
    schemas = {verb: json.loads((HERE / "schemas" / f"{verb}.json").read_text("utf-8")) for verb in _ORDER}

    def table(match: re.Match[str]) -> str:
        name = match[2]
        lines = _common(schemas) if name == "common" else _words(schemas) if name == "words" else None
        lines = _verb(schemas[name], _shared(schemas)) if lines is None else lines
        return f"{match[1]}\n" + "\n".join(lines) + f"\n\n{match[3]}"

    return _PLACE.sub(table, text)


def _shared(schemas: Mapping[str, Schema]) -> dict[str, Schema]:
    """Shapes that several verbs use."""
    shapes = [shape for schema in schemas.values() for shape in schema["$defs"].items()]
    return {name: shape for name, shape in shapes if [one for one, _ in shapes].count(name) > 1}


def _common(schemas: Mapping[str, Schema]) -> list[str]:
    lines: list[str] = []
    for name, shape in _shared(schemas).items():
        if not name.endswith(_OR_NULL) and "enum" not in shape:
            lines += _section(name, shape)
    return lines[1:]


def _words(schemas: Mapping[str, Schema]) -> list[str]:
    words = {name: shape for name, shape in _shared(schemas).items() if "enum" in shape}
    lines = ["| name | words | meaning |", "|---|---|---|"]
    lines += [f"| {name} | {_choices(shape)} | {shape['description']} |" for name, shape in words.items()]
    return lines


def _verb(schema: Schema, shared: Mapping[str, Schema]) -> list[str]:
    top = {name: schema["properties"][name] for name in ("results", "summary")}
    lines = [*_header(), *_rows(top, schema.get("required", ()), "")]
    for name, shape in reversed(schema["$defs"].items()):
        if name not in shared:
            lines += _section(name, shape)
    return lines


def _section(name: str, shape: Schema) -> list[str]:
    lines = ["", f"**`{name}`**: {shape['description']}." if "description" in shape else f"**`{name}`**"]
    if "properties" in shape:
        lines += ["", *_header(), *_rows(shape["properties"], shape["required"], "")]
    return lines


def _header() -> list[str]:
    return ["| field | type | meaning |", "|---|---|---|"]


def _rows(properties: Mapping[str, Schema], required: tuple[str, ...], prefix: str) -> Iterator[str]:
    for name, field in properties.items():
        place = prefix + name
        words = f" ({_choices(field)})" if "enum" in field else ""
        absent = "" if name in required else " (may be absent)"
        meaning = field.get("description", "").replace("|", "\\|")
        yield f"| `{place}` | {_kind(field)}{absent} | {meaning}{words} |"
        inner = next((one for one in field.get("anyOf", ()) if "properties" in one), field)
        if inner.get("type") == "array" and "properties" in inner.get("items", {}):
            inner, place = inner["items"], f"{place}[]"
        if "properties" in inner:
            yield from _rows(inner["properties"], inner["required"], f"{place}.")


def _choices(shape: Schema) -> str:
    return ", ".join("null" if word is None else f"`{word}`" for word in shape["enum"])


def _kind(field: Schema) -> str:
    """A type in words."""
    if "/properties/" in field.get("$ref", ""):
        return "word"
    if "$ref" in field:
        name = field["$ref"].rpartition("/")[2]
        return f"{name.removesuffix(_OR_NULL)} or null" if name.endswith(_OR_NULL) else name
    if "anyOf" in field:
        return " or ".join(_kind(one) for one in field["anyOf"])
    if "enum" in field or "const" in field:
        return "text" if "const" in field else "word"
    if "if" in field:
        return f"{_kind(field['then'])} or {_kind(field['else'])}"
    return _plain(field)


def _plain(field: Schema) -> str:
    kinds = field["type"] if isinstance(field["type"], list) else [field["type"]]
    names = {"array": "list", "string": "text", "boolean": "true or false"}
    words = [names.get(kind, kind) for kind in kinds]
    if "array" in kinds and isinstance(field.get("items"), dict):
        words[kinds.index("array")] = f"list of {_kind(field['items'])}"
    if isinstance(field.get("additionalProperties"), dict):
        words = [f"map to {_kind(field['additionalProperties'])}"]
    return " or ".join(words)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text("utf-8")), encoding="utf-8")
