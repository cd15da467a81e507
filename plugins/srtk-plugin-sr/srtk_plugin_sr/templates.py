"""How questions, paths and relations are put into words for an encoder."""

from __future__ import annotations

import re
from collections.abc import Mapping
from string import Formatter

import attrs

from srtk_framework.values import DriverError, Step, close_matches

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_JOINT = re.compile(r"[\s_./:]+")
_IDENTIFIER = re.compile(r"[^\s]*(?:_|[a-z0-9][A-Z]|\w\.\w|\w/\w)[^\s]*")


def readable(label: str) -> str:
    """Turn a label that is written like an identifier into words; leave other labels as they are.

    ``people.person.place_of_birth`` becomes ``people person place of birth`` and ``capitalOf`` ``capital of``.
    A label with blanks is words already.
    """
    if not _IDENTIFIER.fullmatch(label):
        return label
    parts = _JOINT.split(_CAMEL.sub(" ", label))
    # An acronym stays as it is written.
    return " ".join(p if len(p) > 1 and p.isupper() else p.lower() for w in parts for p in w.split()) or label


@attrs.frozen
class Wording:
    """Templates of one text form.

    Attributes:
        query: The question before the first step; ``{question}``.
        path_query: The question with the steps so far; ``{question}`` and ``{path}``.
        join: Stands between the steps of a path.
        relation: A step along a relation's direction; ``{label}``.
        inverse: A step against it; ``{label}``.
        candidate: Stands around a candidate, END included, but not around the steps of ``{path}``; ``{text}``.
        end: The candidate that ends a path.
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
        """Word one step."""
        template = self.inverse if step.inverse else self.relation
        return template.replace("{label}", readable(label) if self.readable else label)

    def query_text(self, question: str, path: str) -> str:
        """Word the query for a question and its path so far, which may be empty."""
        template = self.path_query if path else self.query
        # One pass: a question that holds `{path}` is not a template.
        parts = {"{question}": question, "{path}": path}
        return re.sub(r"\{question\}|\{path\}", lambda found: parts[found[0]], template)

    def candidate_text(self, text: str) -> str:
        """Word a candidate from the words of its step, or from ``end``."""
        return self.candidate.replace("{text}", text)


FORMS = {
    "plain": Wording(),
    # The form of SRTK's training data, so that its scorers see what they were trained on.
    "srtk": Wording(
        query="query: {question} [SEP] ",
        path_query="query: {question} [SEP] {path}",
        join=" # ",
        candidate="relation: {text}",
        end="END OF HOP",
        readable=False,
    ),
}

_PLACES = {
    "query": {"question"},
    "path_query": {"question", "path"},
    "relation": {"label"},
    "inverse": {"label"},
    "candidate": {"text"},
    "join": set(),
    "end": set(),
}


def wording(
    form: str | Mapping[str, str], inverse: str | None, end: str | None, readable_labels: bool | None
) -> Wording:
    """Make the wording that the settings describe.

    Args:
        form: Name of a form, or templates that replace those of ``plain``.
        inverse: Replaces the form's template for inverse steps.
        end: Replaces the form's text for END.
        readable_labels: Replaces the form's choice.

    Raises:
        DriverError: For an unknown form, an unknown template, or a template without its place.
    """
    if isinstance(form, str):
        if form not in FORMS:
            known = ", ".join(FORMS)
            raise DriverError(
                f"text is {form!r}; use one of {known}, or a mapping of templates.{close_matches(form, list(FORMS))}"
            )
        base, changes = FORMS[form], {}
    else:
        base, changes = FORMS["plain"], dict(form)
    for name in changes:
        if name not in _PLACES:
            known = ", ".join(_PLACES)
            raise DriverError(f"text has no template {name!r}; use {known}.{close_matches(name, list(_PLACES))}")
    if inverse is not None:
        changes["inverse"] = inverse
    if end is not None:
        changes["end"] = end
    for name, template in changes.items():
        _check(name, template)
    templates = {name: changes.get(name, getattr(base, name)) for name in _PLACES}
    return Wording(**templates, readable=base.readable if readable_labels is None else readable_labels)


def _check(name: str, template: str) -> None:
    wanted = _PLACES[name]
    if not wanted:
        return
    try:
        found = {place for _, place, _, _ in Formatter().parse(template) if place is not None}
    except ValueError as error:
        raise DriverError(f"the template {name} {template!r} has a brace that does not close") from error
    if found != wanted:
        places = " and ".join("{" + place + "}" for place in sorted(wanted))
        raise DriverError(f"the template {name} is {template!r}; it must hold {places} and no other place")
