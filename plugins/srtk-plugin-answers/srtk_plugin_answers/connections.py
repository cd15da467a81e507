"""Answers about the connections of things in a network, of all relations that join them and in both directions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import attrs
from srtk_plugin_local.snapshot.build_settings import EDGE

from srtk_framework.text import link_topics, spaced
from srtk_framework.values import Literal, Pattern, Question, RankedPath, Schema, Step, Triple
from srtk_plugin_answers.answer_sources import Sources
from srtk_plugin_answers.answer_types import asked_relation, verb_of_who
from srtk_plugin_answers.choices import other_words
from srtk_plugin_answers.connection_questions import Asked, asked_of_network
from srtk_plugin_answers.drafts import NO_RELATION, Case, Draft
from srtk_plugin_answers.end_classes import of_class
from srtk_plugin_answers.question_classes import PEOPLE, name_of, singular, stems_of, without_names, word_set
from srtk_plugin_answers.question_kinds import marked_text

_ALIKE = word_set(
    """
    adjacent ally allied associated border borders bordering brother coauthor colleague connected connects contact
    cooccurs cousin friend friends interacts knows linked links married meets met neighbor neighbour opponent partner
    related rival sibling sister spouse teammate twin with and between
    """
)
"""Words of names of relations that are said of both ends alike."""
_CLASSES = word_set("type category class kind")
_DESCRIPTION = "description"
_WAY = 6
"""Edges of the longest way between two things that is looked for."""
_MOST = 100_000
"""Triples that are read for one answer."""
_NOT_NAMED = "the edges of the graph name no relation; ask what is connected to it"
_ALONE = "nothing is connected to what the question names"
_NO_WAY = "the graph has no way between the things that the question names"
_FAR = "the graph has no way of up to {most} edges between the things that the question names"
_NOT_DIRECT = "nothing joins them directly; they are joined over what is between them in the proof"
_UNNAMED = "the edge between them names no relation"
_OF_EDGES = "they are joined by {names}"
_DIRECTLY = "directly"
_NO_CLASS = "the graph does not tell which of them are called {noun!r}"


def by_connection(sources: Sources, case: Case) -> Draft | None:
    """Answer a question for neighbours, for their number, or for what joins two things, whatever the relation.

    None where the graph has relations that are called as the question asks, or where it is not known to be a network.
    """
    asked = asked_of_network(marked_text(case.question))
    topics = link_topics(case.question.links)
    if asked is None or len(set(topics.values())) != {"degree": 0, "neighbours": 1}.get(asked.form, 2):
        return None
    network = _Network(sources)
    ends = list({topic: entity for entity, topic in reversed(topics.items())}.values())[::-1]
    if network.is_named(asked, ends) or other_words(sources.graph, case.question):
        return None
    draft: Draft | None
    if asked.form == "between":
        draft = _between(network, case, ends)
    elif not network.may_be_one(ends) or (asked.form == "degree" and not network.is_one(ends)):
        return None
    elif asked.form == "degree":
        draft = _of_degree(network, case, asked)
    elif asked.form == "joined":
        draft = _joined(network, case, asked, ends)
    else:
        draft = _neighbours(network, case, asked, ends)
    if draft is None or (" " in asked.noun and draft.likened):
        return None  # its first word may be a value
    # Of two things of one name either may be meant, and whom one follows may not know the follower.
    is_one_way = asked.verb.startswith("know") and EDGE not in sources.operations.schema.symmetric
    is_open = len(topics) > len(set(topics.values())) or (is_one_way and asked.form != "between")
    return attrs.evolve(draft, likened=draft.likened or is_open)


def of_unnamed(sources: Sources, question: Question, draft: Draft) -> Draft:
    """Refuse or doubt an answer over edges that name no relation, or whose direction alone tells what is asked for."""
    relations = {triple.relation for triple, _ in draft.proof} | {*filter(None, [draft.relation])}
    relations |= {step.relation for step in (draft.path.steps if draft.path else ())}
    if draft.missing or not relations:
        return draft
    if EDGE in relations:
        text = without_names(question)
        noun = asked_relation(question.text) or verb_of_who(text)
        if relations <= {EDGE, *sources.operations.schema.type_relations} and (noun or draft.truth is not None):
            noun = noun or " ".join(marked_text(question).strip(" ?").split())
            return Draft(draft.kind, missing=f"{NO_RELATION.format(noun=noun)}; {_NOT_NAMED}")
        return attrs.evolve(draft, likened=True)
    # Who is the parent and who the child, edges without direction do not tell.
    labels = map(sources.likeness.label, relations & {*sources.operations.schema.symmetric})
    is_told = all(_ALIKE & {*name_of(label).split()} for label in labels)
    return draft if is_told else attrs.evolve(draft, likened=True)


@attrs.frozen(eq=False)
class _Network:
    """The edges of a graph: triples between entities, but for classes and for cells of tables."""

    sources: Sources

    def relations(self, ends: Sequence[str] = ()) -> list[str]:
        """Return the relations of edges of the whole graph where it lists them, else of those at some nodes."""
        graph, schema = self.sources.graph, self.sources.operations.schema
        every: Iterable[str] = schema.relations
        if not every:
            rows = graph.steps(graph.frontiers([[one] for one in ends]), True)
            every = (step.relation for row in rows for step in row)
        every = {*every, *schema.symmetric}
        # Beside edges, what a table says of a node is no edge; without any, its cells are all that joins things.
        is_edged = EDGE in every or bool(schema.symmetric)
        cells = {one for table in schema.tables.values() for one in table} if is_edged else set()
        aside = {*self.types(), *schema.subclass_relations, *cells}
        steps = [Step(one) for one in sorted(every - aside)]
        return [step.relation for step in self.sources.operations.values.scores.without_noise(steps)]

    def types(self) -> list[str]:
        """Return the relations to the classes of nodes, those that are called so too."""
        schema, label = self.sources.operations.schema, self.sources.likeness.label
        return [*schema.type_relations, *(one for one in schema.relations if name_of(label(one)) in _CLASSES)]

    def is_one(self, ends: Sequence[str]) -> bool:
        """Return whether the graph has edges without a name or without a direction, as networks have."""
        return EDGE in self.relations(ends) or bool(self.sources.operations.schema.symmetric)

    def may_be_one(self, ends: Sequence[str]) -> bool:
        """Return whether a graph is a network, or at least no tables and on no server."""
        return self.lists_relations(ends) and (self.is_one(ends) or not self.sources.operations.schema.tables)

    def lists_relations(self, ends: Sequence[str]) -> bool:
        """Return whether the relations of all edges are known."""
        return bool(self.sources.operations.schema.relations) or self.is_one(ends)

    def is_named(self, asked: Asked, ends: Sequence[str]) -> bool:
        """Return whether a relation is called as a question says, or is none of a graph whose edges have names."""
        graph, relations = self.sources.graph, self.relations(ends)
        if ends:
            rows = graph.steps(graph.frontiers([[one] for one in ends]), True)
            relations = [one for one in relations if any(step.relation == one for row in rows for step in row)]
        labels = [self.sources.likeness.label(one) for one in relations if one != EDGE]
        is_knowing = asked.verb.startswith("know") and EDGE not in relations
        verb = stems_of(asked.verb)
        return is_knowing or any(verb & (stems := stems_of(label)) and stems <= verb for label in labels)

    def edges(self, nodes: Collection[str], relations: Sequence[str]) -> tuple[list[Triple], bool]:
        """Return the edges at some nodes, and whether these are all."""
        [frontier] = self.sources.graph.frontiers([sorted(nodes)])
        [offered] = self.sources.graph.steps([frontier], True)
        steps = [step for step in offered if step.relation in relations]
        rows = self.sources.graph.triples([frontier] * len(steps), steps, _MOST)
        found = dict.fromkeys(one for row in rows for one in row if not isinstance(one.object, Literal))
        return list(found), all(len(row) < _MOST for row in rows)

    def neighbours(self, node: str, relations: Sequence[str]) -> tuple[dict[str, list[Triple]], bool]:
        """Return what is next to a node, each with the edges that lead there, and whether this is all."""
        edges, is_whole = self.edges([node], relations)
        found: dict[str, list[Triple]] = {}
        for one in edges:
            found.setdefault(one.object if one.subject == node else one.subject, []).append(one)
        found.pop(node, None)  # a loop is no neighbour
        return found, is_whole

    def way(self, start: str, end: str) -> tuple[list[Triple] | None, bool]:
        """Return the edges of a shortest way between two nodes, and whether all ways were looked at."""
        relations = self.relations([start, end])
        before: dict[str, Triple | None] = {start: None}
        level = [start]
        for _ in range(_WAY):
            edges, is_whole = self.edges(level, relations)
            level = []
            for one in sorted(edges):
                for near, far in ((one.subject, one.object), (one.object, one.subject)):
                    if near in before and far not in before and far not in level:
                        before[far] = one
                        level.append(far)
            if end in before:
                return _back(before, end), True
            if not level or not is_whole:
                return None, is_whole
        return None, False

    def kept(self, case: Case, asked: Asked, nodes: Sequence[str]) -> tuple[list[str], str]:
        """Return the nodes of the class that a question names, and why these are doubtful, if they are."""
        phrases = list(PEOPLE) if asked.noun in PEOPLE else [asked.noun] if asked.noun else []
        types = self.types()
        names = attrs.evolve(self.sources.operations.names, schema=Schema(type_relations=tuple(types)))
        [fit] = of_class(case.operated.reads, names, [phrases], [nodes]) if phrases else [frozenset(nodes)]
        [frontier] = self.sources.graph.frontiers([nodes])
        rows = self.sources.graph.triples([frontier] * len(types), [Step(one) for one in types], 1)
        typed = {triple.subject for row in rows for triple in row}
        # Where nothing has a class, who is any of them; the rows of the only table are what it is called.
        tables = self.sources.operations.schema.tables
        is_any = not typed and (asked.noun in PEOPLE or [asked.noun] == [singular(spaced(one)) for one in tables])
        is_told = not phrases or is_any or (bool(fit) and typed >= {*nodes})
        doubt = "" if is_told else _NO_CLASS.format(noun=phrases[0])
        return [one for one in nodes if one in fit] or list(nodes), doubt


def _neighbours(network: _Network, case: Case, asked: Asked, ends: Sequence[str]) -> Draft:
    """Answer with the neighbours of a thing, or with those that two things share, or count them."""
    relations = network.relations(ends)
    read = [network.neighbours(one, relations) for one in ends]
    nodes = [one for one in sorted(read[0][0]) if all(one in found for found, _ in read) and one not in ends]
    if not nodes and not asked.counted:
        return Draft(case.kind, missing=_ALONE)
    kept, doubt = network.kept(case, asked, nodes) if nodes else ([], "")
    ways = [(end, found[one]) for end, (found, _) in zip(ends, read, strict=True) for one in kept]
    proof = [pair for end, edges in ways for pair in _shown(end, edges)]
    return Draft(
        "count" if asked.counted else case.kind,
        tuple(kept),
        proof=proof,
        complete=all(is_whole for _, is_whole in read),
        number=len(kept) if asked.counted else None,
        likened=bool(doubt) or not network.is_one(ends),
        notice=doubt,
    )


def _of_degree(network: _Network, case: Case, asked: Asked) -> Draft:
    """Answer with the things that have the most neighbours, or the fewest of those that have any."""
    relations = network.relations()
    rows = network.sources.graph.match([Pattern(None, one, None) for one in relations])
    near: dict[str, dict[str, Triple]] = {}
    for one in (one for row in rows for one in row if not isinstance(one.object, Literal)):
        if one.subject != one.object:
            near.setdefault(one.subject, {}).setdefault(one.object, one)
            near.setdefault(one.object, {}).setdefault(one.subject, one)
    if not near:
        return Draft(case.kind, missing=_ALONE)
    kept, doubt = network.kept(case, asked, sorted(near))
    order = sorted((len(near[one]) for one in kept), reverse=asked.greatest)
    last = order[: case.operated.kind.places][-1]
    first = [one for one in kept if (len(near[one]) >= last if asked.greatest else len(near[one]) <= last)]
    first.sort(key=lambda one: (-len(near[one]) if asked.greatest else len(near[one]), one))
    return Draft(
        case.kind,
        tuple(first),
        proof=[pair for one in first for pair in _shown(one, near[one].values())],
        complete=True,
        relation=relations[0] if len(relations) == 1 else None,
        counts=[len(near[one]) for one in first],
        likened=bool(doubt) or not asked.greatest,  # what has no connection is not read
        notice=doubt,
    )


def _joined(network: _Network, case: Case, asked: Asked, ends: Sequence[str]) -> Draft:
    """Answer whether two things are joined; over others they are not joined directly."""
    way, is_whole = network.way(*ends)
    if way is None:
        return Draft(case.kind, missing=_FAR.format(most=_WAY)) if not is_whole else Draft(case.kind, truth=False)
    is_direct = len(way) == 1
    proof = [(one, None) for one in way]
    notice = "" if is_direct else _NOT_DIRECT
    return Draft(
        case.kind,
        truth=is_direct,
        proof=proof,
        complete=True,
        likened=not (is_direct or asked.direct),
        notice=notice,
    )


def _between(network: _Network, case: Case, ends: Sequence[str]) -> Draft | None:
    """Answer how two things are related: by the edges that join them, else with what is on a shortest way.

    On a server no way is looked for.
    """
    direct, _ = network.neighbours(ends[0], network.relations(ends))
    if edges := direct.get(ends[1]):
        return _described(network, case, edges)
    if not network.lists_relations(ends):
        return None
    way, is_whole = network.way(*ends)
    if way is None:
        return Draft(case.kind, missing=_NO_WAY if is_whole else _FAR.format(most=_WAY))
    nodes = dict.fromkeys(_along(ends[0], way))
    proof = [(one, None) for one in way]
    return Draft(case.kind, tuple(nodes), proof=proof, notice=_NOT_DIRECT)


def _described(network: _Network, case: Case, edges: Sequence[Triple]) -> Draft:
    """Answer with the descriptions of edges, or with the names of their relations."""
    labels = [network.sources.likeness.label(one.relation) for one in edges]
    told = [
        value.lexical if isinstance(value, Literal) else value
        for row in network.sources.graph.qualifiers(edges)
        for name, value in row
        if name == _DESCRIPTION
    ]
    named = dict.fromkeys(label for label, one in zip(labels, edges, strict=True) if one.relation != EDGE)
    notice = _OF_EDGES.format(names=", ".join(named)) if told and named else "" if told or named else _UNNAMED
    answers = dict.fromkeys(Literal.make(text) for text in told or named or [_DIRECTLY])
    return Draft(case.kind, tuple(answers), proof=[(one, None) for one in edges], complete=True, notice=notice)


def _along(start: str, way: Iterable[Triple]) -> list[str]:
    """Return the nodes between the ends of a way, in its order."""
    nodes, at = [], start
    for one in way:
        at = one.object if one.subject == at else one.subject
        nodes.append(at)
    return nodes[:-1]


def _back(before: dict[str, Triple | None], end: str) -> list[Triple]:
    """Return the edges that lead to a node, from the start on."""
    way: list[Triple] = []
    at = end
    while (one := before[at]) is not None:
        way.append(one)
        at = one.object if one.subject == at else one.subject
    return way[::-1]


def _shown(node: str, edges: Iterable[Triple]) -> list[tuple[Triple, RankedPath | None]]:
    """Return edges at a node, each with its step from there."""
    return [(one, RankedPath(node, (Step(one.relation, one.subject != node),), 0.0)) for one in edges]
