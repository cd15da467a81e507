"""Lexical forms of relations: the words that name a relation in a text, from a file, templates, or labels."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any

import attrs

from srtk_framework.roles import KnowledgeGraph
from srtk_framework.text import clean
from srtk_framework.values import InputError

_GAP = re.compile(r"\{(?:subject|object)\}|\[[XY]\]")
_LAST = re.compile(r"[^/#.:]+(?=[/#.:]*$)")
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")


@attrs.frozen
class LexicalForms:
    """Forms of the relations of a graph.

    Attributes:
        graph: An open graph, whose labels name the relations that have no form.
        given: Forms by relation; see ``read_forms``.
    """

    graph: KnowledgeGraph
    given: Mapping[str, str] = attrs.field(factory=dict)

    def forms(self, relations: Sequence[str]) -> list[str]:
        """Return the form of each relation: the given one, else its label, else the words of its id."""
        unknown = sorted({relation for relation in relations if relation not in self.given})
        labels = dict(zip(unknown, self.graph.labels(unknown), strict=True)) if unknown else {}
        return [
            self.given[relation] if relation in self.given else _label_form(relation, labels[relation])
            for relation in relations
        ]


def read_forms(file: FilePath) -> dict[str, str]:
    """Read the forms of relations.

    The file has, by the end of its name:

    - ``.jsonl``: a line ``{"relation": ..., "template": ...}`` for each relation, as LAMA has them; ``form`` instead of
      ``template`` will do.
    - ``.json``: one mapping of relations to forms, or to lists of forms, best first.
    - any other: a line for each relation, with the form after a tab.

    A form may be a template, ``{subject} was born in {object}`` or ``[X] was born in [Y] .``: the two ends and the
    punctuation around the rest are taken away. Of several forms of a relation the first one counts.

    Raises:
        InputError: If the file cannot be read, has another shape, or a form has no words.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: the forms of relations cannot be read ({error})") from error
    found: dict[str, str] = {}
    for place, relation, form in _rows(text, file):
        words = worded(form)
        if not words:
            raise InputError(f"{place}: the form {form!r} of {relation!r} has no words")
        found.setdefault(relation, words)
    return found


def worded(form: str) -> str:
    """Return the words of a form or a template, on one line."""
    text = clean(_GAP.sub(" ", form))
    ends = [at for at, char in enumerate(text) if char.isalnum()]
    return text[ends[0] : ends[-1] + 1] if ends else ""


def _rows(text: str, file: FilePath) -> list[tuple[str, str, str]]:
    """Return the place, relation and form of each row."""
    if file.suffix == ".json":
        return _mapping(_parsed(text, str(file)), str(file))
    rows = []
    # Other separators than a line feed may lie within a form.
    for number, line in enumerate(text.split("\n"), 1):
        line, place = line.removesuffix("\r"), f"{file}:{number}"
        if not line.strip():
            continue
        if file.suffix == ".jsonl":
            row = _parsed(line, place)
            row = row if isinstance(row, dict) else {}
            fields: list[Any] = [row.get("relation"), row.get("template", row.get("form"))]
        else:
            fields = list(line.split("\t"))
        if len(fields) != 2 or not all(isinstance(field, str) and field for field in fields):
            wanted = "an object with `relation` and `template`" if file.suffix == ".jsonl" else "relation, tab, form"
            raise InputError(f"{place}: a line has {wanted}")
        rows.append((place, fields[0], fields[1]))
    return rows


def _mapping(data: Any, file: str) -> list[tuple[str, str, str]]:
    if not isinstance(data, dict):
        raise InputError(f"{file}: forms are one mapping of relations to texts, or to lists of texts")
    rows = []
    for relation, forms in data.items():
        first = forms[0] if isinstance(forms, list) and forms else forms
        if not isinstance(first, str):
            raise InputError(f"{file}: the form of {relation!r} is no text and no list of texts")
        rows.append((file, relation, first))
    return rows


def _parsed(text: str, place: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise InputError(f"{place}: this is not JSON ({error})") from error


def _label_form(relation: str, label: str) -> str:
    """Return a label as it is; of an id that stands for a missing one, the words of its last part."""
    if label and label != relation:
        return clean(label)
    last = _LAST.search(relation)
    return clean(_CAPITAL.sub(" ", last[0] if last else relation).replace("_", " ")) or clean(relation)
