"""Templates that put questions, paths and relations into words for an encoder."""

from __future__ import annotations

import re
from collections.abc import Mapping
from string import Formatter
from typing import Any

import attrs

from srtk_framework.values import DriverError, Step, close_matches

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_JOINT = re.compile(r"[\s_./:]+")
_IDENTIFIER = re.compile(r"[^\s]*(?:_|[a-z0-9][A-Z]|\w\.\w|\w/\w)[^\s]*")


def readable(label: str) -> str:
    """Split a label that is written like an identifier into words; return any other label unchanged.

    ``people.person.place_of_birth`` becomes ``people person place of birth``, and ``capitalOf`` becomes ``capital of``.
    A label with blanks is not an identifier.
    """
    if not _IDENTIFIER.fullmatch(label):
        return label
    parts = _JOINT.split(_CAMEL.sub(" ", label))
    # Acronyms keep their capitals.
    return " ".join(p if len(p) > 1 and p.isupper() else p.lower() for w in parts for p in w.split()) or label


@attrs.frozen
class Templates:
    """Templates of one text form.

    Attributes:
        query: Query before the first step; holds ``{question}``.
        path_query: Query after some steps; holds ``{question}`` and ``{path}``.
        join: Separator between the steps of a path.
        relation: Step in the direction of its relation; holds ``{label}``.
        inverse: Step against that direction; holds ``{label}``.
        candidate: Frame of a candidate, END included, but not of the steps in ``{path}``; holds ``{text}``.
        end: Text of END.
        readable: Whether labels written like identifiers are split into words.
    """

    query: str = "{question}"
    path_query: str = "{question} [SEP] {path}"
    join: str = ", "
    relation: str = "{label}"
    inverse: str = "is {label} of"
    candidate: str = "{text}"
    end: str = "end"
    readable: bool = True

    def step(self, step: Step, label: str) -> str:
        """Return the text of one step."""
        template = self.inverse if step.inverse else self.relation
        return template.replace("{label}", readable(label) if self.readable else label)

    def query_text(self, question: str, path: str) -> str:
        """Return the query text of a question and its path so far, which may be empty."""
        template = self.path_query if path else self.query
        # Both places are filled in one pass, because a question may itself contain `{path}`.
        parts = {"{question}": question, "{path}": path}
        return re.sub(r"\{question\}|\{path\}", lambda found: parts[found[0]], template)

    def candidate_text(self, text: str) -> str:
        """Return the text of a candidate, given the text of its step or of END."""
        return self.candidate.replace("{text}", text)


FORMS = {
    "plain": Templates(),
    # The form of SRTK's training data, which its scorers were trained on.
    "srtk": Templates(
        query="query: {question} [SEP] ",
        path_query="query: {question} [SEP] {path}",
        join=" # ",
        candidate="relation: {text}",
        end="END OF HOP",
        readable=False,
    ),
}

_PLACEHOLDERS = {
    "query": {"question"},
    "path_query": {"question", "path"},
    "relation": {"label"},
    "inverse": {"label"},
    "candidate": {"text"},
    "join": set(),
    "end": set(),
}


def make_templates(form: str | Mapping[str, str], inverse: str | None) -> Templates:
    """Make the templates that the settings of the scorer describe.

    Args:
        form: Name of a text form, or templates that replace single templates of ``plain``.
        inverse: Template for inverse steps; None for the form's.

    Raises:
        DriverError: If a form or template is unknown, or a template lacks its placeholder.
    """
    changes: dict[str, Any] = {}
    if isinstance(form, str):
        if form not in FORMS:
            known = ", ".join(FORMS)
            raise DriverError(
                f"text is {form!r}; use one of {known}, or a mapping of templates.{close_matches(form, list(FORMS))}"
            )
        base = FORMS[form]
    else:
        base, changes = FORMS["plain"], dict(form)
    for name in changes:
        if name not in _PLACEHOLDERS:
            known = ", ".join(_PLACEHOLDERS)
            raise DriverError(f"text has no template {name!r}; use {known}.{close_matches(name, list(_PLACEHOLDERS))}")
    if inverse is not None:
        changes["inverse"] = inverse
    for name, template in changes.items():
        _check(name, template)
    return attrs.evolve(base, **changes)


def _check(name: str, template: str) -> None:
    wanted = _PLACEHOLDERS[name]
    if not wanted:
        return
    try:
        found = {place for _, place, _, _ in Formatter().parse(template) if place is not None}
    except ValueError as error:
        raise DriverError(f"the template {name} {template!r} has an unclosed brace; close it") from error
    if found != wanted:
        placeholders = " and ".join("{" + place + "}" for place in sorted(wanted))
        raise DriverError(f"the template {name} is {template!r}; it must hold {placeholders} and no other placeholder")
