"""A reader of the API's OpenAPI description, and the part of JSON Schema that it uses."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

Json = dict[str, Any]

KEYWORDS: Final = frozenset(
    {
        *("$ref", "allOf", "oneOf", "type", "const", "enum", "minimum", "maximum", "maxLength", "format", "items"),
        *("properties", "required", "additionalProperties", "unevaluatedProperties", "default", "description"),
    }
)
"""All keywords that `misfits` understands. A schema with another one is not checked in part but refused."""

TYPES: Final = {
    dict: "object",
    list: "array",
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    type(None): "null",
}


class Description:
    """An OpenAPI document."""

    def __init__(self, document: Json) -> None:
        self.document = document

    def operations(self) -> Iterator[tuple[str, str, Json]]:
        """Path, method and description of each operation."""
        for path, methods in self.document["paths"].items():
            for method, operation in methods.items():
                yield path, method, operation

    def answer(self, path: str, method: str, status: int) -> Json:
        """The schema of an answer. Raises KeyError where the description has no such answer."""
        response = self.resolve(self.document["paths"][path][method]["responses"][str(status)])
        return response["content"]["application/json"]["schema"]

    def request(self, path: str) -> Json:
        """The schema of what is posted to a path."""
        return self.document["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]

    def references(self) -> set[str]:
        """Every reference within the document."""
        return set(_references(self.document))

    def components(self) -> set[str]:
        """A reference to each shared part of the document."""
        parts = self.document["components"]
        return {f"#/components/{kind}/{name}" for kind in ("responses", "schemas") for name in parts[kind]}

    def resolve(self, part: Json) -> Json:
        """The part itself, or the one that it refers to."""
        while "$ref" in part:
            _root, *names = part["$ref"].split("/")
            part = self.document
            for name in names:
                part = part[name]
        return part

    def must_fit(self, value: object, schema: Json) -> None:
        """Fail, naming every misfit."""
        misfits = list(self.misfits(value, schema, "answer"))
        assert not misfits, "\n".join(misfits)

    def misfits(self, value: object, schema: Json, at: str) -> Iterator[str]:
        """Every way in which a value is not as its schema says."""
        assert set(schema) <= KEYWORDS, f"{at}: {set(schema) - KEYWORDS}"
        schemas = schema.get("allOf", []) + ([self.resolve(schema)] if "$ref" in schema else [])
        for each in schemas:
            yield from self.misfits(value, each, at)
        if "oneOf" in schema and sum(not any(self.misfits(value, each, at)) for each in schema["oneOf"]) != 1:
            yield f"{at}: {value!r} fits none or several of what is possible"
        if "type" in schema and TYPES[type(value)] not in _listed(schema["type"]):
            yield f"{at}: {value!r} is not of the type {schema['type']}"
        elif not _is_possible(value, schema):
            yield f"{at}: {value!r} isn't possible"
        if isinstance(value, dict):
            yield from self._misfits_of_object(value, schema, at)
        if isinstance(value, list):
            for place, item in enumerate(value):
                yield from self.misfits(item, schema.get("items", {}), f"{at}[{place}]")

    def _misfits_of_object(self, value: Json, schema: Json, at: str) -> Iterator[str]:
        if missing := set(schema.get("required", ())) - set(value):
            yield f"{at}: {sorted(missing)} is missing"
        closed = not schema.get("additionalProperties", True) or not schema.get("unevaluatedProperties", True)
        if closed and (more := set(value) - self._names(schema)):
            yield f"{at}: {sorted(more)} is not described"
        for name in set(schema.get("properties", ())) & set(value):
            yield from self.misfits(value[name], schema["properties"][name], f"{at}.{name}")

    def _names(self, schema: Json) -> set[str]:
        """The properties that a schema describes, itself or by those that it includes."""
        included = (self._names(self.resolve(each)) for each in schema.get("allOf", ()))
        return set(schema.get("properties", ())).union(*included)


def _is_possible(value: Any, schema: Json) -> bool:
    return (
        ("const" not in schema or value == schema["const"])
        and ("enum" not in schema or value in schema["enum"])
        and ("minimum" not in schema or value >= schema["minimum"])
        and ("maximum" not in schema or value <= schema["maximum"])
        and ("maxLength" not in schema or len(value) <= schema["maxLength"])
        and (schema.get("format") != "date-time" or datetime.fromisoformat(value).tzinfo is not None)
    )


def _listed(types: str | list[str]) -> list[str]:
    return [types] if isinstance(types, str) else types


def _references(part: object) -> Iterator[str]:
    if isinstance(part, dict):
        if "$ref" in part:
            yield part["$ref"]
        part = list(part.values())
    if isinstance(part, list):
        for each in part:
            yield from _references(each)
