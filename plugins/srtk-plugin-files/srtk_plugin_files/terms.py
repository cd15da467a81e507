"""The table of terms of a retrieval: its entities, relations and literals, numbered, with labels."""

from __future__ import annotations

from srtk_framework.graph import names_of
from srtk_framework.values import Answer, Literal, Retrieval


class Terms:
    """The terms of one retrieval; the nodes of triples come first, so that answers are found among them.

    With ``numbers``, these continue the terms so far.
    """

    def __init__(self, retrieval: Retrieval, numbers: dict[str, int] | None = None) -> None:
        self._labels = dict(retrieval.labels)
        for link in retrieval.question.links:
            if link.name:
                self._labels.setdefault(link.entity, link.name)
        self._linked = {link.entity for link in retrieval.question.links}
        self._answers = tuple(dict.fromkeys(retrieval.question.answers or ()))
        self._numbers: dict[str, int] = {} if numbers is None else numbers
        self._named: dict[str, int] = {}
        for triple in retrieval.subgraph.triples:
            for node in (triple.subject, triple.object):
                for text in sorted(names_of(node)):
                    self._named.setdefault(text, self.number(node))

    def number(self, term: str) -> int:
        """Return the number of a term; a new term gets the next number."""
        return self._numbers.setdefault(term, len(self._numbers))

    def answers(self) -> list[tuple[int, bool]]:
        """Return the gold answers, each with whether it is found: a node of a triple, but not a linked entity."""
        found = []
        for answer in self._answers:
            here = self._named.get(answer)
            number = self.number(answer) if here is None else here
            found.append((number, here is not None and answer not in self._linked))
        return found

    def shown(self, answer: Answer | None) -> list[int | str] | None:
        """Return the entities of a reader's answer, as numbers if they are nodes; none of a refusal."""
        if answer is None:
            return None
        return [self._named.get(entity, entity) for entity in answer.entities if answer.enough]

    def table(self) -> list[list[str]]:
        """Return the row of each term: id, label if known, and the type of a literal (``text`` if plain)."""
        return [self._row(term) for term in self._numbers]

    def _row(self, term: str) -> list[str]:
        label = self._labels.get(term, "")
        if isinstance(term, Literal):
            return [term, label or term.lexical, term.datatype or term.language or "text"]
        return [term, label] if label.strip() else [term]
