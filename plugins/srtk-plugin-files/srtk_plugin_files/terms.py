"""Number the entities, relations and literals of one retrieval, each with the text to show."""

from __future__ import annotations

from srtk_framework.graph import names_of
from srtk_framework.text import fold
from srtk_framework.values import Answer, Literal, Retrieval


class Terms:
    """The table of terms of one retrieval.

    Args:
        retrieval: Whose terms; its triples' nodes are numbered first, so that answers are found among them.
    """

    def __init__(self, retrieval: Retrieval) -> None:
        self._labels = dict(retrieval.labels)
        for link in retrieval.question.links:
            if link.name:
                self._labels.setdefault(link.entity, link.name)
        self._linked = {link.entity for link in retrieval.question.links}
        self._answers = tuple(dict.fromkeys(retrieval.question.answers or ()))
        self._numbers: dict[str, int] = {}
        self._named: dict[str, int] = {}
        for triple in retrieval.subgraph.triples:
            for node in (triple.subject, triple.object):
                for text in sorted(names_of(node)):
                    self._named.setdefault(text, self.number(node))

    def number(self, term: str) -> int:
        """Return the term's place in the table; a new term gets the next one."""
        return self._numbers.setdefault(term, len(self._numbers))

    def answers(self) -> list[tuple[int, bool]]:
        """Return the gold answers, each with whether it is found: a node of a triple, and none that was linked."""
        found = []
        for answer in self._answers:
            here = self._named.get(answer)
            number = self.number(answer) if here is None else here
            found.append((number, here is not None and answer not in self._linked))
        return found

    def shown(self, answer: Answer | None) -> list[int | str] | None:
        """Return a reader's answer: entities as nodes where they are such, and its words where those say more."""
        if answer is None:
            return None
        if not answer.enough:
            return ["not enough to answer"]
        names = {fold(self._labels.get(entity, "") or entity) for entity in answer.entities}
        said = fold(answer.text)
        known = not said or said in names or said == fold(", ".join(answer.entities))
        return [*(self._named.get(entity, entity) for entity in answer.entities), *([] if known else [answer.text])]

    def table(self) -> list[list[str]]:
        """Return per term its id, its label where it has one, and for a literal its type (``text`` for plain ones)."""
        return [self._row(term) for term in self._numbers]

    def _row(self, term: str) -> list[str]:
        label = self._labels.get(term, "")
        if isinstance(term, Literal):
            return [term, label or term.lexical, term.datatype or term.language or "text"]
        return [term, label] if label.strip() else [term]
