"""The graph of people, whose paths are known by hand, and rules read one by one."""

from __future__ import annotations

from collections import defaultdict

import pytest
from srtk_plugin_patterns.rules import NOTHING

from srtk_framework.graph import TripleTable
from srtk_framework.values import Triple

PEOPLE = [
    *(Triple(person, "born_in", "riga") for person in ("ann", "bob", "eve")),
    *(Triple(person, "born_in", "oslo") for person in ("cid", "dan")),
    Triple("riga", "city_of", "latvia"),
    Triple("oslo", "city_of", "norway"),
    *(Triple(person, "nationality", "latvia") for person in ("ann", "bob")),
    *(Triple(person, "nationality", "norway") for person in ("cid", "dan")),
    *(Triple(person, "works_in", "latvia") for person in ("ann", "cid")),
    *(Triple(person, "profession", "actor") for person in ("ann", "cid")),
    *(Triple(person, "profession", "singer") for person in ("bob", "dan")),
]


@pytest.fixture(scope="session")
def people() -> TripleTable:
    return TripleTable.from_triples(PEOPLE)


class Reader:
    """A graph as sets, and rules read in plain Python, with which the arrays are compared."""

    def __init__(self, table):
        self.table = table
        self.nodes = range(len(table.entities))
        self.out = defaultdict(set)
        for s, r, o in table.triples.tolist():
            if s != o:
                self.out[s, 2 * r].add(o)
                self.out[o, 2 * r + 1].add(s)

    def joined(self, start, steps, seen=()):
        """All ends of simple paths."""
        if not steps:
            return {start}
        found = set()
        for other in self.out[start, steps[0]]:
            if other not in (*seen, start):
                found |= self.joined(other, steps[1:], (*seen, start))
        return found

    def pairs(self, steps):
        return {(one, other) for one in self.nodes for other in self.joined(one, steps)}

    def body(self, relation, at_subject, constant, step, value):
        """All variables for which the body of a rule with a constant holds."""
        if step == NOTHING:
            inverse = 2 * relation + at_subject
            return {node for node in self.nodes if self.out[node, inverse] and node != constant}
        ends = {node: self.out[node, step] for node in self.nodes if node != constant}
        if value == NOTHING:
            return {node for node, reached in ends.items() if reached - {constant}}
        return {node for node, reached in ends.items() if value in reached}

    def proposals(self, rules):
        """Per triple of numbers the places of the rules of its relation that propose it."""
        found = defaultdict(list)
        for relation in range(len(self.table.relations)):
            place = 0
            for row in range(len(rules.paths)):
                if rules.paths.relations[row] == relation:
                    steps = tuple(s for s in rules.paths.steps[row].tolist() if s != NOTHING)
                    for one, other in self.pairs(steps):
                        found[one, relation, other].append(place)
                    place += 1
            constants = rules.constants
            for row in range(len(constants)):
                if constants.relations[row] == relation:
                    at, c = bool(constants.at_subject[row]), int(constants.constants[row])
                    for node in self.body(relation, at, c, int(constants.steps[row]), int(constants.values[row])):
                        found[(c, relation, node) if at else (node, relation, c)].append(place)
                    place += 1
        return found

    def holds(self, subject, relation, object):
        return subject != object and object in self.out[subject, 2 * relation]


@pytest.fixture(scope="session")
def reader() -> type[Reader]:
    return Reader
