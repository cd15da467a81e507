"""Ranking of templates by how well a language model fills them with the facts of the graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from srtk_framework.graph import TripleTable
from srtk_framework.records import place
from srtk_framework.values import Step, batched
from srtk_plugin_knowlybert.entity_classes import fillers
from srtk_plugin_knowlybert.label_search import LabelSearch, Sentences, one_by_one
from srtk_plugin_knowlybert.template_mining import Mined

Ranker = Literal["overlap", "pairs"]
RANKERS: tuple[Ranker, ...] = ("overlap", "pairs")

_BATCH = 1024  # Sentences that the filler rates at once.

Names = dict[str, Sequence[str]]  # Names of each entity, its label first.


def by_overlap(
    search: LabelSearch, table: TripleTable, names: Names, relation: str, mined: Sequence[Mined], top: int
) -> list[Mined]:
    """Rank templates by how many known fillers the language model proposes for their own sentences.

    The weight is the number of known objects of the relation among the best labels for a masked object, plus known
    subjects for a masked subject (KnowlyBERT, section 3.1). The sentence is the template with the names of the first
    triple that it was made of.

    Args:
        search: Finds labels.
        table: The triples.
        names: Names of the entities.
        relation: The relation.
        mined: Its templates.
        top: Labels that are looked at.

    Returns:
        The templates, best first; ties by their texts.
    """
    ends = {inverse: set(fillers(table, Step(relation, inverse))) for inverse in (False, True)}
    weights = [0] * len(mined)
    for inverse in (False, True):
        asked = []
        for one in mined:
            known = one.triples[0].object if inverse else one.triples[0].subject
            asked.append(Sentences((one.template,), _name(names, str(known)), inverse))
        for number, found in enumerate(search.search(asked)):
            proposed = {id_ for label, _ in one_by_one(found)[:top] for id_ in search.trie.entities[label]}
            weights[number] += len(proposed & ends[inverse])
    return [mined[i] for i in sorted(range(len(mined)), key=lambda i: (-weights[i], mined[i].template))]


def by_pairs(
    search: LabelSearch, table: TripleTable, names: Names, relation: str, mined: Sequence[Mined], pairs: int, seed: int
) -> list[Mined]:
    """Rank templates by how often the language model finds the other end of a known pair.

    An end is found if its label scores best of the labels with as many tokens that the relation has on this side. Both
    ends of each pair are asked for.

    Args:
        search: Finds labels.
        table: The triples.
        names: Names of the entities.
        relation: The relation.
        mined: Its templates.
        pairs: Most pairs that are asked, drawn by hashes.
        seed: Seed of the hashes.

    Returns:
        The templates, best first; ties by their texts.
    """
    facts = table.named(table.of_relation(table.relation_numbers[relation]))
    drawn = sorted(facts, key=lambda fact: (place("\t".join(fact), seed), fact))[:pairs]
    counts = [0] * len(mined)
    for inverse in (False, True):
        ends = sorted({*fillers(table, Step(relation, inverse))})
        labels = sorted({label for id_ in ends for label in search.trie.labels.get(id_, ())})
        same = {length: [label for label in labels if len(label) == length] for length in set(map(len, labels))}
        asked = []
        for number, one in enumerate(mined):
            for fact in drawn:
                known, sought = (fact.object, fact.subject) if inverse else (fact.subject, fact.object)
                mine = search.trie.labels.get(str(sought), ())
                if mine:
                    question = Sentences((one.template,), _name(names, str(known)), inverse)
                    text = search.gap_text(question, one.template, len(mine[0]))
                    asked.append((number, text, same[len(mine[0])], same[len(mine[0])].index(mine[0])))
        for part in batched(asked, _BATCH):
            rates = search.filler.rate([text for _, text, _, _ in part], [some for _, _, some, _ in part])
            for (number, _, _, own), row in zip(part, rates, strict=True):
                counts[number] += int(np.exp(np.asarray(row, dtype=np.float64)).mean(axis=1).argmax() == own)
    return [mined[i] for i in sorted(range(len(mined)), key=lambda i: (-counts[i], mined[i].template))]


def _name(names: Names, id_: str) -> str:
    return next(iter(names.get(id_, ())), id_)
