"""The messages as OpenAPI components; `python -m plainzero.server.api.openapi` prints them."""

import importlib
import json
import pkgutil
from collections.abc import Iterator
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import models_json_schema

from plainzero import __version__
from plainzero.server.api import schemas as messages
from plainzero.server.api.schemas.base import Message
from plainzero.server.api.schemas.searching import Agent
from plainzero.server.api.schemas.socket import FromClient, FromServer

UNIONS: dict[str, Any] = {"FromClient": FromClient, "FromServer": FromServer, "Agent": Agent}
REFERENCE = "#/components/schemas/{model}"


def message_document() -> dict[str, Any]:
    """An OpenAPI document with the messages and no routes."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "PlainZero", "version": __version__},
        "paths": {},
        "components": {"schemas": message_schemas()},
    }


def message_schemas() -> dict[str, Any]:
    """The JSON Schema of every message and of the unions, by name, for components/schemas."""
    _, document = models_json_schema(
        [(message, "validation") for message in _messages()], ref_template=REFERENCE
    )
    schemas: dict[str, Any] = document["$defs"]
    for name, union in UNIONS.items():
        schema = TypeAdapter(union).json_schema(ref_template=REFERENCE)
        schema.pop("$defs")
        schemas[name] = {"title": name, **schema}
    for schema in schemas.values():
        _require_tags(schema)
    return dict(sorted(schemas.items()))


def _messages() -> list[type[Message]]:
    for module in pkgutil.iter_modules(messages.__path__, messages.__name__ + "."):
        importlib.import_module(module.name)
    found = [kind for kind in _subclasses(Message) if kind.__module__.startswith(messages.__name__)]
    return sorted(found, key=lambda kind: kind.__name__)


def _subclasses(kind: type[Message]) -> Iterator[type[Message]]:
    for subclass in kind.__subclasses__():
        yield subclass
        yield from _subclasses(subclass)


def _require_tags(schema: dict[str, Any]) -> None:
    """Makes the discriminator required: it has a default, but both sides always send it."""
    tags = [name for name, field in schema.get("properties", {}).items() if "const" in field]
    if tags:
        schema["required"] = [*tags, *(r for r in schema.get("required", []) if r not in tags)]


if __name__ == "__main__":
    print(json.dumps(message_document(), indent=2, ensure_ascii=False))
