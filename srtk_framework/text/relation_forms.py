"""Files of relation forms: the words or the template for a relation in a text."""

from __future__ import annotations

import json
import re
from pathlib import Path as FilePath
from typing import Any, NamedTuple

from srtk_framework.text.verbalise import clean
from srtk_framework.values import InputError

_GAP = re.compile(r"\{(?:subject|object)\}|\[[XY]\]")
_LAST = re.compile(r"[^/#.:]+(?=[/#.:]*$)")
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")


class RelationForm(NamedTuple):
    """A form of a relation, as a file has it.

    Attributes:
        place: File and line.
        relation: Id of the relation.
        form: Words (`was born in`) or a template (`{subject} was born in {object}`, `[X] was born in [Y] .`).
    """

    place: str
    relation: str
    form: str


def read_relation_forms(file: FilePath) -> list[RelationForm]:
    """Read the forms of relations, in the order of the file; of a list of forms, the first.

    The file has, by the end of its name:

    - ``.jsonl``: a line ``{"relation": ..., "template": ...}`` for each relation, as LAMA has them; ``form`` instead of
      ``template`` will do.
    - ``.json``: one mapping of relations to forms, or to lists of forms, best first.
    - any other file: a line for each relation, with the form after a tab.

    Raises:
        InputError: If the file cannot be read or has another shape.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: the forms of relations cannot be read ({error})") from error
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
        rows.append(RelationForm(place, fields[0], fields[1]))
    return rows


def worded(form: str) -> str:
    """Return the words of a form or a template, on one line."""
    text = clean(_GAP.sub(" ", form))
    ends = [at for at, char in enumerate(text) if char.isalnum()]
    return text[ends[0] : ends[-1] + 1] if ends else ""


def relation_words(relation: str, label: str) -> str:
    """Return the label of a relation as it is; of an id in place of a label, the words of its last part."""
    if label and label != relation and not _is_last_part(label, relation):
        return clean(label)
    last = _LAST.search(relation)
    return clean(_CAPITAL.sub(" ", last[0] if last else relation).replace("_", " ")) or clean(relation)


def _is_last_part(label: str, relation: str) -> bool:
    """Return whether a label only repeats the end of an IRI, as graphs show relations without a label."""
    return "://" in relation and relation.endswith(label) and relation[-len(label) - 1] in "/#"


def _mapping(data: Any, file: str) -> list[RelationForm]:
    if not isinstance(data, dict):
        raise InputError(f"{file}: forms are one mapping of relations to texts, or to lists of texts")
    rows = []
    for relation, forms in data.items():
        first = forms[0] if isinstance(forms, list) and forms else forms
        if not isinstance(first, str):
            raise InputError(f"{file}: the form of {relation!r} is no text and no list of texts")
        rows.append(RelationForm(file, relation, first))
    return rows


def _parsed(text: str, place: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise InputError(f"{place}: this is not JSON ({error})") from error
