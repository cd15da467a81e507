"""The JSON Schema of recipes, made of the fields and validators of drivers, for editors that complete and check.

The schema refuses values that ``srtk check`` refuses by themselves: unknown keys and drivers, types, choices, bounds
and missing settings. Faults that depend on another place of the recipe, on a file or on the environment are left to
``srtk check``: needs and who fills them, names under ``vars:`` or ``encoders:``, two settings that exclude each other.
"""

from __future__ import annotations

import json
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Union, get_args, get_origin

import attrs

from srtk_framework.host import OBSERVER, STAGE, find, known_names, load, meanings, role_class, role_names
from srtk_framework.recipe import MANY, VERSION, Options, Stage, load_stage, needs_of, wants_budget
from srtk_framework.records import Part
from srtk_framework.roles import ROLES, Role
from srtk_framework.values import deprecation_of

DIALECT = "https://json-schema.org/draft/2020-12/schema"
VARIABLE = {"$ref": "#/$defs/variable"}

Json = dict[str, Any]

_SCALARS: dict[Any, str] = {int: "integer", float: "number", str: "string", bool: "boolean", type(None): "null"}
_KEYWORDS = {
    "integer": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    "string": ("enum", "minLength"),
    "array": ("items", "minItems"),
    "object": ("additionalProperties", "propertyNames", "minProperties"),
}
"""Keywords of validators that say something about values of each type."""


def recipe_schema(known: bool = False) -> Json:
    """Return the JSON Schema (draft 2020-12) of recipes.

    Args:
        known: Describe the drivers of the framework's own plugins alone, in place of all that are installed.

    Raises:
        PluginError: If a driver cannot be loaded.
    """
    roles = dict(ROLES) if known else {name: role_class(name) for name in role_names()}
    return SchemaWriter(roles, _names(roles, known)).recipe()


def _names(roles: Mapping[str, type[Role]], known: bool) -> dict[str, list[str]]:
    """Return the names of the drivers of each role, and of the observers."""
    wanted = [*roles, OBSERVER, STAGE]
    if not known:
        return {role: sorted({plugin.name for plugin in find(role)}) for role in wanted}
    return {
        **{role: known_names(role) for role in wanted},
        OBSERVER: sorted(plugin.name for plugin in find(OBSERVER) if plugin.distribution == "srtk-framework"),
    }


class SchemaWriter:
    """Writes the definitions of all drivers, and the recipe around them.

    Attributes:
        definitions: Definitions by name: ``ROLE``, ``ROLE.DRIVER``, ``variable``.
        conditions: Conditions between keys, for stages to add to.
    """

    def __init__(self, roles: Mapping[str, type[Role]], names: Mapping[str, Sequence[str]]) -> None:
        self.roles = roles
        self.names = names
        self.definitions: dict[str, Json] = {"variable": _variable()}
        self.conditions: list[Json] = []
        # Stages that describe their own key build on these.
        self.or_variable, self.questions, self.top = _or_variable, _questions, _top

    def recipe(self) -> Json:
        """Return the whole schema."""
        for role in [*self.roles, OBSERVER]:
            self._define(role)
        single = {name: role for name, role in self.roles.items() if role.top_level and not role.several}
        listed = {name: role for name, role in self.roles.items() if role.top_level and role.several}
        fields = _fields(Options)
        properties: Json = {
            "srtk": {"const": VERSION, "description": "Version of the recipe format."},
            "vars": {"type": "object", "description": "Variables: `${name}` in any text stands for the value."},
            "questions": _or_variable(_questions({"type": ["string", "null"]})),
            **{
                name: _or_variable(type_schema(field.type, field.validator, self.definitions))
                for name, field in fields.items()
            },
            **{name: _top(name) for name in single},
            **{role.plural: _mapping(_top(name)) for name, role in single.items()},
            **{role.plural: {"type": "array", "items": _top(name)} for name, role in listed.items()},
            "observers": {"type": "array", "items": _top(OBSERVER)},
            **{key: self.stage(load_stage(key)) for key in self.names[STAGE]},
        }
        for key, text in meanings(Options).items():
            properties[key]["description"] = text
        return {
            "$schema": DIALECT,
            "title": "Recipe of srtk-framework",
            "type": "object",
            "required": ["srtk"],
            "properties": properties,
            "additionalProperties": False,
            "allOf": self.conditions,
            "$defs": self.definitions,
        }

    def _define(self, role: str) -> None:
        """Add the definitions of a role's drivers, and of a block that names one of them."""
        cases = []
        for name in self.names[role]:
            self.definitions[f"{role}.{name}"] = self._driver(role, load(role, name))
            chosen = {"properties": {"use": {"const": name}}, "required": ["use"]}
            cases.append({"if": chosen, "then": {"$ref": f"#/$defs/{role}.{name}"}})
        use = _or_variable({"anyOf": [{"enum": list(self.names[role])}, {"type": "string", "pattern": ":"}]})
        self.definitions[role] = {"type": "object", "required": ["use"], "properties": {"use": use}, "allOf": cases}

    def _driver(self, role: str, cls: type[Any]) -> Json:
        """Describe the settings and needs of a driver."""
        needs = {need.field: need for need in needs_of(cls)} if role != OBSERVER else {}
        fields, texts = _fields(cls), meanings(cls)
        properties: Json = {"use": True, "name": True}
        required = ["use"]
        for name, field in fields.items():
            if name in needs:
                properties[name] = self._need(needs[name])
            else:
                properties[name] = _or_variable(type_schema(field.type, field.validator, self.definitions))
                _annotate(properties[name], field)
                if field.default is attrs.NOTHING and not wants_budget(field):
                    required.append(name)
            if name in texts:
                properties[name] = {"description": texts[name], **properties[name]}
        if role == "dataset":
            part = type_schema(Part, shared=self.definitions)
            properties["part"] = _or_variable({"if": {"type": "array"}, "then": _pair(), "else": part})
        loose = {other: {"$ref": f"#/$defs/{other}"} for other in self.roles if other not in properties}
        summary = (cls.__doc__ or "").strip().split("\n")[0]
        return {
            "description": summary,
            "properties": properties | loose,
            "required": required,
            "additionalProperties": False,
        }

    def _need(self, need: Any) -> Json:
        """Describe a driver in a field: a block, or the name of a block elsewhere in the recipe."""
        block = _block_or(need.role, {"type": ["string", "null"]})
        if need.kind != MANY:
            return block
        items = _block_or(need.role, {"type": "string"})
        return {"if": {"type": "array"}, "then": {"items": items}, "else": block}

    def object(self, kind: type[Any], optional: Callable[[Any], bool] = lambda field: False) -> Json:
        """Describe an attrs class that a recipe writes as a mapping; ``optional`` fields may be left out."""
        return _object(kind, self.definitions, optional)

    def stage(self, cls: type[Stage]) -> Json:
        """Describe the value under the key of a stage: its fields, or its own schema."""
        own = cls.schema(self)
        if own is not None:
            return own
        return {**self.object(cls), "type": ["object", "boolean", "null"]}

    @staticmethod
    def of(kind: Any) -> Json:
        """Describe the values of a type; a variable may stand for them."""
        return _or_variable(type_schema(kind))


def type_schema(kind: Any, validator: Any = None, shared: dict[str, Json] | None = None) -> Json:
    """Describe the values of a type, as far as a validator accepts them.

    Args:
        kind: A type that a field of a driver may have.
        validator: Validator of the field; only validators of this framework and of attrs count.
        shared: Takes the definitions of attrs classes, which stand for themselves without it.
    """
    written = _type(kind, shared)
    for keywords in _keywords(validator):
        _narrow(written, keywords)
    return written


def _type(kind: Any, shared: dict[str, Json] | None) -> Json:
    origin, args = get_origin(kind), get_args(kind)
    if kind in _SCALARS:
        return {"type": _SCALARS[kind]}
    if kind is None:
        return {"type": "null"}
    if origin in (Union, types.UnionType):
        return _either(*(_type(arg, shared) for arg in args))
    if attrs.has(kind):
        if shared is None:
            return _object(kind)
        name = f"{kind.__module__.partition('.')[0]}.{kind.__qualname__}"
        if name not in shared:
            shared[name] = _object(kind, shared)
        return {"$ref": f"#/$defs/{name}"}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _or_variable(_type(args[1], shared))}
    if isinstance(origin, type) and issubclass(origin, Sequence):
        items = [_or_variable(_type(arg, shared)) for arg in args if arg is not Ellipsis]
        if origin is tuple and len(items) > 1:
            return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
        return {"type": "array", "items": items[0]} if items else {"type": "array"}
    choices = [arg for arg in args if isinstance(arg, str | int)]
    return {"enum": choices} if choices else {}


def _object(
    kind: type[Any], shared: dict[str, Json] | None = None, optional: Callable[[Any], bool] = lambda field: False
) -> Json:
    """Describe an attrs class that a recipe writes as a mapping."""
    fields, texts = _fields(kind), meanings(kind)
    properties: Json = {}
    for name, field in fields.items():
        properties[name] = _or_variable(type_schema(field.type, field.validator, shared))
        _annotate(properties[name], field)
        if name in texts:
            properties[name] = {"description": texts[name], **properties[name]}
    required = [name for name, field in fields.items() if field.default is attrs.NOTHING and not optional(field)]
    return {
        "type": "object",
        "properties": properties,
        **({"required": required} if required else {}),
        "additionalProperties": False,
    }


def _fields(cls: type[Any]) -> dict[str, Any]:
    attrs.resolve_types(cls)
    return {field.alias: field for field in attrs.fields(cls) if field.init}


def _either(*kinds: Json) -> Json:
    """Describe values of several types; as one list of types where each has its own, which gives better messages."""
    if len(kinds) == 2 and {"type": "null"} in kinds:
        (other,) = (kind for kind in kinds if kind != {"type": "null"})
        if not isinstance(other.get("type"), str):
            return {"if": {"type": "null"}, "else": other}
    names = [kind.get("type") for kind in kinds]
    if (
        all(isinstance(name, str) for name in names)
        and len({*names}) == len(names)
        and {*names} != {"integer", "number"}
    ):
        merged: Json = {}
        for kind in kinds:
            merged |= kind
        return {**merged, "type": names}
    return {"anyOf": list(kinds)}


def _keywords(validator: Any) -> Iterator[Json]:
    """Yield the bounds of validators, also of attrs."""
    if validator is None:
        return
    if hasattr(validator, "schema"):
        yield validator.schema()
    elif hasattr(validator, "_validators"):
        for one in validator._validators:
            yield from _keywords(one)
    elif type(validator).__module__ == "attr.validators":
        names = {">=": "minimum", ">": "exclusiveMinimum", "<=": "maximum", "<": "exclusiveMaximum"}
        if hasattr(validator, "compare_op"):
            yield {names[validator.compare_op]: validator.bound}
        elif hasattr(validator, "options"):
            yield {"enum": [one for one in validator.options if isinstance(one, str)]}
        else:  # optional
            yield from _keywords(getattr(validator, "validator", None))


def _narrow(written: Json, keywords: Mapping[str, Any]) -> None:
    """Add keywords to a description, each where values of its type are described."""
    for member in (*written.get("anyOf", ()), *([written["else"]] if "else" in written else [])):
        _narrow(member, keywords)
    kinds = written.get("type", ())
    kinds = [kinds] if isinstance(kinds, str) else kinds
    for keyword in dict.fromkeys(keyword for kind in kinds for keyword in _KEYWORDS.get(kind, ())):
        if keyword not in keywords:
            continue
        value = keywords[keyword]
        if keyword == "enum":
            value = [*value, *([None] if "null" in kinds else [])]
        if keyword in ("items", "additionalProperties"):
            inner = written[keyword].get("else", written[keyword]) if isinstance(written.get(keyword), dict) else {}
            inner.update(value)
        else:
            written[keyword] = value


def _variable() -> Json:
    """Describe variables, which stand for a value: of the recipe, or of the environment."""
    environment = {
        "type": "object",
        "properties": {"env": {"type": "string", "minLength": 1}, "default": True},
        "required": ["env"],
        "additionalProperties": False,
    }
    return {
        "description": "A variable: ${name} of `vars`, or {env: NAME, default: VALUE} of the environment.",
        "anyOf": [{"type": "string", "pattern": r"^\$\{\w+\}$"}, environment],
    }


def _or_variable(kind: Json) -> Json:
    """Describe a value that a variable may stand for."""
    return {"if": VARIABLE, "else": kind} if kind else {}


def _top(role: str) -> Json:
    """Describe a driver at the top level: a block, or the name of a driver alone."""
    known = {"$ref": f"#/$defs/{role}/properties/use"}
    return {"if": {"type": "string"}, "then": known, "else": _block_or(role, {"type": "object"})}


def _block_or(role: str, other: Json) -> Json:
    """Describe a block of a driver, or another value; a variable may stand for either."""
    block = {"if": {"type": "object"}, "then": {"$ref": f"#/$defs/{role}"}, "else": other}
    return _or_variable(block)


def _questions(other: Json) -> Json:
    return {"if": {"type": "object"}, "then": {"$ref": "#/$defs/dataset"}, "else": other}


def _mapping(item: Json) -> Json:
    return {"type": "object", "additionalProperties": item}


def _pair() -> Json:
    return {"type": "array", "items": {"type": "number", "minimum": 0, "maximum": 1}, "minItems": 2, "maxItems": 2}


def _annotate(written: Json, field: Any) -> None:
    """Add the default of a field, where JSON can write it, and whether the setting is deprecated."""
    if isinstance(field.default, bool | int | float | str):
        written["default"] = field.default
    if deprecation_of(field) is not None:
        written["deprecated"] = True


def written_schema(schema: Json) -> str:
    """Write a schema as text, the same for the same drivers, with one line for each key and definition."""

    def lines(written: Json, indent: str) -> str:
        rows = [f"{indent}{json.dumps(key)}: {json.dumps(one, ensure_ascii=False)}" for key, one in written.items()]
        return ",\n".join(rows)

    outer = {key: one for key, one in schema.items() if key not in ("properties", "$defs")}
    parts = [lines(outer, " ")]
    parts += [f' "{key}": {{\n{lines(schema[key], "  ")}\n }}' for key in ("properties", "$defs")]
    return "{\n" + ",\n".join(parts) + "\n}\n"
