"""Mining: which paths join the pairs of each relation, counted exactly over a triple table.

A path is simple: it visits no node twice. So the triple of a pair lies on
no other path between its ends than the single step along it. Holding it out removes that step alone, for that pair
and relation; holding out its twins removes their steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, product
from pathlib import Path as FilePath

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.graph import TripleTable
from srtk_framework.records import place
from srtk_framework.roles import Executor, KnowledgeGraph
from srtk_framework.values import DriverError, Triple, close_matches
from srtk_plugin_patterns.adjacency import Adjacency, Walks, decoded, none_walked, spread, walked_on
from srtk_plugin_patterns.path_patterns import MinedPath, MiningSettings, PathPatterns, RelationPaths
from srtk_plugin_patterns.surroundings import surroundings
from srtk_plugin_patterns.twins import described, find_twins, step_numbers

Ints = npt.NDArray[np.int64]

JOINED = 1 << 20  # Most paths that are joined at once, or walked from objects at once; some 50 bytes each.

WALKED = 1 << 21  # Most paths that are walked from a subject at once; some 50 bytes each.

COUNTED = 1 << 23  # Most keys that are gathered before they are sorted; 8 bytes each.

PARTS = 4  # Parts of the subjects for each place of an executor: few, so that little is sent; hubs make them unequal.

Progress = Callable[[int, int], None]  # Called with the number of subjects that are done, and of all.


def mine_graph(
    graph: KnowledgeGraph,
    settings: MiningSettings,
    relations: Sequence[str] | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> PathPatterns:
    """Mine a graph: all of it where it can list its triples, else the surroundings of some pairs.

    Args:
        graph: An open graph.
        settings: Settings of the mining.
        relations: Mine these alone. Totals, and so Score1, are then over these; None for all.
        progress: Called now and then; see ``Progress``.
        executor: See ``mine``.

    Raises:
        DriverError: If the graph cannot list its triples, and either the relations or the number of pairs is not given;
            if it lacks a relation.
    """
    try:
        table = TripleTable.of(graph)
    except DriverError as error:
        if relations is None or settings.pairs is None:
            raise DriverError(
                f"{error}; or name relations and a number of pairs, to mine what surrounds these pairs"
            ) from error
        table, pairs = surroundings(graph, relations, settings.length, settings.hub, settings.pairs, settings.seed)
        return mine(table, settings, progress, pairs, executor)
    if relations is None:
        return mine(table, settings, progress, executor=executor)
    for relation in relations:
        if relation not in table.relation_numbers:
            raise DriverError(
                f"{graph.source()} has no relation {relation!r} between entities."
                f"{close_matches(relation, table.relations)}"
            )
    wanted = [table.relation_numbers[relation] for relation in relations]
    rows = table.triples[np.isin(table.triples[:, 1], wanted)]
    return mine(table, settings, progress, table.named(rows), executor)


def mine(
    table: TripleTable,
    settings: MiningSettings,
    progress: Progress | None = None,
    only: Sequence[Triple] | None = None,
    executor: Executor | None = None,
) -> PathPatterns:
    """Find the paths that join the pairs of each relation, and count the pairs that each joins.

    A path of n steps is allowed if it can be walked from both ends inwards within the hub bound: n / 2 of its steps
    from the subject and the rest from the object, the middle step of an odd number from either. So reversed pairs
    have reversed paths.

    Args:
        table: All triples between entities.
        settings: Length, bounds, and limits of the result.
        progress: Called now and then; see ``Progress``.
        only: Triples whose ends are the pairs to mine from; by default all of the table.
        executor: Counts parts of the subjects in several places, with the same result; None counts here.

    Raises:
        DriverError: If the codes of paths do not fit into 64 bits: too many relations for the length.
    """
    base = 2 * len(table.relations) + 1
    most = max(len(table.relations), len(table.entities))
    if most * base**settings.length >= 2**63:
        longest = next(n for n in range(settings.length, 0, -1) if most * base**n < 2**63)
        raise DriverError(
            f"{len(table.relations):,} relations allow paths of at most {longest} steps here; give a lower length than"
            f" {settings.length}"
        )
    adjacency = Adjacency.of(table, settings.hub)
    twins = find_twins(table, settings.twins)
    own = [[2 * at, *step_numbers(table, twins, at)] for at in range(len(table.relations))]
    held = np.array([at * base + step + 1 for at, steps in enumerate(own) for step in steps], dtype=np.int64)
    pairs = _pairs(table, settings, table.triples if only is None else table.numbers(only))
    size = base**settings.length
    part = _Part(len(table.entities), adjacency, settings, base, held)
    if executor is None:
        keys, numbers = part(pairs, progress)
    else:
        whole = _Counts()
        parts = _parts(pairs, PARTS * executor.places())
        for number, counted in enumerate(executor.map(part, parts)):
            if progress is not None:
                progress(number, len(parts))
            whole.add_counted(*counted)
        keys, numbers = whole.whole()
    relations, codes = np.divmod(keys, size)
    kept = numbers >= settings.least
    totals = _totals(codes, numbers, kept)
    dropped = len(keys) - int(kept.sum())
    relations, codes, numbers = relations[kept], codes[kept], numbers[kept]
    facts = np.bincount(table.triples[:, 1], minlength=len(table.relations))
    mined = np.bincount(pairs[:, 1], minlength=len(table.relations))
    found = {}
    for number, name in enumerate(table.relations):
        if not mined[number]:
            continue
        low, high = np.searchsorted(relations, [number, number + 1])
        # Codes of shorter paths are lower, and those of one length are in the order of their steps.
        order = np.lexsort((codes[low:high], -numbers[low:high]))[: settings.most] + low
        dropped += int(high - low) - len(order)
        paths = tuple(
            MinedPath(tuple(map(table.step, decoded(int(codes[at]), base))), int(numbers[at]), int(totals[at]))
            for at in order.tolist()
        )
        found[name] = RelationPaths(name, int(facts[number]), int(mined[number]), paths)
    cut = {"hub_steps": adjacency.hubs, "hub_edges": adjacency.left_out, "paths": dropped}
    return PathPatterns(found, settings, table.content_hash(), cut, twins)


def _pairs(table: TripleTable, settings: MiningSettings, triples: npt.NDArray[np.int32]) -> Ints:
    """Return the rows to mine from, sorted by subject and object; a loop is no pair."""
    rows = triples[triples[:, 0] != triples[:, 2]].astype(np.int64)
    if settings.pairs is not None:
        chosen = []
        for number in range(len(table.relations)):
            some = rows[rows[:, 1] == number]
            if len(some) > settings.pairs:
                drawn = [place("\t".join(fact), settings.seed) for fact in table.named(some.astype(np.int32))]
                some = some[np.lexsort((np.arange(len(some)), np.array(drawn)))[: settings.pairs]]
            chosen.append(some)
        rows = np.concatenate(chosen) if chosen else rows
    found: Ints = rows[np.lexsort((rows[:, 1], rows[:, 2], rows[:, 0]))]
    return found


def _parts(pairs: Ints, most: int) -> list[Ints]:
    """Divide sorted pairs where the subject changes, into at most so many parts of about one size."""
    firsts = np.flatnonzero(np.append(True, pairs[1:, 0] != pairs[:-1, 0])[: len(pairs)])
    cuts = np.searchsorted(firsts, np.arange(1, most) * len(pairs) / most)
    return [part for part in np.split(pairs, firsts[np.unique(cuts[cuts < len(firsts)])]) if len(part)]


@attrs.frozen(eq=False)
class _Part:
    """Counts the paths of some pairs; pickles, so that an executor can take it elsewhere."""

    nodes: int  # Number of entities.
    adjacency: Adjacency  # Edges.
    settings: MiningSettings
    base: int  # See ``_Growth``.
    held: Ints  # See ``_of_relations``.

    def __call__(self, pairs: Ints, progress: Progress | None = None) -> tuple[Ints, Ints]:
        """Return the distinct keys of ``_joined``, sorted, and how often each came."""
        counts = _Counts()
        for keys in _joined(self.nodes, pairs, self.adjacency, self.settings, self.base, self.held, progress):
            counts.add(keys)
        return counts.whole()


def _joined(
    nodes: int,
    pairs: Ints,
    adjacency: Adjacency,
    settings: MiningSettings,
    base: int,
    held: Ints,
    progress: Progress | None,
) -> Iterator[Ints]:
    """Yield a key (relation * base^length + code) for each pair and each path that joins it."""
    size = base**settings.length
    join = _Join(nodes)
    firsts = np.flatnonzero(np.append(True, pairs[1:, 0] != pairs[:-1, 0])[: len(pairs)])
    lasts = np.append(firsts[1:], len(pairs))[: len(firsts)]
    halves = _halves(settings)
    short, long = ({half for half in halves if (sum(half) == 1) is one} for one in (True, False))
    far, near = max(ahead for ahead, _ in halves), max(behind for _, behind in halves)
    reach = _reach(adjacency, far)
    for number, (low, high) in enumerate(zip(firsts.tolist(), lasts.tolist(), strict=True)):
        if progress is not None and number % 64 == 0:
            progress(number, len(firsts))
        some = pairs[low:high]
        fresh = np.append(True, some[1:, 2] != some[:-1, 2])
        targets, of_target = some[fresh, 2], np.cumsum(fresh) - 1
        source = some[:1, 0]
        begins = np.searchsorted(of_target, np.arange(len(targets) + 1))
        from_source = _Growth(source, adjacency, base, False, reach, WALKED)
        stay = none_walked(source)
        first = from_source.longer(stay)
        groups = [first[rows] for rows in _whole_steps(first, reach[far - 1], WALKED)]
        # What fits is walked once; the rest is walked again for each part of the other end.
        ahead = list(from_source(first, far)) if reach[far - 1][first.ends].sum() <= WALKED else None
        for part in _slices(reach[near][targets], JOINED):
            goals = targets[part]
            to_goals = _Growth(goals, adjacency, base, True, reach, JOINED)
            behind = list(to_goals(none_walked(goals), near)) if reach[near][goals].sum() <= JOINED else None
            for group in groups:
                # Paths of other first steps are other paths, so what comes twice comes within a group. A path of one
                # step may have been walked from its object alone: these come with the first group, all of them.
                found = _Distinct()
                for backward in behind or to_goals(none_walked(goals), near):
                    grown = ((long, forward) for forward in ahead or from_source(group, far))
                    for wanted, forward in chain([(short, [stay, first])] if group is groups[0] else [], grown):
                        for start, end in product(forward, backward):
                            if (start.length, end.length) in wanted:
                                for keys in join(start, end, source[0], goals, base**end.length, size):
                                    found.add(keys)
                of, codes = np.divmod(found.whole(), size)
                yield _of_relations(some[:, 1], begins, of + part.start, codes, size, base, held)
    if progress is not None:
        progress(len(firsts), len(firsts))


def _halves(settings: MiningSettings) -> set[tuple[int, int]]:
    """Return how many steps of a path of each length are walked from its source, and how many from its target."""
    # The middle step of an odd path may be walked from either end, which matters only for a bound.
    return {
        (length - half, half)
        for length in range(1, settings.length + 1)
        for half in ({length // 2} if settings.hub is None else {length // 2, (length + 1) // 2})
    }


def _of_relations(relations: Ints, begins: Ints, of: Ints, codes: Ints, size: int, base: int, held: Ints) -> Ints:
    """Return the keys of paths for each relation that holds between source and target, without its own steps.

    Args:
        relations: Relations of the source's pairs, by target.
        begins: Place of the first relation of each target.
        of: Number of each path's target.
        codes: Code of each path.
        size: Number of codes.
        base: Number of codes of at most one step.
        held: The own steps of all relations, the relation's and its twins', as relation * base + code.
    """
    counts = begins[of + 1] - begins[of]
    own_relations = relations[spread(begins[of], counts)]
    codes = np.repeat(codes, counts)
    keys: Ints = own_relations * size + codes
    single = np.flatnonzero(codes < base)
    return np.delete(keys, single[np.isin(own_relations[single] * base + codes[single], held)])


def _reach(adjacency: Adjacency, length: int) -> list[npt.NDArray[np.float64]]:
    """Return, for up to 0, 1, ... steps, a bound on the number of paths of a length from each node."""
    nodes = np.repeat(np.arange(len(adjacency.offsets) - 1), np.diff(adjacency.offsets))
    found = [np.ones(len(adjacency.offsets) - 1)]
    for _ in range(length):
        walks = np.bincount(nodes, found[-1][adjacency.ends], minlength=len(found[-1]))
        found.append(np.maximum(walks, found[-1]))
    return found


@attrs.frozen(eq=False)
class _Growth:
    """Grows simple paths from some nodes."""

    nodes: Ints  # The nodes.
    adjacency: Adjacency  # Edges.
    base: int  # One more than the number of steps.
    backward: bool  # The paths are found from their objects.
    reach: Sequence[npt.NDArray[np.float64]]  # Bounds on the number of paths from each node.
    most: int  # Most paths of a length that are grown at once, unless the edges of one node are more.

    def longer(self, walks: Walks) -> Walks:
        """Lengthen paths by a step."""
        return walked_on(walks, self.nodes, self.adjacency, self.base, self.backward)

    def __call__(self, walks: Walks, length: int) -> Iterator[list[Walks]]:
        """Yield some paths and all their continuations up to a length; each once, in bounded parts."""
        sizes = self.reach[length - walks.length][walks.ends]
        if walks.length == length or sizes.sum() <= self.most:
            found = [walks]
            while found[-1].length < length:
                found.append(self.longer(found[-1]))
            yield found
            return
        yield [walks]
        for rows in _slices(sizes, self.most):
            yield from self(self.longer(walks[rows]), length)


def _whole_steps(first: Walks, reach: npt.NDArray[np.float64], most: int) -> Iterator[slice]:
    """Split paths of one step, sorted by it, where the step changes, so that their continuations fit."""
    if not len(first):
        yield slice(0, 0)
        return
    begins = np.flatnonzero(np.append(True, first.codes[1:] != first.codes[:-1]))
    edges = np.append(begins, len(first))
    for steps in _slices(np.add.reduceat(reach[first.ends], begins), most):
        yield slice(int(edges[steps.start]), int(edges[steps.stop]))


def _slices(sizes: npt.NDArray[np.float64], most: int) -> Iterator[slice]:
    """Split items so that the sizes of each part add up to at most so much, or it is a single item."""
    begin, room = 0, 0.0
    for at, size in enumerate(sizes.tolist()):
        if at > begin and room + size > most:
            yield slice(begin, at)
            begin, room = at, 0.0
        room += size
    yield slice(begin, len(sizes))


class _Distinct:
    """Gathers keys that come in parts; those that are there already are dropped from time to time."""

    def __init__(self) -> None:
        self._parts: list[Ints] = []
        self._size = 0
        self._kept = 0

    def add(self, keys: Ints) -> None:
        """Gather keys."""
        self._parts.append(keys)
        self._size += len(keys)
        if self._size > COUNTED + 2 * self._kept:
            self._parts = [self.whole()]
            self._size = self._kept = len(self._parts[0])

    def whole(self) -> Ints:
        """Return the distinct keys, sorted."""
        return _distinct(self._parts)


class _Join:
    """Joins paths from a subject with paths to its objects at their common node; its arrays are used again."""

    def __init__(self, nodes: int) -> None:
        self._first = np.zeros(nodes, dtype=np.int64)
        self._count = np.zeros(nodes, dtype=np.int64)

    def __call__(
        self, forward: Walks, backward: Walks, source: int, targets: Ints, shift: int, size: int
    ) -> Iterator[Ints]:
        """Yield distinct keys (place of the target * size + code) of the paths that visit no node twice."""
        order = np.argsort(forward.ends, kind="stable")
        forward = forward[order]
        nodes, firsts, counts = np.unique(forward.ends, return_index=True, return_counts=True)
        self._first[nodes], self._count[nodes] = firsts, counts
        matches = self._count[backward.ends]
        hit = matches > 0
        for column in backward.inner:
            hit &= column != source
        backward, matches = backward[hit], matches[hit]
        starts = self._first[backward.ends]
        self._count[nodes] = 0
        filled = np.cumsum(matches)
        begin = 0
        while begin < len(backward):
            before = int(filled[begin - 1]) if begin else 0
            end = max(int(np.searchsorted(filled, before + JOINED, side="right")), begin + 1)
            rows = slice(begin, end)
            yield self._keys(forward, backward[rows], starts[rows], matches[rows], targets, shift, size)
            begin = end

    def _keys(
        self, forward: Walks, backward: Walks, starts: Ints, matches: Ints, targets: Ints, shift: int, size: int
    ) -> Ints:
        right = np.repeat(np.arange(len(backward)), matches)
        left = spread(starts, matches)
        simple = np.ones(len(left), dtype=bool)
        for column in forward.inner:
            visited = column[left]
            simple &= visited != targets[backward.starts[right]]
            for other in backward.inner:
                simple &= visited != other[right]
        keys = backward.starts[right] * size + forward.codes[left] * shift + backward.codes[right]
        return _distinct([keys[simple]])


class _Counts:
    """Counts keys that come in parts: gathered, sorted, and counted from time to time."""

    def __init__(self) -> None:
        self._waiting: list[Ints] = []
        self._size = 0
        self._keys = np.zeros(0, dtype=np.int64)
        self._numbers = np.zeros(0, dtype=np.int64)

    def add(self, keys: Ints) -> None:
        """Gather keys."""
        self._waiting.append(keys)
        self._size += len(keys)
        if self._size > COUNTED:
            self._merge()

    def whole(self) -> tuple[Ints, Ints]:
        """Return the distinct keys, sorted, and how often each came."""
        self._merge()
        return self._keys, self._numbers

    def _merge(self) -> None:
        keys = np.concatenate([np.zeros(0, dtype=np.int64), *self._waiting])
        self._waiting, self._size = [], 0
        self.add_counted(*np.unique(keys, return_counts=True))

    def add_counted(self, keys: Ints, numbers: Ints) -> None:
        """Gather distinct sorted keys with how often each came."""
        if len(self._keys):
            # Those that were counted before keep their places; the others are inserted.
            at = np.searchsorted(self._keys, keys)
            known = self._keys[np.minimum(at, len(self._keys) - 1)] == keys
            self._numbers[at[known]] += numbers[known]
            self._keys = np.insert(self._keys, at[~known], keys[~known])
            self._numbers = np.insert(self._numbers, at[~known], numbers[~known])
        else:
            self._keys, self._numbers = keys, numbers.copy()  # Ray's arrays cannot be written


def _totals(codes: Ints, numbers: Ints, kept: npt.NDArray[np.bool_]) -> Ints:
    """Return the sum over all relations of the counts of each kept code."""
    wanted = np.unique(codes[kept])
    at = np.searchsorted(wanted, codes)
    inside = at < len(wanted)
    inside[inside] = wanted[at[inside]] == codes[inside]
    sums = np.bincount(at[inside], numbers[inside], minlength=len(wanted)).astype(np.int64)
    found: Ints = sums[np.searchsorted(wanted, codes[kept])]
    return found


def _distinct(parts: list[Ints]) -> Ints:
    return np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *parts]))


def given_or_mined(
    folder: str | None,
    table: TripleTable,
    settings: MiningSettings,
    only: Sequence[Triple] | None = None,
    executor: Executor | None = None,
) -> PathPatterns:
    """Read the patterns in a folder, or mine those of a table where no folder is named; see ``mine``.

    Raises:
        DriverError: If the patterns in the folder were mined from other triples, or hold out other twins.
    """
    if folder is None:
        return mine(table, settings, None, only, executor)
    found = PathPatterns.load(FilePath(folder).expanduser())
    if found.content != table.content_hash():
        raise DriverError(
            f"the patterns in {folder} were mined from another graph than the {len(table.triples):,} triples that are"
            " left to learn from; omit `patterns`, so that training mines these, or hold out no facts"
        )
    if found.settings.twins != settings.twins:
        raise DriverError(
            f"the patterns in {folder} were mined with `twins: {_shown(found.settings.twins)}`, and `fit` has"
            f" {_shown(settings.twins)}; set the same, or omit `patterns`, so that training mines"
        )
    return found


def describe(patterns: PathPatterns) -> str:
    """Describe the patterns and the cuts in a line."""
    paths = sum(len(found.paths) for found in patterns.relations.values())
    mined = sum(found.mined for found in patterns.relations.values())
    text = f"{paths:,} paths of {len(patterns.relations):,} relations, mined from {mined:,} pairs"
    cut = patterns.cut
    parts = []
    if cut.get("hub_edges"):
        parts.append(f"{cut['hub_edges']:,} edges at {cut['hub_steps']:,} hubs were not walked")
    if cut.get("paths"):
        parts.append(f"{cut['paths']:,} rarer paths were not kept")
    if patterns.twins:
        parts.append(described(patterns.twins))
    return "; ".join([text, *parts])


def _shown(twins: float | None) -> str:
    return "null" if twins is None else f"{twins:g}"
