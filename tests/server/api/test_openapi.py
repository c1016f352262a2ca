import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pydantic")

from plainzero.server.api.openapi import message_document, message_schemas

WEB = Path(__file__).parents[3] / "web"


def test_the_page_knows_the_messages_as_they_are_now() -> None:
    stored = json.loads((WEB / "openapi.json").read_text(encoding="utf-8"))
    stored["info"] = message_document()["info"]  # a new version alone changes no message
    assert stored == message_document(), (
        "web/openapi.json is stale: run python -m plainzero.server.api.openapi > web/openapi.json, "
        "then npm run types in web/"
    )


def test_every_reference_leads_to_a_schema() -> None:
    schemas = message_schemas()
    missing = {name for name in _references(schemas) if name not in schemas}
    assert not missing


@pytest.mark.parametrize("union", ["FromClient", "FromServer"])
def test_a_socket_message_is_told_apart_by_its_type(union: str) -> None:
    schemas = message_schemas()
    mapping = schemas[union]["discriminator"]["mapping"]
    for tag, reference in mapping.items():
        message = schemas[reference.rsplit("/", 1)[1]]
        assert message["properties"]["type"]["const"] == tag
        assert "type" in message["required"]


def test_every_message_with_a_type_travels_on_the_socket() -> None:
    schemas = message_schemas()
    sent = {
        reference.rsplit("/", 1)[1]
        for union in ("FromClient", "FromServer")
        for reference in schemas[union]["discriminator"]["mapping"].values()
    }
    typed = {
        name
        for name, schema in schemas.items()
        if "const" in schema.get("properties", {}).get("type", {})
    }
    assert typed == sent


def _references(part: Any) -> set[str]:
    if isinstance(part, dict):
        own = {part["$ref"].rsplit("/", 1)[1]} if isinstance(part.get("$ref"), str) else set()
        return own.union(*(_references(value) for value in part.values()))
    if isinstance(part, list):
        return set().union(*(_references(value) for value in part))
    return set()
