"""Lexical forms of relations: the words that name a relation in a text, from a file, templates, or labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath

import attrs

from srtk_framework.roles import KnowledgeGraph
from srtk_framework.text import read_relation_forms, relation_words, worded
from srtk_framework.values import InputError


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
        """Return the given form of each relation, else its label, else the words of its id."""
        unknown = sorted({relation for relation in relations if relation not in self.given})
        labels = dict(zip(unknown, self.graph.labels(unknown), strict=True)) if unknown else {}
        return [
            self.given[relation] if relation in self.given else relation_words(relation, labels[relation])
            for relation in relations
        ]


def read_forms(file: FilePath) -> dict[str, str]:
    """Read the forms of relations; ``text.read_relation_forms`` describes the file.

    A form may be a template, ``{subject} was born in {object}`` or ``[X] was born in [Y] .``: the two ends and the
    punctuation around the rest are taken away. Of several forms of a relation the first one counts.

    Raises:
        InputError: If the file cannot be read, has another shape, or a form has no words.
    """
    found: dict[str, str] = {}
    for place, relation, form in read_relation_forms(file):
        words = worded(form)
        if not words:
            raise InputError(f"{place}: the form {form!r} of {relation!r} has no words")
        found.setdefault(relation, words)
    return found
