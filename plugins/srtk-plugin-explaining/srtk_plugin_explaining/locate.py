"""Location of a question's answers in a graph, and the paths to them from its links."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

import attrs

from srtk_framework.graph import follow_path, instance_triples, names_of, path_sort_key
from srtk_framework.roles import KnowledgeGraph
from srtk_framework.values import END, NIL, Budget, Literal, Path, Pattern, Question, RankedPath, Step, Triple
from srtk_plugin_explaining.findings import UnreachableAnswers

_WIDE = Budget(nodes=100_000, hub=100_000)  # Budget for following a single path: wide, but bounded.
# Factor by which the limits are raised where they hide every path; a graph may be too large to lift them entirely.
_BEYOND = 10
_DATATYPES = (None, "integer", "decimal", "double", "gYear", "date", "dateTime", "time", "boolean")
_TOPIC_FIELDS = ("gold_entities", "topic_entities")  # Names that public sets give to topic entities.


@attrs.frozen
class Lead:
    """A path from a link, with the answers that it reaches."""

    path: RankedPath
    answers: frozenset[str]


def path_order(path: RankedPath) -> tuple[int, tuple[str, ...], str]:
    """Order paths by length, then by the text of their steps, then by entity."""
    return (*path_sort_key(path.steps), path.entity)


def gold_topics(question: Question, relinked: bool) -> tuple[str, ...]:
    """Return the gold topic entities of a question, sorted; empty if its annotations give none.

    The first source that is present counts. These are the gold links; the fields ``gold_entities`` or
    ``topic_entities``; the links of the input, if the recipe links the question anew. The last source is the nodes of
    the gold triples from which a gold path leads to an answer.

    Args:
        question: The question as in the input.
        relinked: Whether the recipe replaces the links of the input.
    """
    gold = {link.entity for link in question.gold_links or () if link.entity != NIL and link.score}
    if gold:
        return tuple(sorted(gold))
    for field in _TOPIC_FIELDS:
        named = _named(question.extra.get(field))
        if named:
            return tuple(sorted(named))
    if question.links:
        return tuple(sorted({link.entity for link in question.links})) if relinked else ()
    triples, paths = question.gold_triples or (), question.gold_paths or ()

    def read(nodes: Sequence[str], step: Step) -> list[Triple]:
        at = set(nodes)
        return [t for t in triples if t.relation == step.relation and (t.object if step.inverse else t.subject) in at]

    # Along a path with an inverse step, answers may lead to each other; answers are no topics.
    both = {end for t in triples for end in (t.subject, t.object) if not isinstance(end, Literal)}
    ends = sorted(both - set(question.answers or ()))
    return tuple(
        node for node in ends if any(path and instance_triples(read, node, path, question.answers) for path in paths)
    )


def gold_paths(question: Question, starts: Sequence[str]) -> tuple[Path, ...]:
    """Return the gold relation paths of a question.

    Without them, the shortest ways from a start to each answer within its gold triples, in either direction.

    Args:
        question: The question with its gold annotations.
        starts: Ids of nodes from which the paths may start.
    """
    if question.gold_paths:
        return question.gold_paths
    ways: dict[str, list[tuple[Step, str]]] = {}
    for triple in question.gold_triples or ():
        ways.setdefault(triple.subject, []).append((Step(triple.relation), triple.object))
        ways.setdefault(triple.object, []).append((Step(triple.relation, True), triple.subject))
    found: set[Path] = set()
    for start in starts:
        reached: dict[str, set[Path]] = {start: {()}}
        seen = {start}
        while reached:
            further: dict[str, set[Path]] = {}
            for node, paths in reached.items():
                for step, other in ways.get(node, ()):
                    if other not in seen:
                        further.setdefault(other, set()).update((*path, step) for path in paths)
            seen |= further.keys()
            for node, paths in further.items():
                found |= paths if not names_of(node).isdisjoint(question.answers or ()) else set()
            reached = further
    return tuple(sorted(found, key=path_sort_key))


def _named(topics: object) -> set[str]:
    """Return the ids in a field with topics: an id, ids, a mapping by id, or objects with an id."""
    if isinstance(topics, str):
        return {topics} - {""}
    if isinstance(topics, Mapping):
        return {str(key) for key in topics}
    if not isinstance(topics, Iterable):
        return set()
    ids = ((item.get("id") or item.get("entity")) if isinstance(item, Mapping) else item for item in topics)
    return {str(id_) for id_ in ids if id_ is not None and id_ != ""}


def same_nodes(graph: KnowledgeGraph, ids: Sequence[str]) -> dict[str, set[str]]:
    """Map each id to the graph's own ids of that node; empty if the graph lacks it."""
    return {id_: set(nodes.ids()) for id_, nodes in zip(ids, graph.frontiers([[i] for i in ids]), strict=True)}


def located(graph: KnowledgeGraph, answers: Sequence[str]) -> dict[str, list[str]]:
    """Map each answer to its nodes in the graph, entities or else equal literals; empty if the graph lacks it."""
    places = {answer: sorted(nodes) for answer, nodes in same_nodes(graph, answers).items()}
    literals = [(answer, form) for answer in answers if not places[answer] for form in _forms(answer)]
    rows = graph.match([Pattern(object=form) for _, form in literals]) if literals else []
    for (answer, form), triples in zip(literals, rows, strict=True):
        if triples:
            places[answer].append(form)
    return places


def _forms(answer: str) -> list[Literal]:
    """Return the literals that may stand for an answer: itself, or its text with each usual datatype."""
    if answer.startswith('"'):
        return [Literal(answer)]
    return [Literal.make(answer, f"xsd:{datatype}" if datatype else None) for datatype in _DATATYPES]


class Search:
    """Search for paths from the links of a question to its answers.

    Args:
        graph: Graph to search.
        links: Start entities, all in the graph.
        depth: Maximum number of steps of a path.
        inverse: Whether the expander follows inverse steps.
        budget: Budget of the search for shortest paths; ``hub`` and ``nodes`` apply.
    """

    def __init__(self, graph: KnowledgeGraph, links: Sequence[str], depth: int, inverse: bool, budget: Budget) -> None:
        self.graph, self.links, self.depth, self.inverse, self.budget = graph, links, depth, inverse, budget
        self._noise = tuple(graph.schema().noise)
        self.cut: dict[str, int] = {}

    def gold_leads(self, places: dict[str, list[str]], starts: Sequence[str], gold: Sequence[Path]) -> list[Lead]:
        """Follow gold paths from nodes of the graph, in the expander's search space or not.

        Args:
            places: Answer to its nodes in the graph, at least one each.
            starts: Where the paths start.
            gold: Gold relation paths; a final END is left out.

        Returns:
            Those that reach an answer.
        """
        given = list(dict.fromkeys(path[:-1] if path[-1:] == (END,) else path for path in gold))
        return self._reached([RankedPath(start, path, 0.0) for start in starts for path in given if path], places)

    def leads(
        self, places: dict[str, list[str]], known: Sequence[Lead] = ()
    ) -> tuple[list[Lead], UnreachableAnswers | None]:
        """Find paths to all reachable answers.

        Args:
            places: Answer to its nodes in the graph, at least one each.
            known: Gold paths from links. To an answer that one of them reaches, no other path is searched.

        Returns:
            The paths in the expander's search space, and evidence about the answers outside of it.
        """
        leads = [lead for lead in known if not self._hindrance(lead.path.steps)]
        beyond = self._without({a: places[a] for lead in known for a in lead.answers if a in places}, leads)
        left = self._without(places, known)
        while left:
            near = self._shortest(left, self.depth, self.inverse) or self._shortest_beyond_limits(left)
            clear = [lead for lead in near if not self._hindrance(lead.path.steps)]
            if near and not clear:
                every = self._shortest(left, self.depth, self.inverse, shortest=False)
                clear = [lead for lead in every if not self._hindrance(lead.path.steps)]
                least = min((len(lead.path.steps) for lead in clear), default=0)
                clear = [lead for lead in clear if len(lead.path.steps) == least]
            if not clear:
                return leads, self._unreachable({**left, **beyond}, [*known, *near])
            leads += clear
            left = self._without(left, clear)
        return leads, self._unreachable(beyond, known) if beyond else None

    def _unreachable(self, places: dict[str, list[str]], known: Sequence[Lead]) -> UnreachableAnswers:
        """Collect the evidence about answers that the expander cannot reach."""
        further = [lead for lead in known if lead.answers & places.keys()]
        if not further:
            further = self._shortest(places, self.depth + 1, self.inverse)
        if not further and not self.inverse:
            further = self._shortest(places, self.depth + 1, True)
        best = min(further, key=lambda lead: path_order(lead.path), default=None)
        if best is None:
            return UnreachableAnswers(self.depth, searched=self.depth + 1, cut=dict(sorted(self.cut.items())))
        return UnreachableAnswers(self.depth, best.path, self._hindrance(best.path.steps), self.depth + 1)

    def _hindrance(self, path: Path) -> str:
        """Return the cause that excludes a path from the expander's search space; empty for a path within it."""
        if len(path) > self.depth:
            return "depth"
        if not self.inverse and any(step.inverse for step in path):
            return "inverse"
        noisy = any(fnmatchcase(step.relation, pattern) for step in path for pattern in self._noise)
        return "noise" if noisy else ""

    def _shortest(self, places: dict[str, list[str]], hops: int, inverse: bool, shortest: bool = True) -> list[Lead]:
        """Find the shortest paths from each link; paths to a literal go through its subjects."""
        nodes = sorted({node for row in places.values() for node in row})
        entities = [node for node in nodes if not isinstance(node, Literal)]
        found: list[RankedPath] = []
        if entities:
            found += self._paths(entities, hops, inverse, shortest)
        literals = [node for node in nodes if isinstance(node, Literal)]
        if literals:
            found += self._to_literals(literals, hops, inverse, shortest)
        least = min((len(path.steps) for path in found), default=0)
        return self._reached([path for path in found if not shortest or len(path.steps) == least], places)

    def _to_literals(self, literals: Sequence[Literal], hops: int, inverse: bool, shortest: bool) -> list[RankedPath]:
        """Find the paths from each link to the subjects of literals, and on to the literals."""
        found: list[RankedPath] = []
        rows = self.graph.match([Pattern(object=node) for node in literals])
        for relation in sorted({triple.relation for row in rows for triple in row}):
            last = Step(relation)
            subjects = sorted({t.subject for row in rows for t in row if t.relation == relation})
            own = [link for link in self.links if link in subjects]
            found += [RankedPath(link, (last,), 0.0) for link in own]
            if hops > 1 and not (own and shortest):
                before = self._paths(subjects, hops - 1, inverse, shortest)
                found += [RankedPath(path.entity, (*path.steps, last), 0.0) for path in before]
        return found

    def _shortest_beyond_limits(self, places: dict[str, list[str]]) -> list[Lead]:
        """Find the paths that the limits on nodes and neighbours hide; read only where they hid something."""
        if not self.cut:
            return []
        narrow, hidden = self.budget, self.cut
        self.budget = attrs.evolve(
            narrow, hub=narrow.hub and narrow.hub * _BEYOND, nodes=narrow.nodes and narrow.nodes * _BEYOND
        )
        found = self._shortest(places, self.depth, self.inverse)
        self.budget, self.cut = narrow, hidden
        return found

    def _paths(self, ends: Sequence[str], hops: int, inverse: bool, shortest: bool) -> list[RankedPath]:
        starts = [[link] for link in self.links]
        rows = self.graph.paths(starts, [list(ends)] * len(starts), hops, self.budget, shortest, inverse)
        for row in rows:
            for limit, dropped in row.cut.items():
                self.cut[limit] = max(self.cut.get(limit, 0), dropped)
        return [RankedPath(link, path, 0.0) for link, row in zip(self.links, rows, strict=True) for path in row]

    def _reached(self, paths: Sequence[RankedPath], places: dict[str, list[str]]) -> list[Lead]:
        """Follow paths and keep those that reach an answer."""
        before = follow_path(self.graph, [[path.entity] for path in paths], [path.steps[:-1] for path in paths], _WIDE)
        at = self.graph.frontiers([nodes.ids() for nodes in before])
        rows = self.graph.triples(at, [path.steps[-1] for path in paths], _WIDE.hub)
        leads = []
        for path, triples in zip(paths, rows, strict=True):
            back = path.steps[-1].inverse
            ends = {name for triple in triples for name in names_of(triple.subject if back else triple.object)}
            answers = frozenset(answer for answer, nodes in places.items() if not ends.isdisjoint((answer, *nodes)))
            if answers:
                leads.append(Lead(path, answers))
        return leads

    def _without(self, places: dict[str, list[str]], leads: Iterable[Lead]) -> dict[str, list[str]]:
        reached = {answer for lead in leads for answer in lead.answers}
        return {answer: nodes for answer, nodes in places.items() if answer not in reached}
