"""Read the prompt templates: YAML files with a version, of this plugin or from the recipe."""

from __future__ import annotations

import hashlib
import string
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import attrs

from srtk_framework.values import InputError, Message, Prompt, close_matches

PLACES: Mapping[str, tuple[str, ...]] = {
    "first-relations": ("question", "topics", "options", "most"),
    "next-relations": ("question", "topics", "options", "most", "history", "here"),
    "entities": ("question", "topics", "options", "most"),
    "constraints": ("question", "topics", "options", "history", "count"),
    "answer": ("question", "triples"),
    "support": ("question", "answer", "options"),
    "closed-book": ("question",),
}
"""Name of each template, and what may be filled in."""

READING = ("answer",)
"""Those of the reader."""

CHOOSING = tuple(name for name in PLACES if name not in (*READING, "entities"))
"""Those of a walk; the one that chooses among triples has `entities` as well."""

NEEDED = ("question", "options", "triples")
"""Places without which a prompt makes no sense, where it has them."""

_KEYS = ("version", "system", "user")


@attrs.frozen
class Template:
    """The wording of one prompt.

    Attributes:
        name: What the prompt is for.
        version: Changed whenever the wording is; shown in traces.
        system: What is said first; empty for nothing.
        user: What is asked, with places in braces.
    """

    name: str
    version: str
    system: str
    user: str

    def prompt(self, values: Mapping[str, str], **rest: Any) -> Prompt:
        """Fill in the places.

        Args:
            values: Text for each place; what a wording has no place for is left out.
            rest: Further fields of the prompt, such as its options.
        """
        user = Message("user", self.user.format(**values).strip())
        system = self.system.format(**values).strip()
        return Prompt(messages=(Message("system", system), user) if system else (user,), **rest)


def read_templates(replaced: Mapping[str, str], own: Sequence[str] = tuple(PLACES)) -> dict[str, Template]:
    """Read the templates of a driver.

    Args:
        replaced: Name of a template to the YAML file that takes its place.
        own: Those that the driver fills in.

    Raises:
        InputError: If a file cannot be read or filled, or the driver has no template of such a name.
    """
    for name in replaced:
        if name in PLACES and name not in own:
            whose = "the reader" if name in READING else "another expander"
            raise InputError(f"the prompt {name!r} is one of {whose}; the prompts here are {', '.join(own)}")
        if name not in own:
            raise InputError(
                f"there is no prompt {name!r}; there are {', '.join(own)}.{close_matches(name, list(own))}"
            )
    return {name: _read(name, replaced.get(name)) for name in own}


def digest(replaced: Mapping[str, str], own: Sequence[str] = tuple(PLACES)) -> str:
    """Identify the wording of a driver's prompts, those of the recipe by content and not by the name of their file."""
    texts = "\0".join(repr(template) for template in read_templates(replaced, own).values())
    return hashlib.sha256(texts.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _read(name: str, path: str | None) -> Template:
    import yaml

    where = path or f"prompts/{name}.yaml"
    if path is None:
        text = resources.files(__package__).joinpath("prompts", f"{name}.yaml").read_text(encoding="utf-8")
    else:
        try:
            text = Path(path).expanduser().read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{where}: cannot read the prompt {name!r}: {error}") from error
    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InputError(f"{where}: not valid YAML: {' '.join(str(error).split())}") from error
    return _checked(name, found, where)


def _checked(name: str, found: Any, where: str) -> Template:
    if not isinstance(found, dict) or not {"version", "user"} <= found.keys() <= set(_KEYS):
        raise InputError(f"{where}: a prompt has the keys version and user, may have system, and no other")
    parts = {key: found.get(key) or "" for key in ("system", "user")}
    used: set[str] = set()
    for key, text in parts.items():
        if not isinstance(text, str):
            raise InputError(f"{where}: {key} must be text, not {text!r}")
        used |= _places(name, text, f"{where}: {key}")
    for place in NEEDED:
        if place in PLACES[name] and place not in used:
            raise InputError(f"{where}: the prompt {name!r} must have the place {{{place}}}")
    return Template(name, str(found["version"]), **parts)


def _places(name: str, text: str, where: str) -> set[str]:
    try:
        fields = [(field, spec, how) for _, field, spec, how in string.Formatter().parse(text) if field is not None]
    except ValueError as error:
        raise InputError(f"{where}: {error}; write {{{{ and }}}} for braces") from error
    for field, spec, how in fields:
        if field not in PLACES[name] or spec or how:
            known = ", ".join(f"{{{place}}}" for place in PLACES[name])
            raise InputError(f"{where} has {{{field}}}, but the places of the prompt {name!r} are {known}")
    return {field for field, _, _ in fields}
