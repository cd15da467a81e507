"""Enhancement of a multiple-choice question: the triples between its entities and the entities of an option."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import attrs

from srtk_framework.roles import EntityLinker, KnowledgeGraph
from srtk_framework.text import name, relation_words
from srtk_framework.values import Pattern, Question, Triple, link_order


@attrs.frozen
class Enhancement:
    """Finds the triples of a graph about a question and an option at once (SEPTA, step 6).

    Attributes:
        graph: The graph.
        linker: Links options, and questions without links.
        most: Most triples in the text of an option, those between the likeliest links first.
    """

    graph: KnowledgeGraph
    linker: EntityLinker
    most: int = 10

    def texts(self, questions: Sequence[Question]) -> tuple[list[list[str]], list[int]]:
        """Return for each option of each question the triples in words, and for each question how many were left out.

        The text of an option is empty if no triple joins both. Triples beyond ``most`` are left out.
        """
        whole = self.triples(questions)
        cut = [sum(max(0, len(triples) - self.most) for triples in row) for row in whole]
        rows = [[triples[: self.most] for triples in row] for row in whole]
        ids = sorted({id_ for row in rows for triples in row for triple in triples for id_ in triple})
        labels = dict(zip(ids, self.graph.labels(ids), strict=True)) if ids else {}

        def clause(triple: Triple) -> str:
            relation = relation_words(triple.relation, labels[triple.relation])
            return f"{name(triple.subject, labels)} {relation} {name(triple.object, labels)}"

        return [[". ".join(map(clause, triples)) for triples in row] for row in rows], cut

    def triples(self, questions: Sequence[Question]) -> list[list[tuple[Triple, ...]]]:
        """Return, for each option of each question, all triples between entities of the question and of the option."""
        texts = list(dict.fromkeys(text for q in questions for text in (*q.options, *(() if q.links else (q.text,)))))
        linked = dict(zip(texts, self.linker.link(texts), strict=True)) if texts else {}
        pairs: list[list[list[tuple[str, str]]]] = []
        for question in questions:
            own = sorted(question.links or linked[question.text], key=link_order)
            rows = []
            for option in question.options:
                its = sorted(linked[option], key=link_order)
                both = sorted(product(own, its), key=lambda pair: -pair[0].score * pair[1].score)
                rows.append(list(dict.fromkeys((a.entity, b.entity) for a, b in both if a.entity != b.entity)))
            pairs.append(rows)
        asked = list(dict.fromkeys(pair for rows in pairs for row in rows for pair in row))
        patterns = [Pattern(*ends) for a, b in asked for ends in ((a, None, b), (b, None, a))]
        found = self.graph.match(patterns) if patterns else []
        joined = {pair: sorted({*found[2 * i], *found[2 * i + 1]}) for i, pair in enumerate(asked)}
        return [
            [tuple(dict.fromkeys(triple for pair in row for triple in joined[pair])) for row in rows] for rows in pairs
        ]
