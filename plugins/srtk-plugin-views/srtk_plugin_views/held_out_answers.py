"""Answers held out of a graph: triples to hide, and the pattern questions that ask for them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import attrs
import numpy as np

from srtk_framework.graph import TripleTable
from srtk_framework.records import place
from srtk_framework.values import Link, Pattern, Question, Triple

# Most answers that are held out of a query, as in the evaluation of KnowlyBERT (Kalo et al. 2020).
MOST = 100


@attrs.frozen
class HeldOut:
    """Hidden triples, and the questions that ask for them.

    Attributes:
        triples: Triples to hide, sorted.
        questions: Pattern questions whose gold answers become hidden, sorted by pattern.
        spared: Triples that stay, as their subject or object would be left without any triple.
    """

    triples: tuple[Triple, ...]
    questions: tuple[Question, ...]
    spared: int


def hold_out(
    table: TripleTable,
    relations: Sequence[str],
    ends: Sequence[str],
    *,
    queries: int = 100,
    share: float | None = None,
    count: int | None = None,
    most: int = MOST,
    seed: int = 0,
) -> HeldOut:
    """Choose queries by their hashes, and hide some answers of each.

    The last triple of an entity is never hidden, so that it stays in the graph. A query without a triple to hide is
    passed over.

    Args:
        table: All triples between entities.
        relations: Relations to ask for; others stay whole.
        ends: Open ends of the queries: ``object``, ``subject``, or both.
        queries: Most queries per relation and end.
        share: Share of a query's answers to hide, rounded up; all by default.
        count: Number of a query's answers to hide, in place of a share.
        most: Most answers to hide of a query.
        seed: Seed of the hashes.

    Returns:
        The triples and the questions. A question's gold answers are all its answers that are hidden, also by another
        question.
    """
    degrees = np.bincount(table.triples[:, [0, 2]].ravel(), minlength=len(table.entities))
    loops = table.triples[table.triples[:, 0] == table.triples[:, 2], 0]
    # A triple from an entity to itself is one triple of it.
    degrees -= np.bincount(loops, minlength=len(table.entities))
    hidden: set[tuple[int, int, int]] = set()
    asked: list[tuple[int, int, bool]] = []
    spared = 0
    for relation in relations:
        number = table.relation_numbers[relation]
        for end in ends:
            inverse = end == "subject"
            column = 2 if inverse else 0
            bound = np.unique(table.of_relation(number)[:, column]).tolist()
            chosen = 0
            for entity in sorted(bound, key=lambda e, end=end: _hash(seed, end, table.entities[e], relation)):  # type: ignore[misc]
                if chosen == queries:
                    break
                fillers = table.fillers(entity, number, inverse).tolist()
                rows = [(other, number, entity) if inverse else (entity, number, other) for other in fillers]
                wanted = min(count if count is not None else math.ceil((share or 1.0) * len(rows)), len(rows), most)
                rows.sort(key=lambda row: (_hash(seed, *table.named(np.array([row], dtype=np.int32))[0]), row))
                done = sum(row in hidden for row in rows)
                for row in rows:
                    if done >= wanted:
                        break
                    if row in hidden:
                        continue
                    subject, _, object_ = row
                    if degrees[subject] < 2 or degrees[object_] < 2:
                        spared += 1
                        continue
                    degrees[subject] -= 1
                    degrees[object_] -= subject != object_
                    hidden.add(row)
                    done += 1
                if done:
                    asked.append((entity, number, inverse))
                    chosen += 1
    triples = table.named(np.array(sorted(hidden), dtype=np.int32).reshape(-1, 3))
    return HeldOut(tuple(sorted(triples)), tuple(_questions(table, asked, hidden)), spared)


def _questions(
    table: TripleTable, asked: Sequence[tuple[int, int, bool]], hidden: set[tuple[int, int, int]]
) -> list[Question]:
    made = []
    for entity, number, inverse in asked:
        fillers = table.fillers(entity, number, inverse).tolist()
        gold = [
            other for other in fillers if ((other, number, entity) if inverse else (entity, number, other)) in hidden
        ]
        name, relation = table.entities[entity], table.relations[number]
        pattern = Pattern(None, relation, name) if inverse else Pattern(name, relation, None)
        text = str(pattern)
        answers = tuple(table.entities[other] for other in gold)
        made.append(Question(text, text, (Link(name),), answers=answers, pattern=pattern))
    return sorted(made, key=lambda question: question.id)


def _hash(seed: int, *parts: str) -> float:
    return place("\t".join(parts), seed)
