"""Triples along ranked paths, in the order of the mass of the nodes that the paths lead to.

A path with many instances and a path with few compete for the same room, and several paths may reach the same node. So
each path's probability, a softmax over the scores of a question's paths, is divided among its end nodes, and a node has
the sum over its paths. Personalised PageRank and the path constrained random walks of PRA (Lao and Cohen 2010) divide
the whole probability among the ends. Here each of n ends gets ``1 / sqrt(n)`` of it, since a long list of answers is as
likely to be wanted as a short list, only less precise. Uncertain triples count by the confidence of an end's best
instance, in ``n`` as in its part.

Equal ends of a path come in order of the number of triples that were read at them, then of their ids: nodes with many
triples are asked for often. Where a question has several topics, ends where the paths of other topics arrive get more
mass, the more probable these are (see ``topic_support``). A path from one topic to another gives its mass to the last
node before that topic, since no question asks for an entity that it names.

The rest of the budget is filled along spare paths, which a search has followed and left out, by the same mass. They
change nothing before them.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from types import MappingProxyType
from typing import Any, NamedTuple

import attrs

from srtk_framework.graph import Instance, PathKey, finish, instances, path_order, paths_within
from srtk_framework.roles import BACKGROUND
from srtk_framework.values import Budget, Frontier, GraphLike, Join, RankedPath, Subgraph, Triple, rounded
from srtk_plugin_sr.topic_support import INSTANCES_READ, Arrival, joins_of, passed, path_probabilities, topic_support

# Ends of each path that find room before the mass decides: a path with many ends would leave none for other paths.
LEAST = 2
RESERVED = 0.5
"""Largest part of the budget that is kept for them."""
# Further triples that each add this part of the average before them continue a long list, and are read at any price.
EVEN = 0.5
# Spare paths that are read for each triple that has room: much of the best paths' ends is read already.
SPARE = 2
# Instances of a spare path that are read for each triple of the budget: several spare paths share the room.
READ_SPARE = 0.2


Rescore = Callable[[Sequence[Sequence[RankedPath]], Sequence[Mapping[int, Sequence[Instance]]]], list[list[float]]]
"""Takes the paths of each question and their instances by rank, and returns a score for each path."""


@attrs.frozen(eq=False)
class RankedSearch:
    """Result of a search for one question.

    Attributes:
        paths: Its paths, best first.
        topics: For each linked entity the number of its topic (see ``text.link_topics``).
        known: Frontiers that the search has read.
        trace: The trace so far.
        spare: Further paths, in any order. If they get triples, they come after its paths, with scores that are no
            greater.
    """

    paths: Sequence[RankedPath]
    topics: Mapping[str, int]
    known: Mapping[PathKey, Frontier]
    trace: Mapping[str, Any]
    spare: Sequence[RankedPath] = ()


class _Node(NamedTuple):
    """A node that paths end in.

    Attributes:
        mass: Its mass.
        score: The logarithm of it.
        rank: Rank of the path that gives it most.
        instance: The first instance of that path that ends in it.
        joined: Where and how the other topics arrive at the instance.
    """

    mass: float
    score: float
    rank: int
    instance: Instance
    joined: tuple[tuple[str, Arrival], ...] = ()


class _Choice(NamedTuple):
    score: float
    rank: int


class _Reading(NamedTuple):
    """The triples that are read for a question.

    Attributes:
        triples: The triples, in order.
        joins: Where paths of different topics meet.
        shares: Share of the mass of all nodes that the triples have, up to each of them.
        limit: Budget that ended the reading.
    """

    triples: dict[Triple, _Choice]
    joins: tuple[Join, ...]
    shares: list[float]
    limit: str


def facts_by_node(
    graph: GraphLike,
    searches: Sequence[RankedSearch],
    budget: Budget,
    found: float = 1.0,
    background: float | None = BACKGROUND,
    rescore: Rescore | None = None,
) -> list[Subgraph]:
    """Read one instance for each node that the paths end in, nodes of most mass first, then further instances.

    Where topics meet, the way from each topic to the node is read. The share of the mass that is read is the expected
    share of the paths' answers among the triples. It ends the reading at the budget's recall, or when further triples
    are not worth the budget's price.

    Every prefix of the triples is connected to the linked entities. The score of a triple is the logarithm of the mass
    of the node that it was read for, and never above the score before it. Paths beyond the budget's mass get no
    triples.

    Where this leaves room in the budget, triples along spare paths follow, unless its recall, price or mass end the
    reading. No answers are expected of them; `filled` in the trace is their number.

    Args:
        graph: Graph to read.
        searches: The search of each question.
        budget: Limits of a question.
        found: Share of the answers that the paths are expected to lead to: a factor of ``expected_recall``.
        background: Support of a topic where none of its paths arrive, above 0: the smaller, the more a node is worth
            where topics meet. None for no support: all topics are read as the same topic.
        rescore: Gives the paths other scores by their instances; the order of the paths follows.
    """
    if background is None:
        searches = [attrs.evolve(one, topics=dict.fromkeys(one.topics, 0)) for one in searches]
    background = background or BACKGROUND
    paths: Sequence[Sequence[RankedPath]] = [one.paths for one in searches]
    within = [len(row) if rescore else paths_within(row, budget.mass) for row in paths]
    most = None if budget.triples is None else INSTANCES_READ * budget.triples
    cuts: list[dict[str, int]] = [dict(one.trace.get("cut", {})) for one in searches]
    some = [row[:count] for row, count in zip(paths, within, strict=True)]
    rows = read = _read(graph, some, searches, attrs.evolve(budget, triples=most), cuts)
    if rescore is not None:
        paths, rows = _rescored(paths, rows, rescore(paths, rows))
        within = [paths_within(row, budget.mass) for row in paths]
        rows = [
            {rank: row[rank] for rank in sorted(row) if rank < most} for row, most in zip(rows, within, strict=True)
        ]
    readings = [
        _chosen(row, found_, one.topics, budget, background)
        for row, found_, one in zip(paths, rows, searches, strict=True)
    ]
    subgraphs = [
        _subgraph(row, count, found_, reading, cut, one.trace)
        for row, count, found_, reading, cut, one in zip(paths, within, rows, readings, cuts, searches, strict=True)
    ]
    expected = [[0.0, *reading.shares] if row else [] for row, reading in zip(paths, readings, strict=True)]
    before = [len(one.triples) for one in subgraphs]
    filled = _filled(graph, subgraphs, searches, read, budget, background)
    finished = finish(graph, filled, attrs.evolve(budget, mass=None))
    # Tokens may have cut the triples, which leaves the first ones; of spare paths nothing is expected.
    return [
        attrs.evolve(
            one,
            expected_recall=rounded(found * shares[: len(one.triples) + 1][-1]) if shares else None,
            trace={**one.trace, "filled": len(one.triples) - own} if len(one.triples) > own else one.trace,
        )
        for one, shares, own in zip(finished, expected, before, strict=True)
    ]


def _subgraph(
    paths: Sequence[RankedPath],
    within: int,
    read: Mapping[int, Sequence[Instance]],
    reading: _Reading,
    cut: dict[str, int],
    trace: Mapping[str, Any],
) -> Subgraph:
    """Return the subgraph of a question's chosen triples, and count the triples that were left out."""
    chosen = reading.triples
    every = {triple for one in read.values() for instance in one for triple in instance.triples}
    beyond = sum(1 for path in paths[within:] if path.steps)
    for limit, lost in ((reading.limit, len(every) - len(chosen)), ("mass", beyond)):
        if lost:
            cut[limit] = cut.get(limit, 0) + lost
    return Subgraph(
        triples=tuple(chosen),
        scores=tuple(choice.score for choice in chosen.values()),
        paths=tuple(attrs.evolve(path, score=rounded(path.score)) for path in paths),
        path_of=tuple(choice.rank for choice in chosen.values()),
        trace={**trace, "cut": dict(sorted(cut.items()))} if cut else dict(trace),
        joins=reading.joins,
    )


def _read(
    graph: GraphLike,
    paths: Sequence[Sequence[RankedPath]],
    searches: Sequence[RankedSearch],
    budget: Budget,
    cuts: Sequence[dict[str, int]],
) -> list[dict[int, list[Instance]]]:
    """Return, per question, the instances of its paths that have any, by rank."""
    indices = [(i, rank) for i, row in enumerate(paths) for rank, path in enumerate(row) if path.steps]
    read = instances(
        graph,
        [paths[i][rank] for i, rank in indices],
        [searches[i].known for i, _ in indices],
        budget,
        [cuts[i] for i, _ in indices],
    )
    rows: list[dict[int, list[Instance]]] = [{} for _ in paths]
    for (i, rank), path_instances in zip(indices, read, strict=True):
        if path_instances:
            rows[i][rank] = path_instances
    return rows


def _filled(
    graph: GraphLike,
    subgraphs: Sequence[Subgraph],
    searches: Sequence[RankedSearch],
    read: Sequence[Mapping[int, Sequence[Instance]]],
    budget: Budget,
    background: float,
) -> list[Subgraph]:
    """Read triples along spare paths into the room that subgraphs leave, by the scores of the search."""
    enough = budget.price or any(limit is not None and limit < 1 for limit in (budget.recall, budget.mass))
    if budget.triples is None or enough:
        return list(subgraphs)
    room = [budget.triples - len(one.triples) for one in subgraphs]
    further = [heapq.nsmallest(SPARE * left, one.spare, path_order) for left, one in zip(room, searches, strict=True)]
    few = attrs.evolve(budget, triples=math.ceil(READ_SPARE * budget.triples))
    found = _read(graph, further, searches, few, [{} for _ in further])
    filled = []
    for i, one in enumerate(subgraphs):
        if found[i]:
            own = searches[i].paths
            every = [*own, *further[i]]
            instances_of = {**read[i], **{len(own) + rank: row for rank, row in found[i].items()}}
            before = dict(zip(one.triples, map(_Choice, one.scores, one.path_of), strict=True))
            reading = _chosen(every, instances_of, searches[i].topics, budget, background, before)
            one = _with_spare(one, every, dict(islice(reading.triples.items(), len(before), None)))
        filled.append(one)
    return filled


def _with_spare(subgraph: Subgraph, paths: Sequence[RankedPath], more: Mapping[Triple, _Choice]) -> Subgraph:
    """Add triples, and the paths that they were read along, behind those that are there."""
    if not more:
        return subgraph
    least = min((path.score for path in subgraph.paths), default=math.inf)
    ranks = sorted({choice.rank for choice in more.values()})
    place = {rank: len(subgraph.paths) + i for i, rank in enumerate(ranks)}
    own = [attrs.evolve(paths[rank], score=rounded(min(least, paths[rank].score))) for rank in ranks]
    return attrs.evolve(
        subgraph,
        triples=(*subgraph.triples, *more),
        scores=(*subgraph.scores, *(choice.score for choice in more.values())),
        paths=(*subgraph.paths, *own),
        path_of=(*subgraph.path_of, *(place[choice.rank] for choice in more.values())),
    )


def _rescored(
    paths: Sequence[Sequence[RankedPath]],
    rows: Sequence[Mapping[int, list[Instance]]],
    scores: Sequence[Sequence[float]],
) -> tuple[list[list[RankedPath]], list[dict[int, list[Instance]]]]:
    """Return the paths with other scores, best first, and their instances by their new ranks."""
    ranked, read = [], []
    for row, found, values in zip(paths, rows, scores, strict=True):
        scored = [attrs.evolve(path, score=value) for path, value in zip(row, values, strict=True)]
        order = sorted(range(len(row)), key=lambda old: path_order(scored[old]))
        ranked.append([scored[old] for old in order])
        read.append({new: found[old] for new, old in enumerate(order) if old in found})
    return ranked, read


def _chosen(
    paths: Sequence[RankedPath],
    read: Mapping[int, Sequence[Instance]],
    topics: Mapping[str, int],
    budget: Budget,
    background: float = BACKGROUND,
    before: Mapping[Triple, _Choice] = MappingProxyType({}),
) -> _Reading:
    """Choose the triples of a question from the instances of its paths, by rank, behind those chosen before."""
    most, recall = budget.triples, budget.recall
    if len(set(topics.values())) > 1:
        read = {rank: [_joining(one, paths[rank], topics) for one in found] for rank, found in read.items()}
    nodes = _nodes(paths, read, topics, background)
    degrees = _degrees(read)
    order = sorted(nodes, key=lambda end: (-nodes[end].score, nodes[end].rank, -degrees[end]))
    reserved, held = _reserved(nodes, order, [_ends(found) for found in read.values()], most, before)
    selection = _Selection(nodes, before)
    room = math.inf if most is None else most - len(before) - len(held)
    for end in order:
        if selection.reaches(recall):
            break
        node = nodes[end]
        own = dict.fromkeys(node.instance.triples, node.rank)
        joined = {triple: way.rank for _, way in node.joined for triple in way.triples if triple not in own}
        new = sum(triple not in selection.chosen and triple not in held for triple in (*own, *joined))
        if new > room and end in reserved:
            # The room for its own triples is kept; how other topics arrive there needs what is left.
            joined, new = {}, 0
        if new <= room:
            room -= new
            selection.add(node, own | joined)
    limit = "recall" if selection.reaches(recall) else "triples"
    if budget.price:
        cut = selection.cut_to(budget.price)
        limit = "price" if cut or (limit == "triples" and len(selection.ends) == len(order)) else limit
    chosen, shares = selection.chosen, selection.shares
    joins = _joins([nodes[end] for end in order], chosen)
    if limit == "recall" or budget.price:
        return _Reading(chosen, joins, shares, limit)
    selection.fill(_further(read, chosen), most)
    return _Reading(chosen, joins, shares, limit)


class _Selection:
    """The triples that were chosen so far, with the share of the mass that they have.

    Args:
        nodes: All nodes that may be chosen.
        before: Triples that were chosen before; no score is greater than theirs.
    """

    def __init__(self, nodes: Mapping[str, _Node], before: Mapping[Triple, _Choice]) -> None:
        self.chosen = dict(before)
        self.share, self.shares = 0.0, list[float]()
        self.ends = list[int]()
        self._nodes, self._seen = nodes, set[str]()
        self._highest = min((choice.score for choice in before.values()), default=math.inf)
        self._total = math.fsum(node.mass for node in nodes.values())

    def reaches(self, recall: float | None) -> bool:
        """Return whether the triples have a recall below 1."""
        return recall is not None and recall < 1 and self.share >= recall

    def add(self, node: _Node, wanted: Mapping[Triple, int]) -> None:
        """Add the triples of a node, each with the rank of its path."""
        for triple, rank in wanted.items():
            if triple in self.chosen:
                continue
            self.chosen[triple] = _Choice(min(self._highest, node.score), rank)
            for at in (triple.subject, triple.object):
                if at in self._nodes and at not in self._seen:
                    self._seen.add(at)
                    self.share += self._nodes[at].mass / self._total
            self.shares.append(min(self.share, 1.0))
        self.ends.append(len(self.chosen))

    def fill(self, further: Iterable[tuple[Triple, str, int]], most: int | None) -> None:
        """Add triples, each with its end and the rank of its path, while there is room; no score rises."""
        score = min((choice.score for choice in self.chosen.values()), default=0.0)
        for triple, end, rank in further:
            if most is not None and len(self.chosen) >= most:
                break
            score = min(score, self._nodes[end].score)
            self.chosen.setdefault(triple, _Choice(score, rank))
        self.shares += [min(self.share, 1.0)] * (len(self.chosen) - len(self.shares))

    def cut_to(self, price: float) -> bool:
        """Drop the triples that are not worth their price; return whether there were any."""
        worth, before = _worth(self.ends, self.shares, price), len(self.chosen)
        self.chosen, self.shares = dict(islice(self.chosen.items(), worth)), self.shares[:worth]
        return worth < before


def _worth(ends: Sequence[int], shares: Sequence[float], price: float) -> int:
    """Return the number of triples after which none are worth their price.

    Each further triple adds the steepest slope from there to any later end, which is the slope of the upper envelope.

    Args:
        ends: Numbers of triples after which the reading may end, rising.
        shares: Share of the answers that is expected among the triples up to each of them.
        price: Share that a triple is worth.
    """

    def slope(one: int, other: int) -> float:
        return (shares[other - 1] - shares[one - 1]) / (other - one)

    worth = 0
    envelope: list[int] = []
    for end in sorted(set(ends), reverse=True):
        while len(envelope) > 1 and slope(end, envelope[-1]) < slope(envelope[-1], envelope[-2]):
            envelope.pop()
        # Rounded, so that noise in the last digits decides nothing.
        least = min(price, EVEN * shares[end - 1] / end)
        if not envelope or round(slope(end, envelope[-1]) - least, 9) < 0:
            worth = end
        envelope.append(end)
    return worth


def _joins(nodes: Sequence[_Node], chosen: Mapping[Triple, _Choice]) -> tuple[Join, ...]:
    """Return the meetings of paths of different topics whose triples were chosen, best first."""
    return joins_of(
        (node.rank, at, way)
        for node in nodes
        for at, way in node.joined
        if all(triple in chosen for triple in (*node.instance.triples, *way.triples))
    )


def _nodes(
    paths: Sequence[RankedPath],
    read: Mapping[int, Sequence[Instance]],
    topics: Mapping[str, int],
    background: float,
) -> dict[str, _Node]:
    """Return the nodes that the paths end in, in order of the paths."""
    probabilities = path_probabilities(paths, sorted(read))
    support = topic_support(paths, read, probabilities, topics, background)
    alone = len(support.ways) < 2
    masses: dict[str, list[float]] = {}
    best: dict[str, tuple[tuple[float, float, int], Instance]] = {}
    for rank in sorted(read):
        topic = topics[paths[rank].entity]
        parts: dict[str, tuple[float, Instance]] = {}
        greatest = 1.0
        for instance in read[rank]:
            boost = 1.0 if alone else support.boost(topic, passed(instance, paths[rank]))
            part = instance.confidence * boost
            greatest = max(greatest, boost)
            if instance.end not in parts or part > parts[instance.end][0]:
                parts[instance.end] = (part, instance)
        total = math.fsum(part for part, _ in parts.values())
        share = probabilities[rank] / math.sqrt(max(1.0, total / greatest))
        for end, (part, instance) in parts.items():
            masses.setdefault(end, []).append(share * part)
            given = (instance.confidence, probabilities[rank] * part, -rank)
            if end not in best or given > best[end][0]:
                best[end] = (given, instance)
    found = {}
    for end, ((_, _, negative), instance) in best.items():
        path = paths[-negative]
        joined = () if alone else support.meetings(topics[path.entity], passed(instance, path))
        # A mass of 0 has no logarithm.
        mass = max(math.fsum(masses[end]), 1e-300)
        found[end] = _Node(mass, rounded(math.log(mass)), -negative, instance, tuple(joined))
    return found


def _joining(instance: Instance, path: RankedPath, topics: Mapping[str, int]) -> Instance:
    """Return an instance with the last node before another topic as its end, where it ends at another topic."""
    own = topics[path.entity]
    nodes = passed(instance, path)
    while len(nodes) > 1 and topics.get(nodes[-1], own) != own:
        nodes.pop()
    return instance._replace(end=nodes[-1])


def _degrees(read: Mapping[int, Sequence[Instance]]) -> dict[str, int]:
    """Return the number of distinct triples that were read at each node."""
    triples = {triple for found in read.values() for instance in found for triple in instance.triples}
    found: dict[str, int] = {}
    for triple in triples:
        for node in {triple.subject, triple.object}:
            found[node] = found.get(node, 0) + 1
    return found


def _ends(instances: Sequence[Instance]) -> dict[str, float]:
    """Return the ends of instances, most confident first, each with the confidence of its first instance."""
    found: dict[str, float] = {}
    for instance in instances:
        found.setdefault(instance.end, instance.confidence)
    return found


def _reserved(
    nodes: Mapping[str, _Node],
    order: Sequence[str],
    ends: Sequence[Mapping[str, float]],
    most: int | None,
    before: Collection[Triple],
) -> tuple[set[str], set[Triple]]:
    """Return the best few ends of each path, as far as part of the room suffices, and the triples that they need.

    Triples chosen before need no room.
    """
    reserved: set[str] = set()
    held: set[Triple] = set()
    if most is None:
        return reserved, held
    place = {end: i for i, end in enumerate(order)}
    for row in ends:
        for end in sorted(row, key=place.__getitem__)[:LEAST]:
            needed = held.union(triple for triple in nodes[end].instance.triples if triple not in before)
            if len(needed) <= RESERVED * (most - len(before)):
                reserved.add(end)
                held = needed
    return reserved, held


def _further(
    read: Mapping[int, Sequence[Instance]], chosen: Mapping[Triple, _Choice]
) -> Iterator[tuple[Triple, str, int]]:
    """Yield the triples of the other instances: first those that join two nodes that no chosen triple joins."""
    joined = {frozenset((triple.subject, triple.object)) for triple in chosen}
    for repeat in (False, True):
        for rank in sorted(read):
            for instance in read[rank]:
                for triple in instance.triples:
                    pair = frozenset((triple.subject, triple.object))
                    if triple not in chosen and (repeat or pair not in joined):
                        joined.add(pair)
                        yield triple, instance.end, rank
