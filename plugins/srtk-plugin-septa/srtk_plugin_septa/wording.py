"""Texts of subgraphs: a clause for each triple, by relation templates, within a number of tokens."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path as FilePath

import attrs

from srtk_framework.roles import KnowledgeGraph
from srtk_framework.text import clean, count_tokens, name, read_relation_forms, relation_words, worded
from srtk_framework.values import InputError, Triple

_SUBJECT, _OBJECT = re.compile(r"\{subject\}|\[X\]"), re.compile(r"\{object\}|\[Y\]")
_PARTS = re.compile(r"(\{subject\}|\[X\]|\{object\}|\[Y\])")
_END = re.compile(r"[\s.;]+$")


@attrs.frozen
class Wording:
    """Words of subgraphs, by the labels of a graph and templates of its relations.

    Without a template for a relation, its label or id is used. A first clause longer than ``tokens`` stays whole.
    """

    graph: KnowledgeGraph
    templates: Mapping[str, str] = attrs.field(factory=dict)
    tokens: int = 128
    count: Callable[[str], int] = count_tokens

    def texts(
        self, subgraphs: Sequence[Sequence[Triple]], centres: Sequence[str] | None = None
    ) -> list[tuple[str, int]]:
        """Return the text of each subgraph, a clause for each triple in their order, and the number of its clauses.

        The labels of the nodes in ``centres`` begin the texts, within the number of tokens.
        """
        ids = sorted({id_ for triples in subgraphs for triple in triples for id_ in triple} | {*(centres or ())})
        labels = dict(zip(ids, self.graph.labels(ids), strict=True)) if ids else {}
        names = [name(centre, labels) for centre in centres] if centres is not None else [""] * len(subgraphs)
        return [self._text(*one, labels) for one in zip(subgraphs, names, strict=True)]

    def _text(self, triples: Sequence[Triple], first: str, labels: Mapping[str, str]) -> tuple[str, int]:
        clauses: list[str] = []
        left = self.tokens - (self.count(first) if first else 0)
        for triple in triples:
            clause = self._clause(triple, labels)
            left -= self.count(clause)
            if left < 0 and clauses:
                break
            clauses.append(clause)
        return ". ".join([first, *clauses] if first else clauses), len(clauses)

    def _clause(self, triple: Triple, labels: Mapping[str, str]) -> str:
        subject, object_ = name(triple.subject, labels), name(triple.object, labels)
        template = self.templates.get(triple.relation)
        if template is None:
            return f"{subject} {relation_words(triple.relation, labels[triple.relation])} {object_}"
        # Not by str.replace: a label may hold what looks like a gap.
        ends = {"{subject}": subject, "[X]": subject, "{object}": object_, "[Y]": object_}
        return "".join(ends.get(part, part) for part in _PARTS.split(template))


def read_templates(file: FilePath) -> dict[str, str]:
    """Read templates of relations, as `{subject} was born in {object}`, `[X] was born in [Y] .` or `was born in`.

    Words without the two ends stand between them, and a full stop at the end is left out. For
    the form of the file see ``text.read_relation_forms``. Of several templates of a relation the first counts.

    Raises:
        InputError: If the file cannot be read or has another shape, or a template has no words, or one end only.
    """
    found: dict[str, str] = {}
    for place, relation, form in read_relation_forms(file):
        ends = bool(_SUBJECT.search(form)), bool(_OBJECT.search(form))
        if not worded(form):
            raise InputError(f"{place}: the template {form!r} of {relation!r} has no words")
        if ends[0] != ends[1]:
            raise InputError(f"{place}: the template {form!r} of {relation!r} has one end; give it both, or neither")
        template = clean(form) if ends[0] else f"{{subject}} {clean(form)} {{object}}"
        found.setdefault(relation, _END.sub("", template))
    return found
