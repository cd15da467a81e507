"""The ``mermaid`` exporter: a Markdown file with a diagram for each result."""

from __future__ import annotations

import re
from collections.abc import Iterator

import attrs

from srtk_framework.values import Retrieval, at_least
from srtk_plugin_files.facts import facts, named, nodes
from srtk_plugin_files.file_exporter import FileExporter

_UNSAFE = re.compile(r"[^\w .,:()/-]")


@attrs.define
class Mermaid(FileExporter):
    """Write Markdown with a Mermaid flowchart for each result; ``Result.to`` gives the flowchart alone.

    Below an edge stands a comment with the score and the source of its triple.

    Attributes:
        max_triples: Most triples of a diagram, the best first; browsers draw no more than 500 edges.
    """

    max_triples: int = attrs.field(default=60, validator=at_least(1))

    def format(self, retrieval: Retrieval) -> str:
        """Return the heading of a retrieval and its diagram."""
        return f"# {_safe(retrieval.question.id)}\n\n```mermaid\n{self.form(retrieval)}```\n\n"

    def form(self, retrieval: Retrieval) -> str:
        """Return the diagram of a retrieval."""
        return "".join(f"{line}\n" for line in self._lines(retrieval))

    def _lines(self, retrieval: Retrieval) -> Iterator[str]:
        yield "flowchart LR"
        yield f"%% question: {_safe(retrieval.question.text)}"
        if retrieval.error is not None:
            yield f"%% error: {_safe(retrieval.error)}"
        shown = retrieval.subgraph.ordered(range(min(self.max_triples, len(retrieval.subgraph.triples))))
        kept = attrs.evolve(retrieval, subgraph=shown)
        numbers = {id_: number for number, id_ in enumerate(nodes(kept))}
        for id_, number in numbers.items():
            yield f'n{number}["{_safe(named(id_, retrieval.labels) or id_)}"]'
        for fact in facts(kept):
            subject, relation, object_ = fact.triple
            label = _safe(retrieval.labels.get(relation) or relation)
            yield f'n{numbers[subject]} -->|"{label}"| n{numbers[object_]}'
            yield f"%% score: {fact.score} source: {_safe(fact.source)}"
        left = len(retrieval.subgraph.triples) - len(shown.triples)
        if left:
            yield f'rest["and {left} more triple{"" if left == 1 else "s"}"]'
        if not retrieval.subgraph.triples:
            yield f'none["{_safe(retrieval.error or "no triple was found")}"]'


def _safe(text: str) -> str:
    """Write all but letters, digits and harmless marks as ``#number;``, which Mermaid shows as the character."""
    return _UNSAFE.sub(lambda found: f"#{ord(found[0])};", text) or " "
