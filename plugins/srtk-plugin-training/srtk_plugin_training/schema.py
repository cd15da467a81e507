"""The part of a recipe's JSON Schema on ``train``."""

from __future__ import annotations

from typing import Any

from srtk_framework.host import load, meanings
from srtk_plugin_training.settings_class import settings_class
from srtk_plugin_training.train_key import HeldOut, Train

Json = dict[str, Any]

_OF_QUESTIONS = ("paths", "links", "answers")  # What drivers ``learns`` from that are given as questions.


def train_schema(writer: Any) -> Json:
    """Describe the values of ``train``; parts that depend on the driver become conditions of the writer."""
    roles = [name for name, role in writer.roles.items() if role.top_level and not role.several]
    for role in roles:
        _fits(writer, role)
    questions = writer.or_variable(writer.questions({"type": ["string", "null"]}))
    one_set = {
        "type": "object",
        "required": ["questions", "knowledge_graph"],
        "properties": {
            "questions": writer.questions({"type": "string"}),
            "knowledge_graph": writer.top("knowledge_graph"),
            "supervision": _or_null(writer.top("supervision")),
        },
        "additionalProperties": False,
    }
    part = {"type": ["string", "null", "number"], "exclusiveMinimum": 0, "exclusiveMaximum": 1}
    properties: Json = {
        "driver": {"enum": roles},
        "questions": {**questions, "not": {"const": "-"}},
        "validation": {**writer.or_variable(writer.questions(part)), "not": {"const": "-"}},
        "supervision": _or_null(writer.top("supervision")),
        "folder": writer.or_variable({"type": ["string", "null"]}),
        "fit": {"type": ["object", "null"]},
        "held_out": writer.of(HeldOut | None),
        "texts": _or_null(writer.top("corpus")),
        "sets": {"type": ["array", "null"], "minItems": 1, "items": one_set},
    }
    for key, text in meanings(Train).items():
        properties[key] = {"description": text, **properties[key]}
    written = {"type": ["object", "null", "boolean"], "properties": properties, "additionalProperties": False}
    return {**written, "not": {"const": True}}


def _fits(writer: Any, role: str) -> None:
    """Require a driver of the role where it is trained, and describe the settings of its training."""
    driver: Json = {"properties": {"driver": {"const": role}}}
    if role != "path_scorer":  # which is the default
        driver["required"] = ["driver"]
    trained = {"properties": {"train": {"type": "object", **driver}}, "required": ["train"]}
    writer.conditions.append({"if": trained, "then": {"required": [role]}})
    for name in writer.names[role]:
        cls = load(role, name)
        if not hasattr(cls, "fit"):
            continue
        # A setting that defaults to the expander's may be left out.
        settings = writer.object(settings_class(cls), lambda field: bool(field.metadata.get("as") == "expander"))
        writer.definitions[f"fit.{role}.{name}"] = settings
        block = {"type": "object", "properties": {"use": {"const": name}}, "required": ["use"]}
        either = {"if": {"type": "string"}, "then": {"const": name}, "else": block}
        chosen = {"properties": {role: either}, "required": [role]}
        fit = {"if": {"type": "object"}, "then": {"$ref": f"#/$defs/fit.{role}.{name}"}}
        train: Json = {"properties": {"fit": fit}}
        if getattr(cls, "learns", "") in _OF_QUESTIONS:
            train["anyOf"] = [{"required": ["questions"]}, {"required": ["sets"]}]
        writer.conditions.append({"if": {"allOf": [trained, chosen]}, "then": {"properties": {"train": train}}})


def _or_null(kind: Json) -> Json:
    return {"if": {"type": "null"}, "else": kind}
