"""The ``paths`` reader: the answer from the best path or from the question's operation, with its proof."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import attrs
from srtk_plugin_local.dictionary.stop_words import is_foreign

from srtk_framework.roles import KnowledgeGraph, PathScorer, Reader
from srtk_framework.text import link_topics, words
from srtk_framework.values import (
    Alternative,
    Answer,
    Budget,
    Link,
    Literal,
    Pattern,
    Question,
    RankedPath,
    Subgraph,
    between,
    positive,
    rounded,
)
from srtk_plugin_answers.answer_handlers import draft_of
from srtk_plugin_answers.answer_sources import Sources
from srtk_plugin_answers.certainty import Evidence
from srtk_plugin_answers.choices import Choice, is_term, named_ends, other_names, place_of
from srtk_plugin_answers.drafts import Draft
from srtk_plugin_answers.literal_values import is_missing
from srtk_plugin_answers.operations import Operated, Operations
from srtk_plugin_answers.path_scores import is_clear, share_of
from srtk_plugin_answers.question_classes import name_of, without_names, words_of
from srtk_plugin_answers.question_kinds import is_yes_no, unnamed_text
from srtk_plugin_answers.question_rewrites import rewritten
from srtk_plugin_answers.relation_likeness import RelationLikeness
from srtk_plugin_answers.result_order import with_proof
from srtk_plugin_answers.shared_names import SharedNames
from srtk_plugin_answers.unlinked import UnlinkedSets

_NAMED = 10
"""Names that a text has; the others are counted."""
_NO_VALUE = "the graph has no value of that; it says {text!r}"
_FOREIGN = "the question is not in English, and its words were read as English ones"
_IMPROBABLE = "no answer is probable enough: {text!r} has {probability:.2f}, and {least:g} is asked for"


@attrs.define(eq=False)
class PathsReader(Reader):
    """Answer from the best path of a subgraph, or from the question's operation.

    Attributes:
        graph: Graph from which whole sets are read.
        scorer: Chooses the relation that decides.
        budget: Limits on the subgraph with further triples of the proof.
        members: Maximum number of instances of a path that are read.
        least: Least probability of an answer; a less probable answer is refused.
        scale: Difference of the scorer's numbers that is one natural-log unit, where the scorer suggests none; give the
            `search.scale` of the search. Null measures it.
    """

    graph: KnowledgeGraph
    scorer: PathScorer
    budget: Budget = attrs.field(factory=Budget)
    members: int = attrs.field(default=1000, validator=attrs.validators.ge(1))
    least: float = attrs.field(default=0.0, validator=between(0, 1))
    scale: float | None = attrs.field(default=None, validator=attrs.validators.optional(positive))
    _operations: Operations = attrs.field(init=False, repr=False)
    _likeness: RelationLikeness = attrs.field(init=False, repr=False)
    _sources: Sources = attrs.field(init=False, repr=False)

    def open(self) -> None:
        """Read the graph's schema."""
        self._operations = Operations(
            self.graph, self.scorer, self.budget, members=self.members, by_role=True, scale=self.scale
        )
        schema, names = self._operations.schema, self._operations.names
        known = frozenset(word for label in names.labels(schema.relations).values() for word in words_of(label))
        sets = UnlinkedSets(self.graph, schema, self._operations.values, SharedNames(self.graph, schema))
        self._likeness = RelationLikeness(names)
        self._sources = Sources(self.graph, self._operations, sets, self._likeness, known)

    def needs_links(self) -> bool:
        """Return False: a class, a value or words may name the answer without a link."""
        return False

    def refuses(self) -> bool:
        """Return True: a subgraph without a path's end is refused."""
        return True

    def read(self, questions: Sequence[Question], subgraphs: Sequence[Subgraph]) -> list[Answer]:
        """Answer each question by its operation, else by where the best path ends."""
        questions = [
            rewritten(one, self._likeness.is_name, self._sources.sets.is_number, self._is_called, self._has)
            for one in questions
        ]
        relations = {*self._operations.schema.relations}
        questions = [_without_vocabulary(one, relations) for one in questions]
        nodes = [sorted({end for t in s.triples for end in (t.subject, t.object)}) for s in subgraphs]
        every = sorted({node for row in nodes for node in row if not isinstance(node, Literal)})
        names = dict(zip(every, self.graph.labels(every), strict=True)) if every else {}
        linked, questions = questions, self._with_named_ends(questions, nodes, names)
        questions = [_without_vocabulary(one, relations) for one in questions]
        operated = self._operations.of(questions, subgraphs)
        drafts = [
            draft_of(self._sources, question, one, names) for question, one in zip(questions, operated, strict=True)
        ]
        ids = sorted({id_ for draft in drafts for id_ in draft.ids()} - names.keys())
        names.update(zip(ids, self.graph.labels(ids), strict=True) if ids else ())
        return [
            self._answer(question, question.links[len(before.links) :], draft, subgraph, names, one)
            for before, question, draft, subgraph, one in zip(
                linked, questions, drafts, subgraphs, operated, strict=True
            )
        ]

    def _is_called(self, text: str) -> bool:
        return bool(self.graph.find([text])[0]) or self._sources.sets.is_text([text])

    def _has(self, question: Question, name: str) -> bool:
        labels = self._operations.names.labels(self._operations.schema.relations)
        relations = [relation for relation, label in labels.items() if name_of(label) == name]
        return any(self.graph.match([Pattern(link.entity, one, None) for link in question.links for one in relations]))

    def _with_named_ends(
        self, questions: Sequence[Question], nodes: Sequence[Sequence[str]], names: Mapping[str, str]
    ) -> list[Question]:
        """Link further names of a question whose nodes are in the subgraph or next to a link.

        A search may do without such a link; as an end it is a condition and not an answer.
        """
        more = [
            _with_links(question, named_ends(question, row, names))
            for question, row in zip(questions, nodes, strict=True)
        ]
        return [_with_links(one, self._neighbours(one, names)) for one in more]

    def _neighbours(self, question: Question, names: Mapping[str, str]) -> list[Link]:
        """Link names outside of the links' mentions whose nodes are joined to a link."""
        runs = other_names(question, names) if question.links else []
        linked = list(dict.fromkeys(link.entity for link in question.links))
        found = {
            entity: run
            for run, row in zip(runs, self.graph.find(runs), strict=True)
            for entity in row
            if entity not in linked
        }
        patterns = [pair for one in found for at in linked for pair in (Pattern(at, None, one), Pattern(one, None, at))]
        joined = (
            {end for row in self.graph.match(patterns) for t in row for end in (t.subject, t.object)}
            if patterns
            else ()
        )
        return [
            Link(one, start=start, end=end, name=run)
            for one, run in found.items()
            if one in joined
            for start, end in [place_of(question.text, run)]
        ]

    def _evidence(self, question: Question, draft: Draft, one: Operated) -> Evidence:
        """Compare the relations and nodes of an answer's proof with the words and the links of its question."""
        topics = link_topics(question.links)
        nodes = {end for triple, _ in draft.proof for end in (triple.subject, triple.object)}
        met = {topic for entity, topic in topics.items() if entity in nodes}
        # Where nothing joins two links no link is the end of a proof, and of two that are compared another of the name
        # may have the value.
        unused = 0 if draft.truth is not None or draft.kind == "comparison" else len(set(topics.values()) - met)
        relations = {triple.relation for triple, _ in draft.proof}
        path = draft.path
        return Evidence(
            margin=draft.margin,
            share=0.5 if path is None else share_of(path, one.found.paths),
            first=path is not None and is_clear(path, one.found.paths, 0.0),
            named=self._likeness.names_in(question, relations),
            unused=unused,
            operated=draft.operated,
            classed=bool(one.fit or one.roles or one.named),
            likened=draft.likened,
        )

    def _answer(
        self,
        question: Question,
        added: Sequence[Link],
        draft: Draft,
        subgraph: Subgraph,
        names: Mapping[str, str],
        one: Operated,
    ) -> Answer:
        """Write an answer in words, with its proof in the subgraph."""
        trace: dict[str, Any] = {}
        if added:
            trace["links"] = [{"entity": link.entity, "name": link.name} for link in added]
        foreign = [_FOREIGN] if _is_foreign(question) else []
        if notices := [*foreign, *([draft.notice] if draft.notice else [])]:
            trace["notice"] = "; ".join(notices)
        if choice := draft.choice():
            trace["choice"] = choice
        if draft.missing:
            pass
        elif draft.entities and draft.truth is None and all(is_missing(names.get(one, one)) for one in draft.entities):
            draft = Draft(draft.kind, missing=_NO_VALUE.format(text=_listed(draft.entities, names)))
        if draft.missing:
            missing = "; ".join([draft.missing, *foreign])
            return Answer(enough=False, missing=missing, trace=trace, operation=draft.kind)
        proof = dict.fromkeys(triple for triple, _ in draft.proof)
        changed = subgraph
        if not proof.keys() <= set(subgraph.triples):
            changed = with_proof(self.graph, subgraph, draft.proof, self.budget)
        place = {triple: i for i, triple in enumerate(changed.triples)}
        evidence = self._evidence(question, draft, one)
        trace["probability"] = rounded(evidence.probability)
        if evidence.probability < self.least:
            missing = _IMPROBABLE.format(text=_text(draft, names), probability=evidence.probability, least=self.least)
            return Answer(enough=False, missing=missing, trace=trace, operation=draft.kind)
        return Answer(
            text=_text(draft, names),
            entities=draft.entities,
            support=tuple(sorted(place[triple] for triple in proof if triple in place)),
            operation=draft.kind,
            number=draft.number,
            unit=draft.unit,
            truth=draft.truth,
            # Of a path that may not be the one that is asked for, nothing is said to be complete.
            complete=None if draft.complete and not evidence.is_complete else draft.complete,
            certainty=evidence.certainty,
            alternatives=tuple(_alternative(choice, names, changed.paths) for choice in draft.others),
            subgraph=None if changed is subgraph else changed,
            trace=trace,
        )


def _is_foreign(question: Question) -> bool:
    """Return whether a question is visibly in another language than English, outside of its links' mentions."""
    text = without_names(question).lower()
    return is_foreign(text[start:end] for start, end in words(text))


def _without_vocabulary(question: Question, relations: Collection[str]) -> Question:
    """Return a question without the links to relations and to terms of RDF, OWL and SKOS, where it has others.

    An ontology has its relations as nodes: *what is played by X* names one. Of *is X a class* the class is meant.
    """
    kept = tuple(link for link in question.links if link.entity not in relations and not is_term(link.entity))
    is_asked = not kept or is_yes_no(unnamed_text(question))
    return question if is_asked or len(kept) == len(question.links) else attrs.evolve(question, links=kept)


def _with_links(question: Question, more: Sequence[Link]) -> Question:
    return attrs.evolve(question, links=(*question.links, *more)) if more else question


def _text(draft: Draft, names: Mapping[str, str]) -> str:
    if draft.truth is not None:
        return "Yes" if draft.truth else "No"
    if draft.number is not None:
        return f"{draft.number:.4f}".rstrip("0").rstrip(".")
    return _listed(draft.entities, names)


def _alternative(choice: Choice, names: Mapping[str, str], paths: Sequence[RankedPath]) -> Alternative:
    at = next((i for i, path in enumerate(paths) if path == choice.path), -1)
    return Alternative(_listed(choice.ends, names), tuple(choice.ends), at)


def _listed(ids: Iterable[str], names: Mapping[str, str]) -> str:
    texts = list(dict.fromkeys(one.lexical if isinstance(one, Literal) else names.get(one, one) for one in ids))
    if len(texts) > _NAMED:
        return f"{', '.join(texts[:_NAMED])} and {len(texts) - _NAMED} more"
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)
