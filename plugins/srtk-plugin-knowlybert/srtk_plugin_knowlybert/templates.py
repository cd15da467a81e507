"""Templates: sentences of a relation with a slot for each of its ends."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs

from srtk_framework.records import read_jsonl
from srtk_framework.text import clean
from srtk_framework.values import InputError

SUBJECT, OBJECT = "{subject}", "{object}"
_SLOT = re.compile(r"\{subject\}|\{object\}|\[[XYSO]\]")
_WRITTEN = {"[X]": SUBJECT, "[S]": SUBJECT, "[Y]": OBJECT, "[O]": OBJECT, SUBJECT: SUBJECT, OBJECT: OBJECT}


@attrs.frozen(order=True)
class Template:
    """A sentence with a slot for the subject and a slot for the object of a relation.

    Attributes:
        text: The sentence on one line, with ``{subject}`` and ``{object}``.
    """

    text: str

    @classmethod
    def parse(cls, text: str) -> Template:
        """Read a template with slots as here, as ``[X]`` and ``[Y]`` (LAMA, ParaRel), or as ``[S]`` and ``[O]``.

        Raises:
            ValueError: If it has not each slot once.
        """
        slots = _SLOT.findall(text)
        if sorted(_WRITTEN[slot] for slot in slots) != [OBJECT, SUBJECT]:
            raise ValueError(
                f"the template {text!r} must have one slot for each end; write {SUBJECT} and {OBJECT}, or [X] and [Y]"
            )
        return cls(clean(_SLOT.sub(lambda slot: _WRITTEN[slot[0]], text)))

    @classmethod
    def of_label(cls, label: str) -> Template:
        """Make the template of a relation without any: the two ends with its label between."""
        # Braces of a label are no slots.
        return cls(f"{SUBJECT} {clean(label).replace('{', '(').replace('}', ')')} {OBJECT} .")

    def filled(self, subject: str, object_: str) -> str:
        """Put texts into both slots."""
        return _SLOT.sub(lambda slot: subject if slot[0] == SUBJECT else object_, self.text)


def read_templates(path: Path) -> dict[str, tuple[Template, ...]]:
    """Read the templates of relations, in the order of the file, which is their rank.

    The path is one of:

    - a file ``.jsonl`` with lines ``{"relation": ..., "template": ...}``, as LAMA has them;
    - a folder of such files with lines ``{"pattern": ...}``, each named after its relation, as ParaRel has them;
    - a file ``.json`` with one mapping of relations to templates, or to lists of templates.

    Raises:
        InputError: With file and line, if it cannot be read, or a template has not each slot once.
    """
    found: dict[str, list[Template]] = {}
    for place, relation, text in _rows(path):
        try:
            template = Template.parse(text)
        except ValueError as error:
            raise InputError(f"{place}: {error}") from error
        some = found.setdefault(relation, [])
        if template not in some:
            some.append(template)
    if not found:
        raise InputError(f"{path}: there is no template in it; name a file or folder of templates")
    return {relation: tuple(some) for relation, some in found.items()}


def written_templates(templates: Mapping[str, tuple[Template, ...]]) -> str:
    """Return templates as the JSON that ``read_templates`` reads."""
    data = {relation: [one.text for one in some] for relation, some in sorted(templates.items())}
    return json.dumps(data, ensure_ascii=False, indent=1) + "\n"


def _rows(path: Path) -> Iterator[tuple[str, str, str]]:
    """Yield the place, relation and text of each template."""
    if path.is_dir():
        for file in sorted(path.glob("*.jsonl")):
            for number, row in read_jsonl(file):
                place = f"{file}:{number}"
                yield place, file.stem, _text(row, "pattern", place)
    elif path.suffix == ".jsonl":
        for number, row in read_jsonl(path):
            place = f"{path}:{number}"
            yield place, _text(row, "relation", place), _text(row, "template", place)
    else:
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise InputError(f"{path}: the templates cannot be read ({error})") from error
        if not isinstance(data, dict):
            raise InputError(f"{path}: templates are one mapping of relations to templates, or to lists of them")
        for relation, given in data.items():
            for text in given if isinstance(given, list) else [given]:
                if not isinstance(text, str):
                    raise InputError(f"{path}: the template of {relation!r} is no text and no list of texts")
                yield str(path), relation, text


def _text(row: Mapping[str, Any], field: str, place: str) -> str:
    value = row.get(field)
    if not isinstance(value, str) or not value:
        raise InputError(f"{place}: `{field}` must be a text that is not empty")
    return value
