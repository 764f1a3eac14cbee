"""The JSON schema of an answer, made from its type: what `Answer.to_json` gives.

The published copy is docs/answer.schema.json; 'stickler schema' prints it.
"""

from typing import Any

from qa.answer import VERSION, Answer

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_HIT = ("number", "edition", "kind", "rank", "score", "via")  # what a hit says in JSON


def answer_schema() -> dict[str, Any]:
    """The schema of one answer: all fields are required, and no others are allowed."""
    from pydantic import TypeAdapter

    made = TypeAdapter(Answer).json_schema(mode="serialization")
    parts = made["$defs"]
    nested = ("AnsweredQuestion", "Branch", "Citation", "OpenCondition")
    fields = {**parts.pop("Passage")["properties"], **parts["Hit"]["properties"]}
    version = {"const": VERSION, "description": "Raised when these fields change."}
    return {
        "$schema": _DIALECT,
        **_closed("Answer", made, {"version": version, **made["properties"]}),
        "$defs": {
            **{name: _closed(name, parts[name], parts[name]["properties"]) for name in nested},
            "Hit": _closed("Hit", parts["Hit"], {name: fields[name] for name in _HIT}),
        },
    }


def _closed(title: str, made: dict[str, Any], properties: dict[str, Any]) -> dict[str, Any]:
    """An object with exactly these properties, without defaults, because none is ever left out."""
    bare = {
        name: {key: value for key, value in each.items() if key not in ("default", "title")}
        for name, each in properties.items()
    }
    return {
        "title": title,
        "description": made.get("description", ""),
        "type": "object",
        "properties": bare,
        "required": list(bare),
        "additionalProperties": False,
    }
