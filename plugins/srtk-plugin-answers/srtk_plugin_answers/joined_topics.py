"""Nodes between two topics of a question, and nodes of one topic that another does not reach."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import attrs

from srtk_framework.graph import instances, path_order
from srtk_framework.roles import KnowledgeGraph
from srtk_framework.text import fold, link_topics, spaced
from srtk_framework.values import Budget, Frontier, Literal, Path, Pattern, Question, RankedPath, Step, Subgraph, Triple
from srtk_plugin_answers.directions import is_first_subject
from srtk_plugin_answers.literal_values import truth_of
from srtk_plugin_answers.node_sets import PATHS, SETS, Lead, NodeSet, Row, margin, whole_set
from srtk_plugin_answers.path_reads import both_ways
from srtk_plugin_answers.path_scores import PathScores
from srtk_plugin_answers.question_classes import STOP_WORDS, name_of, stems_of, without_names, words_of

# Distance of scores from which on another relation is meant; wrong relations were 2 and more away.
_CLEAR = 1.0
_EXCLUDES = re.compile(r"\b(?:not|never|without|except|excluding)\b|n['’]t\b", re.IGNORECASE)
_JOIN = 2
"""Maximum number of steps from one link over the set to another."""


@attrs.frozen(eq=False)
class JoinedTopics:
    """Read the paths between the topics of a question, with at most ``members`` instances of a path.

    ``tables`` are the relations of each table that the graph was made of, ``symmetric`` those without direction.
    """

    graph: KnowledgeGraph
    scores: PathScores
    members: int
    tables: Mapping[str, Sequence[str]] = attrs.field(factory=dict)
    symmetric: Collection[str] = ()

    def joining(self, question: Question) -> Lead:
        """Return the triples that join two of the links."""
        joined = triples_between(self.graph, question)
        return Lead(
            [[(triple, None)] for triple in joined],
            {"members": len(joined), "complete": True} if joined else {},
            proof=[(triple, None) for triple in joined],
        )

    def confirmed(self, question: Question, text: str) -> Lead:
        """Find whether a question's links are joined by the relation that it asks about.

        It is the relation of single steps from the links that the scorer prefers; a relation that joins them means
        *yes* if no other stands clearly above it.

        Returns:
            The triples that join the links, with the links as ``answers``. Without answers, the triples of the
            preferred relation at the links. No facts where fewer than two entities are linked, or no relation starts
            from them.
        """
        entities = list(dict.fromkeys(link.entity for link in question.links))
        if len(entities) < 2:
            return Lead()
        topics = self.graph.frontiers([[entity] for entity in entities])
        offered = [self.scores.without_noise(row) for row in self.graph.steps(topics, True)]
        steps = sorted({step for row in offered for step in row})
        if not steps:
            return Lead()
        score = dict(zip(steps, self.scores.of([(step,) for step in steps], text), strict=True))
        best = min(steps, key=lambda step: (-score[step], str(step)))
        near = {step.relation for step in steps if score[step] >= score[best] - _CLEAR}
        joined = triples_between(self.graph, question)
        if told := self._called(question, {best.relation, *(triple.relation for triple in joined)}):
            # Of *directed by* and *starring* the question has a word of one, however alike they are.
            near = told
        proof: Row = [(triple, None) for triple in joined if triple.relation in near]
        if proof and not (right_way := [pair for pair in proof if self._is_told(question, entities, pair[0])]):
            return Lead(
                facts={"complete": True, "likened": True}, proof=proof, score=score[best]
            )  # the other way round
        proof = right_way if proof else proof
        if joined and not proof and self._has_values(topics, offered, best):
            # A relation with numbers joins nothing: of *continent* and *lifespan* the first is meant by *lives in*.
            return Lead(
                facts={"complete": True, "likened": True}, answers=entities, proof=[(one, None) for one in joined]
            )
        if not joined and (lead := self._truth_of_row(question, entities)) is not None:
            return lead
        if proof := proof or self._over_row(question, text, best.relation):
            columns = {triple.relation for triple, _ in proof}
            # Who sent it and who received it may be in both columns.
            is_open = any(len({step.relation for step in row if step.inverse} & columns) > 1 for row in offered)
            likened = {} if joined or (self._tells_row(question, proof) and not is_open) else {"likened": True}
            return Lead(facts={"complete": True, **likened}, answers=entities, proof=proof, score=score[best])
        others = [one for step, one in score.items() if step.relation != best.relation]
        at = [place for place, row in enumerate(offered) if best in row]
        rows = self.graph.triples([topics[place] for place in at], [best] * len(at), self.members)
        likened = {"likened": True} if self._leads_on(entities, best.relation) else {}
        paths = [RankedPath(entities[place], (best,), score[best]) for place in at]
        return Lead(
            facts={"complete": all(len(row) < self.members for row in rows), **likened},
            proof=[(triple, path) for path, row in zip(paths, rows, strict=True) for triple in row],
            score=score[best],
            margin=score[best] - max(others) if others else math.inf,
        )

    def _called(self, question: Question, relations: Collection[str]) -> set[str]:
        """Return the relations that a question has a word of, outside of its mentions."""
        stems = stems_of(without_names(question))
        names = sorted(relations)
        return {one for one, label in zip(names, self.graph.labels(names), strict=True) if stems & stems_of(label)}

    def _is_told(self, question: Question, entities: Sequence[str], triple: Triple) -> bool:
        """Return whether a triple that joins two links has the direction that the question tells, if it does."""
        if len(entities) != 2 or triple.relation in self.symmetric:
            return True
        is_first = is_first_subject(without_names(question), self.graph.labels([triple.relation])[0])
        first = _as_mentioned(question, self._names(question))[0]
        return is_first is None or (triple.subject == first) == is_first

    def _leads_on(self, entities: Sequence[str], relation: str) -> bool:
        """Return whether a relation and another one behind it join two links: he lives in Oslo and in Norway."""
        if len(entities) != 2:
            return False
        first, last = [[one] for one in entities], [[one] for one in reversed(entities)]
        found = self.graph.paths(first, last, _JOIN, Budget(nodes=self.members, hub=self.members), False, True)
        return any(path[0] == Step(relation) and not path[-1].inverse for row in found for path in row if len(path) > 1)

    def _has_values(self, topics: Sequence[Frontier], offered: Sequence[Sequence[Step]], step: Step) -> bool:
        """Return whether a step leads from topics to numbers, dates and texts alone."""
        at = [topic for topic, row in zip(topics, offered, strict=True) if step in row]
        rows = self.graph.triples(at, [step] * len(at), self.members)
        return not step.inverse and all(isinstance(triple.object, Literal) for row in rows for triple in row)

    def _over_row(self, question: Question, text: str, relation: str) -> Row:
        """Return the triples that join links over a row of a table: a loan joins a borrower to a book.

        The relation is of the path, or the table is called as a verb of the question: who *ordered* in *orders*.
        """
        paths, _ = self._joining_paths(question, text)
        path = next(
            (path for path in paths if _is_over_row(path) and any(s.relation == relation for s in path.steps)), None
        )
        named = {name for name in self.tables if stems_of(text) & stems_of(spaced(name))} if path is None else set()
        path = path or next((path for path in paths if _is_over_row(path) and named), None)
        if path is None:
            return ()
        entities = {link.entity for link in question.links}
        [some] = instances(self.graph, [path], [{}], Budget(triples=self.members, hub=self.members), [{}])
        between = rows_between(self.graph, question, self.tables)
        rows = [one for one in some if one.end in entities and (not self.tables or one.triples[0].subject in between)]
        if not all(self._is_row(one.triples[0].subject, path, named) for one in rows):
            return ()
        return [(triple, path) for one in rows for triple in one.triples]

    def _truth_of_row(self, question: Question, entities: Sequence[str]) -> Lead | None:
        """Return what a column of yes and no that the question names says of the rows that join its links: *paid*.

        None where there are no such rows, or they do not say the same.
        """
        rows = rows_between(self.graph, question, self.tables)
        columns = self._called(question, {one for row in self.tables.values() for one in row}) if rows else set()
        found = self.graph.match([Pattern(row, one, None) for row in rows for one in sorted(columns)])
        shown = [triple for row in found for triple in row if truth_of(triple.object) is not None]
        truths = {truth_of(triple.object) for triple in shown}
        if len(truths) != 1:
            return None
        proof = [(triple, None) for triple in [*shown, *(one for row in rows.values() for one in row)]]
        return Lead(facts={"complete": True}, answers=entities if truths == {True} else (), proof=proof)

    def _tells_row(self, question: Question, proof: Row) -> bool:
        """Return whether a question has a word of the columns or of the table of a row: who *bought*, a *buyer*."""
        text = without_names(question)
        relations = {triple.relation for triple, _ in proof}
        tables = [spaced(name) for name, columns in self.tables.items() if relations & {*columns}]
        told = " ".join([*self.graph.labels(sorted(relations)), *tables])
        asked = words_of(text) - STOP_WORDS
        return bool(stems_of(text) & stems_of(told)) or any(
            word.startswith(one) for word in words_of(told) for one in asked
        )

    def _is_row(self, node: str, path: RankedPath, named: set[str]) -> bool:
        """Return whether a node is a row of one of some tables, or of any, whose cells a path joins."""
        relations = {step.relation for step in path.steps}
        if not named and any(relations <= set(columns) for columns in self.tables.values()):
            return True
        # Of several tables each row's id begins with its table's name.
        return len(self.tables) > 1 and node.partition(":")[0] in (named or self.tables)

    def excluding(self, question: Question, sets: Sequence[NodeSet], text: str) -> Lead:
        """Return the whole set between two links, the part that is not joined to the excluded one first."""
        paths, last = self._joining_paths(question, text, _excluded(question))
        for path in paths:
            whole, joining = self._parted(path, last, question)
            only = [member for member in whole.instances if member not in joining]
            if only and joining:
                rows = [whole.chain(member, None) for member in only] + _joined(whole, joining, path)
                facts = {"without": _join(path, last), "left": len(only), "complete": not whole.cut}
                return _lead_of(whole, rows, facts, only, list(whole.instances), path)
        return whole_set(sets)

    def intersecting(self, question: Question, found: Subgraph, text: str) -> Lead:
        """Return the nodes between two topics on the best paths that the inner expander found."""
        if len(set(link_topics(question.links).values())) < 2:
            return Lead()
        paths, last = self._joining_paths(question, text)
        known = {(path.entity, path.steps) for path in found.paths}
        leads: list[Lead] = []
        for path in paths:
            if (path.entity, path.steps) not in known and (last, _reversed(path.steps)) not in known:
                continue
            whole, joining = self._parted(path, last, question)
            # What limits left out may be asked for.
            if joining and not whole.cut and len(leads) < SETS:
                rows = _joined(whole, joining, path)
                facts = {"with": _join(path, last), "left": len(rows), "complete": True}
                joined = [member for member in whole.instances if member in joining]
                leads.append(_lead_of(whole, rows, facts, joined, joined, path))
        if not leads:
            return Lead()
        first, *others = leads
        asked = [lead.rows[0] for lead in others]
        return attrs.evolve(first, others=asked, before=len(first.rows), margin=margin(first, others))

    def _joining_paths(self, question: Question, text: str, end: str | None = None) -> tuple[list[RankedPath], str]:
        """Return the best paths over a node from the other topics to a link, by default the last one, and that link."""
        linked = _as_mentioned(question, self._names(question))
        topics = link_topics(question.links)
        last = end or (linked[-1] if linked else "")
        starts = [one for one in linked if topics[one] != topics[last]]
        limits = Budget(nodes=self.members, hub=self.members)
        found = self.graph.paths([[one] for one in starts], [[last]] * len(starts), _JOIN, limits, False, True)
        paths = [
            (start, path)
            for start, row in zip(starts, found, strict=True)
            for path in row
            if len(path) > 1 and len(self.scores.without_noise(path)) == len(path)
        ]
        scores = self.scores.of([path for _, path in paths], text)
        ranked = [RankedPath(start, path, score) for (start, path), score in zip(paths, scores, strict=True)]
        return sorted(ranked, key=path_order)[:PATHS], last

    def _parted(self, path: RankedPath, last: str, question: Question) -> tuple[NodeSet, dict[str, Triple]]:
        """Return the ends of a path without its last step, and the triples of that step to a node."""
        begun = attrs.evolve(path, steps=path.steps[:-1])
        cut: dict[str, int] = {}
        limits = Budget(triples=self.members + 1, hub=self.members, nodes=self.members)
        ways = both_ways(begun, self.symmetric)
        read = instances(self.graph, ways, [{}] * len(ways), limits, [cut] * len(ways))
        some = [one for row in read for one in row]
        links = {link.entity for link in question.links}
        whole = NodeSet.at_ends(begun, some[: self.members], links, sum(cut.values()) + (len(some) > self.members))
        steps = [way.steps[0] for way in both_ways(attrs.evolve(path, steps=path.steps[-1:]), self.symmetric)]
        members, nodes = self.graph.frontiers([sorted(whole.instances), [last]])
        joining: dict[str, Triple] = {}
        for step, row in zip(steps, self.graph.triples([members] * len(steps), steps, None), strict=True):
            for triple in row:
                member, end = (triple.object, triple.subject) if step.inverse else (triple.subject, triple.object)
                if end in nodes.ids():
                    joining.setdefault(member, triple)
        return whole, joining

    def _names(self, question: Question) -> dict[str, str]:
        entities = list(dict.fromkeys(link.entity for link in question.links))
        return dict(zip(entities, self.graph.labels(entities), strict=True))


def _is_over_row(path: RankedPath) -> bool:
    """Return whether a path joins two cells of one row."""
    relations = {step.relation for step in path.steps}
    return [step.inverse for step in path.steps] == [True, False] and len(relations) > 1


def triples_between(graph: KnowledgeGraph, question: Question) -> list[Triple]:
    """Return the triples that join two of a question's links."""
    links = list(dict.fromkeys(link.entity for link in question.links))
    # Either link may be the subject.
    patterns = [Pattern(one, None, other) for one in links for other in links if one != other]
    return [triple for row in graph.match(patterns) for triple in row] if patterns else []


def rows_between(
    graph: KnowledgeGraph, question: Question, tables: Mapping[str, Sequence[str]]
) -> dict[str, list[Triple]]:
    """Return the rows of tables that all links of a question are cells of, if it has two or more, with these cells.

    A link behind a preposition that is the name of a column is a cell of that column: *from* Oslo *to* Rome.
    """
    links = list(dict.fromkeys(link.entity for link in question.links))
    columns = sorted({one for row in tables.values() for one in row})
    if len(links) < 2 or not columns:
        return {}
    several = tables if len(tables) > 1 else ()
    by_name = {name_of(label): one for one, label in zip(columns, graph.labels(columns), strict=True)}
    by_name = {name: one for name, one in by_name.items() if name in STOP_WORDS}
    before = {
        link.entity: by_name.get(fold(question.text[: link.start]).split()[-1]) for link in question.links if link.start
    }
    cells = [
        # Of several tables each row's id begins with its table's name.
        {
            one.subject: one
            for one in row
            if one.relation == (before.get(link) or one.relation)
            and (one.relation in columns or one.subject.partition(":")[0] in several)
        }
        for link, row in zip(links, graph.match([Pattern(None, None, link) for link in links]), strict=True)
    ]
    return {row: [some[row] for some in cells] for row in cells[0] if all(row in some for some in cells)}


def _lead_of(
    whole: NodeSet,
    rows: Sequence[Row],
    facts: Mapping[str, Any],
    answers: Sequence[str],
    members: Sequence[str],
    path: RankedPath,
) -> Lead:
    """Return a lead of the members of a set that are joined to a topic by a path, or are not."""
    proof = [pair for row in rows for pair in row]
    return Lead(
        rows,
        {**whole.facts(), **facts},
        nodes=answers,
        answers=answers,
        path=whole.path,
        members=members,
        proof=proof,
        score=path.score,
    )


def _joined(one: NodeSet, joining: Mapping[str, Triple], path: RankedPath) -> list[Row]:
    """Return the triples of each member that a path's last step leads on from, with that step."""
    return [[*one.chain(member), (joining[member], path)] for member in one.instances if member in joining]


def _reversed(steps: Path) -> Path:
    return tuple(Step(step.relation, not step.inverse) for step in reversed(steps))


def _join(path: RankedPath, entity: str) -> dict[str, str]:
    return {"step": str(path.steps[-1]), "entity": entity}


def _excluded(question: Question) -> str | None:
    """Return the first link behind a word that excludes; None where such a word or the links' places are not known."""
    found = _EXCLUDES.search(question.text)
    behind = [link for link in question.links if found and link.start is not None and link.start >= found.end()]
    return min(behind, key=lambda link: link.start or 0).entity if behind else None


def _as_mentioned(question: Question, labels: Mapping[str, str]) -> list[str]:
    """Return the linked entities in the order of their mentions; those without a place in the text keep their order."""
    text = question.text.casefold()
    places: dict[str, int] = {}
    for link in question.links:
        name = (link.name or labels.get(link.entity, "")).casefold()
        place = link.start if link.start is not None else text.find(name) if name else -1
        places.setdefault(link.entity, place)
    return sorted(places, key=lambda entity: places[entity])
