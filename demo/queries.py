"""Read the tables of the world graph and answer path queries on them with plain dictionaries.

A query names a topic and the steps from it, `^` for a step against its relation's direction:

    country/TD > shares_border > capital
    country/TD > shares_border | max population
    country/PY > official_language & country/BO > official_language

`&` keeps what both sides reach; `| max RELATION` (or `min`) keeps, of the entities reached, those with
the largest (smallest) number as the object of that relation. A path never comes back to an entity that it
has passed, so that "which other countries" leaves out the one that the question started from.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path


class Tables:
    """The graph's tables, in both directions.

    Args:
        folder: Where ``triples.tsv``, ``labels.tsv`` and ``aliases.tsv`` lie.
    """

    def __init__(self, folder: Path) -> None:
        self.out: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        self.into: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for subject, relation, object_ in read_rows(folder / "triples.tsv"):
            self.out[relation][subject].append(object_)
            self.into[relation][object_].append(subject)
        self.labels = dict(read_rows(folder / "labels.tsv"))
        self.aliases: dict[str, list[str]] = defaultdict(list)
        for id_, alias in read_rows(folder / "aliases.tsv"):
            self.aliases[id_].append(alias)

    def step(self, nodes: Iterable[str], step: str) -> set[str]:
        """Follow one step from every node."""
        side = self.into[step[1:]] if step.startswith("^") else self.out[step]
        return {found for node in nodes for found in side.get(node, ())}

    def walks(self, topic: str, steps: Sequence[str]) -> list[tuple[str, ...]]:
        """Return the nodes of all paths from a topic that visit no entity twice."""
        walks: list[tuple[str, ...]] = [(topic,)]
        for step in steps:
            walks = [(*walk, node) for walk in walks for node in sorted(self.step(walk[-1:], step)) if node not in walk]
        return walks

    def walk(self, topic: str, steps: Sequence[str]) -> set[str]:
        """Return the end nodes of the paths of a query."""
        return {walk[-1] for walk in self.walks(topic, steps)}

    def triples(self, query: str, answers: Iterable[str]) -> list[list[str]]:
        """Return the triples on all paths of a query that end in one of the answers, in the graph's direction."""
        wanted = set(answers)
        found: dict[tuple[str, str, str], None] = {}
        for topic, *steps in _parts(query):
            for walk in self.walks(topic, steps):
                for step, start, end in zip(steps, walk, walk[1:], strict=False) if walk[-1] in wanted else ():
                    back = step.startswith("^")
                    found[(end, step[1:], start) if back else (start, step, end)] = None
        return [list(triple) for triple in found]

    def number(self, node: str, relation: str) -> float | None:
        """Return the numeric value of an entity, or None if it has none."""
        values = self.out[relation].get(node)
        return float(values[0].split('"')[1]) if values else None

    def answer(self, query: str) -> list[str]:
        """Return the answers of a query, sorted."""
        choice = query.partition(" | ")[2]
        parts = _parts(query)
        found = set.intersection(*(self.walk(topic, steps) for topic, *steps in parts)) - {part[0] for part in parts}
        if choice:
            best, relation = choice.split(" ")
            valued = {node: value for node in found if (value := self.number(node, relation)) is not None}
            wanted = (max if best == "max" else min)(valued.values(), default=None)
            found = {node for node, value in valued.items() if value == wanted}
        return sorted(found)


def _parts(query: str) -> list[list[str]]:
    """Split a query into its paths: each a topic and its steps."""
    return [part.split(" > ") for part in query.partition(" | ")[0].split(" & ")]


def read_rows(path: Path) -> list[list[str]]:
    """Read a table of tab-separated columns."""
    return [line.split("\t") for line in path.read_text(encoding="utf-8").split("\n") if line]


_WORD = re.compile(r"\w+")
_GRAMMAR = """
    a about above after all am among an and any are around as at be because been before begin behind being belong
    both but by can come could counted did do does draw during each either else enter entry few find for from get
    go had has have having he help her here him his how i if in include included into is it its just keep know
    leave leaving lie lies list live lives make many may me might more most much must my name need next no nor not
    now of off on once one only open or other others our out over own part put run same say see set she should
    show since so some somebody someone somewhere start still such take than that the their them then there these
    they this those through to too under until up use used uses using very want was way we well were what when
    where which while who whom whose why will with within without would you your
"""
_PLAIN = frozenset(_GRAMMAR.split())
"""Stop words: not counted as content words."""


def stem(word: str) -> str:
    """Strip common English suffixes, so that inflected forms compare equal."""
    word = word.casefold().removesuffix("'s")
    for ending, instead in (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ing", ""), ("ed", ""), ("s", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word[: -len(ending)] + instead
            break
    return word.removesuffix("e")


def content_words(text: str) -> set[str]:
    """Return the stems of the content words of a text."""
    return {stem(word) for word in _WORD.findall(text.replace("'s", "").casefold()) if word not in _PLAIN}
