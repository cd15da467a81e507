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
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.graph import Instance, PathKey, finish, instances, path_order, paths_within
from srtk_framework.roles import BACKGROUND
from srtk_framework.values import SCORE_DIGITS, Budget, Frontier, GraphLike, Join, RankedPath, Subgraph, rounded
from srtk_plugin_sr.read_table import Interned, Ints, ReadTable, distinct, first_places, numbered
from srtk_plugin_sr.topic_support import INSTANCES_READ, Arrival, joins_of, passed, path_probabilities, topic_support

Floats = npt.NDArray[np.float64]
_NONE = np.empty(0, dtype=np.int64)
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


@attrs.frozen(eq=False)
class _Nodes:
    """The nodes of a table that paths end in.

    Attributes:
        order: The nodes, best first.
        mass: By node, its mass; 0 for other nodes.
        score: By node, the logarithm of its mass.
        rank: By node, the rank of the path that gives it most.
        instance: By node, the first instance of that path that ends in it.
        joined: By node, where and how the other topics arrive at the instance.
        leading: For each path the best few of its ends, best first, path by path.
    """

    order: Ints
    mass: Floats
    score: Floats
    rank: Ints
    instance: Ints
    joined: Mapping[int, Sequence[tuple[str, Arrival]]]
    leading: Ints


@attrs.frozen(eq=False)
class _Reading:
    """The triples that are read for a question.

    Attributes:
        table: Numbers of the triples.
        triples: The triples, in order.
        scores: Score of each.
        ranks: Rank of the path of each.
        joins: Where paths of different topics meet.
        shares: Share of the mass of all nodes that the triples have, up to each of them.
        limit: Budget that ended the reading.
    """

    table: ReadTable
    triples: Ints
    scores: Floats
    ranks: Ints
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
    interned = Interned()
    readings = [
        _chosen(row, found_, ReadTable.of(row, found_, interned), one.topics, budget, background)
        for row, found_, one in zip(paths, rows, searches, strict=True)
    ]
    subgraphs = [
        _subgraph(row, count, reading, cut, one.trace)
        for row, count, reading, cut, one in zip(paths, within, readings, cuts, searches, strict=True)
    ]
    expected = [[0.0, *reading.shares] if row else [] for row, reading in zip(paths, readings, strict=True)]
    before = [len(one.triples) for one in subgraphs]
    filled = _filled(graph, subgraphs, readings, searches, read, budget, background, interned)
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
    paths: Sequence[RankedPath], within: int, reading: _Reading, cut: dict[str, int], trace: Mapping[str, Any]
) -> Subgraph:
    """Return the subgraph of a question's chosen triples, and count the triples that were left out."""
    beyond = sum(1 for path in paths[within:] if path.steps)
    left_out = len(reading.table.subjects) - len(reading.triples)
    for limit, lost in ((reading.limit, left_out), ("mass", beyond)):
        if lost:
            cut[limit] = cut.get(limit, 0) + lost
    return Subgraph(
        triples=tuple(reading.table.named(reading.triples)),
        scores=tuple(reading.scores.tolist()),
        paths=tuple(_scored(path, path.score) for path in paths),
        path_of=tuple(reading.ranks.tolist()),
        trace={**trace, "cut": dict(sorted(cut.items()))} if cut else dict(trace),
        joins=reading.joins,
    )


def _read(
    graph: GraphLike,
    paths: Sequence[Sequence[RankedPath]],
    searches: Sequence[RankedSearch],
    budget: Budget,
    cuts: Sequence[dict[str, int]],
) -> list[dict[int, Sequence[Instance]]]:
    """Return, per question, the instances of its paths that have any, by rank."""
    indices = [(i, rank) for i, row in enumerate(paths) for rank, path in enumerate(row) if path.steps]
    read = instances(
        graph,
        [paths[i][rank] for i, rank in indices],
        [searches[i].known for i, _ in indices],
        budget,
        [cuts[i] for i, _ in indices],
    )
    rows: list[dict[int, Sequence[Instance]]] = [{} for _ in paths]
    for (i, rank), path_instances in zip(indices, read, strict=True):
        if len(path_instances):
            rows[i][rank] = path_instances
    return rows


def _filled(
    graph: GraphLike,
    subgraphs: Sequence[Subgraph],
    readings: Sequence[_Reading],
    searches: Sequence[RankedSearch],
    read: Sequence[Mapping[int, Sequence[Instance]]],
    budget: Budget,
    background: float,
    interned: Interned,
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
            table = ReadTable.of(every, instances_of, interned)
            before = table.find(readings[i].table, readings[i].triples)
            least = min(one.scores, default=math.inf)
            more = _chosen(every, instances_of, table, searches[i].topics, budget, background, before, least)
            one = _with_spare(one, every, more)
        filled.append(one)
    return filled


def _scored(path: RankedPath, score: float) -> RankedPath:
    score = rounded(score)
    return path if path.score == score else RankedPath(path.entity, path.steps, score)


def _with_spare(subgraph: Subgraph, paths: Sequence[RankedPath], more: _Reading) -> Subgraph:
    """Add triples, and the paths that they were read along, behind those that are there."""
    if not len(more.triples):
        return subgraph
    least = min((path.score for path in subgraph.paths), default=math.inf)
    ranks = sorted(set(more.ranks.tolist()))
    place = {rank: len(subgraph.paths) + i for i, rank in enumerate(ranks)}
    own = [_scored(paths[rank], min(least, paths[rank].score)) for rank in ranks]
    return attrs.evolve(
        subgraph,
        triples=(*subgraph.triples, *more.table.named(more.triples)),
        scores=(*subgraph.scores, *more.scores.tolist()),
        paths=(*subgraph.paths, *own),
        path_of=(*subgraph.path_of, *map(place.__getitem__, more.ranks.tolist())),
    )


def _rescored(
    paths: Sequence[Sequence[RankedPath]],
    rows: Sequence[Mapping[int, Sequence[Instance]]],
    scores: Sequence[Sequence[float]],
) -> tuple[list[list[RankedPath]], list[dict[int, Sequence[Instance]]]]:
    """Return the paths with other scores, best first, and their instances by their new ranks."""
    ranked, read = [], []
    for row, found, values in zip(paths, rows, scores, strict=True):
        scored = [RankedPath(path.entity, path.steps, value) for path, value in zip(row, values, strict=True)]
        order = sorted(range(len(row)), key=lambda old: path_order(scored[old]))
        ranked.append([scored[old] for old in order])
        read.append({new: found[old] for new, old in enumerate(order) if old in found})
    return ranked, read


def _chosen(
    paths: Sequence[RankedPath],
    read: Mapping[int, Sequence[Instance]],
    table: ReadTable,
    topics: Mapping[str, int],
    budget: Budget,
    background: float,
    before: Ints = _NONE,
    highest: float = math.inf,
) -> _Reading:
    """Choose the triples of a question from the instances of its paths.

    Args:
        paths: The paths.
        read: Their instances, by rank.
        table: The instances by number.
        topics: For each linked entity the number of its topic.
        budget: Limits.
        background: Support of a topic where none of its paths arrive.
        before: Triples of the table that were chosen before; they count as read, and are not returned.
        highest: No score is greater.
    """
    most, recall = budget.triples, budget.recall
    if len(set(topics.values())) > 1:
        table = _joining(paths, read, table, topics)
    nodes = _nodes(paths, read, table, topics, background)
    wanted = _wanted(table, nodes)
    held = np.zeros(len(table.subjects), dtype=bool)
    held[before] = True
    reserved = _reserve(nodes, table, most, len(before), held)
    size = len(table.subjects)
    fresh = first_places(wanted.triples, size)
    needed = fresh & ~held[wanted.triples]
    room = math.inf if most is None else most - int(held.sum())
    kept = _kept(wanted, needed, held, room, reserved, nodes)
    was = np.zeros(size, dtype=bool)
    was[before] = True
    # What a triple adds to the share of the mass: the ends that it is the first to have.
    at = np.flatnonzero(kept)
    at = at[first_places(wanted.triples[at], size) & ~was[wanted.triples[at]]]
    chosen, places = wanted.triples[at], wanted.places[at]
    passed_ = np.stack([table.subjects[chosen], table.objects[chosen]], axis=1).ravel()
    whole_mass = math.fsum(nodes.mass[nodes.order].tolist() or [1.0])
    gains = np.where(first_places(passed_, table.size), nodes.mass[passed_] / whole_mass, 0.0)
    shares = np.cumsum(gains)[1::2]
    # After each of the nodes that are read, the number of triples; a node may need none that is new.
    ends = np.searchsorted(places, distinct(wanted.places[kept]), side="right")
    limit = "triples"
    if recall is not None and recall < 1:
        reached = np.concatenate([[0.0], shares])[ends] >= recall
        if reached.any():
            ends, limit = ends[: int(reached.argmax()) + 1], "recall"
    count = int(ends[-1]) if len(ends) else 0
    if budget.price:
        whole = limit == "triples" and len(ends) == len(nodes.order)
        worth = _worth(ends.tolist(), np.minimum(shares, 1.0).tolist(), budget.price)
        if worth < count or whole:
            count, limit = min(count, worth), "price"
    chosen, places, ranks = chosen[:count], places[:count], wanted.ranks[at][:count]
    scores = np.minimum(highest, nodes.score[nodes.order[places]])
    shares = shares[:count]
    was[chosen] = True
    joins = _joins(table, nodes, was)
    if limit != "recall" and not budget.price and (most is None or was.sum() < most):
        further, rows = _further(table, was, None if most is None else most - int(was.sum()))
        lowest = min([highest, *scores.tolist()]) if len(before) or len(scores) else 0.0
        more = np.minimum.accumulate(np.concatenate([[lowest], nodes.score[table.ends[rows]]]))[1:]
        share = shares[-1:] if len(shares) else np.zeros(1)
        chosen, scores = np.concatenate([chosen, further]), np.concatenate([scores, more])
        ranks = np.concatenate([ranks, np.array(table.ranks, dtype=np.int64)[table.rows[rows]]])
        shares = np.concatenate([shares, np.repeat(share, len(further))])
    return _Reading(table, chosen, scores, ranks, joins, np.minimum(shares, 1.0).tolist(), limit)


class _Wanted(NamedTuple):
    """The triples that nodes need, node by node.

    Attributes:
        places: Place of the node in the order of nodes, rising.
        triples: The triple.
        ranks: Rank of its path.
        own: Whether it is of the node's own instance; others lead there from other topics.
    """

    places: Ints
    triples: Ints
    ranks: Ints
    own: npt.NDArray[np.bool_]


def _wanted(table: ReadTable, nodes: _Nodes) -> _Wanted:
    """Return the triples that each node needs: those of its instance, and of the ways from other topics there."""
    triples = table.triples[nodes.instance[nodes.order]]
    there = triples >= 0
    places = np.repeat(np.arange(len(triples)), there.sum(axis=1))
    flat = triples[there]
    ranks = nodes.rank[nodes.order][places]
    own = np.ones(len(flat), dtype=bool)
    if not nodes.joined:
        return _Wanted(places, flat, ranks, own)
    number = {triple: i for i, triple in enumerate(table.named(np.arange(len(table.subjects))))}
    more = [
        (place, number[triple], way.rank)
        for place, node in enumerate(nodes.order.tolist())
        for _, way in nodes.joined.get(node, ())
        for triple in way.triples
    ]
    ways = np.array(more, dtype=np.int64).reshape(-1, 3).T
    columns = [np.concatenate(pair) for pair in zip((places, flat, ranks), ways, strict=True)]
    order = np.argsort(columns[0], kind="stable")
    own = np.concatenate([own, np.zeros(len(more), dtype=bool)])
    return _Wanted(columns[0][order], columns[1][order], columns[2][order], own[order])


def _kept(
    wanted: _Wanted,
    needed: npt.NDArray[np.bool_],
    held: npt.NDArray[np.bool_],
    room: float,
    reserved: npt.NDArray[np.bool_],
    nodes: _Nodes,
) -> npt.NDArray[np.bool_]:
    """Return which of the wanted triples are of nodes that find room, best node first.

    Args:
        wanted: The triples that nodes need.
        needed: Which of them come for the first time, and are not held.
        held: By triple, whether there is room for it in any case.
        room: Number of further triples.
        reserved: By node, whether its own triples are held.
        nodes: The nodes.
    """
    taken = np.cumsum(needed)
    kept = np.ones(len(taken), dtype=bool)
    if not len(taken) or taken[-1] <= room:
        return kept
    # From the first node on that lacks room, a node that needs fewer triples may find it.
    places, triples = wanted.places, wanted.triples
    at = int(wanted.places[np.searchsorted(taken, room, side="right")])
    begin = int(np.searchsorted(places, at))
    left = room - (int(taken[begin - 1]) if begin else 0)
    known = held.copy()
    known[triples[:begin]] = True
    _, _, once = numbered(places * len(held) + triples)
    while begin < len(places):
        lacking = np.bincount(places[once], ~known[triples[once]], minlength=len(nodes.order))
        fits = np.flatnonzero((lacking[at:] > 0) & (lacking[at:] <= left))
        until = at + int(fits[0]) if len(fits) else len(nodes.order)
        end = int(np.searchsorted(places, until))
        # The room for the triples of a reserved node is kept; how other topics arrive there needs what is left.
        kept[begin:end] = (lacking[places[begin:end]] == 0) | (
            wanted.own[begin:end] & reserved[nodes.order[places[begin:end]]]
        )
        begin = int(np.searchsorted(places, until, side="right"))
        known[triples[end:begin]] = True
        left -= lacking[until] if len(fits) else 0
        at = until + 1
    return kept


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


def _joins(table: ReadTable, nodes: _Nodes, chosen: npt.NDArray[np.bool_]) -> tuple[Join, ...]:
    """Return the meetings of paths of different topics whose triples were chosen, best first."""
    if not nodes.joined:
        return ()
    known = set(table.named(np.flatnonzero(chosen)))
    own = table.triples[nodes.instance]
    whole: Any = (chosen[own] | (own < 0)).all(axis=1).tolist()
    return joins_of(
        (int(nodes.rank[node]), at, way)
        for node in nodes.order.tolist()
        for at, way in nodes.joined.get(node, ())
        if whole[node] and known.issuperset(way.triples)
    )


def _nodes(
    paths: Sequence[RankedPath],
    read: Mapping[int, Sequence[Instance]],
    table: ReadTable,
    topics: Mapping[str, int],
    background: float,
) -> _Nodes:
    """Return the nodes that the paths end in, best first."""
    ranks, rows, size = table.ranks, table.rows, table.size
    by_rank = path_probabilities(paths, ranks)
    probabilities = np.array([by_rank[rank] for rank in ranks])
    boosts, ways = np.ones(len(rows)), list[tuple[int, list[str]]]()
    support = None
    if len(set(topics.values())) > 1:
        support = topic_support(paths, read, by_rank, topics, background)
        ways = [(topics[paths[rank].entity], passed(one, paths[rank])) for rank in ranks for one in read[rank]]
        boosts = np.array([support.boost(topic, nodes) for topic, nodes in ways])
    parts = table.confidences * boosts
    # Of the instances of a path that end in a node, the first of those that give it most.
    given = np.argsort(-parts, kind="stable")
    keys, _, first = numbered((rows * size + table.ends)[given])
    (row, end), instance = np.divmod(keys, max(size, 1)), given[first]
    part = parts[instance]
    greatest = np.ones(len(ranks))
    np.maximum.at(greatest, rows, boosts)
    totals = np.bincount(row, part, minlength=len(ranks))
    shares = probabilities / np.sqrt(np.maximum(1.0, totals / greatest))
    mass: Floats = np.bincount(end, shares[row] * part, minlength=size).astype(np.float64)
    # Of the paths that end in a node, the first of the surest instances that give it most; sorting keeps their order.
    surest = np.argsort(-probabilities[row] * part, kind="stable")
    confidences = table.confidences[instance]
    if (confidences != 1).any():
        surest = surest[np.argsort(-confidences[surest], kind="stable")]
    best = np.full(size, -1, dtype=np.int64)
    best[end[surest[::-1]]] = surest[::-1]  # The last to be written is the first to come.
    ends = np.flatnonzero(best >= 0)
    best = best[ends]
    mass[ends] = np.maximum(mass[ends], 1e-300)  # A mass of 0 has no logarithm.
    score, rank, at, place = np.zeros(size), *np.zeros((3, size), dtype=np.int64)
    score[ends] = np.round(np.log(mass[ends]), SCORE_DIGITS) + 0.0
    rank[ends], at[ends] = np.array(ranks, dtype=np.int64)[row[best]], instance[best]
    loops = table.subjects[table.subjects == table.objects]
    touching = np.concatenate([table.subjects, table.objects])
    degrees = np.bincount(touching, minlength=size) - np.bincount(loops, minlength=size)
    seen = np.zeros(size, dtype=np.int64)
    seen[table.ends[::-1]] = np.arange(len(rows))[::-1]
    order = ends[np.lexsort((seen[ends], -degrees[ends], rank[ends], -score[ends]))]
    place[order] = np.arange(len(order))
    by_place = np.sort(row * size + place[end])  # The rows rise already.
    behind = np.arange(len(row)) - np.searchsorted(row, row)
    leading = order[(by_place - row * size)[behind < LEAST]]
    joined = {}
    if support is not None:
        for node in order.tolist():
            if met := support.meetings(*ways[at[node]]):
                joined[node] = met
    return _Nodes(order, mass, score, rank, at, joined, leading)


def _joining(
    paths: Sequence[RankedPath], read: Mapping[int, Sequence[Instance]], table: ReadTable, topics: Mapping[str, int]
) -> ReadTable:
    """Return a table in which instances that end at another topic end at the last node before other topics."""
    ends = []
    for rank in table.ranks:
        own = topics[paths[rank].entity]
        for one in read[rank]:
            nodes = passed(one, paths[rank])
            while len(nodes) > 1 and topics.get(nodes[-1], own) != own:
                nodes.pop()
            ends.append(len(nodes))
    return attrs.evolve(table, ends=table.nodes[np.arange(len(ends)), np.array(ends, dtype=np.int64)])


def _reserve(
    nodes: _Nodes, table: ReadTable, most: int | None, before: int, held: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    """Hold the triples that the best few ends of each path need, as far as part of the room suffices.

    Args:
        nodes: The nodes.
        table: The triples.
        most: Maximum number of triples.
        before: Number of triples that were chosen before, which are held and need no room.
        held: By triple, whether there is room for it; those that are held are added.

    Returns:
        By node, whether its triples are held.
    """
    reserved = np.zeros(table.size, dtype=bool)
    if most is None:
        return reserved
    room = RESERVED * (most - before)
    flags = bytearray(held)  # numpy reads single items slowly
    for end, row in zip(nodes.leading.tolist(), table.triples[nodes.instance[nodes.leading]].tolist(), strict=True):
        needed = {triple for triple in row if triple >= 0 and not flags[triple]}
        if len(needed) <= room:
            reserved[end] = True
            room -= len(needed)
            for triple in needed:
                flags[triple] = True
    held |= np.frombuffer(flags, dtype=bool)
    return reserved


def _further(table: ReadTable, chosen: npt.NDArray[np.bool_], most: int | None) -> tuple[Ints, Ints]:
    """Return the triples of the other instances, each with the first of its instances.

    First those come that join two nodes that no chosen triple joins.
    """
    there = table.triples >= 0
    flat, rows = table.triples[there], np.repeat(np.arange(len(there)), there.sum(axis=1))
    first = first_places(flat, len(chosen)) & ~chosen[flat]
    flat, rows = flat[first], rows[first]
    low, high = np.minimum(table.subjects, table.objects), np.maximum(table.subjects, table.objects)
    _, pairs, _ = numbered(low * table.size + high)
    joined = np.zeros(len(pairs), dtype=bool)
    joined[pairs[chosen]] = True
    new = first_places(pairs[flat], len(pairs)) & ~joined[pairs[flat]]
    order = np.concatenate([np.flatnonzero(new), np.flatnonzero(~new)])[:most]
    return flat[order], rows[order]
