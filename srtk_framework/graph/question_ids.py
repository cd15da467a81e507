"""One spelling of ids: a question's links and gold in the spelling of a graph, or of a result."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

import attrs

from srtk_framework.text.id_spellings import by_iri, iri_of
from srtk_framework.values import END, NIL, GraphLike, Link, Literal, Path, Pattern, Question, Retrieval, Step, Triple

_VALUE = re.compile(r"[-+]?[0-9][0-9.,:TZ+-]*%?|yes|no|true|false", re.IGNORECASE)
"""Gold answers that are values rather than ids: numbers, dates, and yes or no."""

Spell = Callable[[str], str]


def with_own_ids(graph: GraphLike, questions: Sequence[Question]) -> list[Question]:
    """Return questions whose links and gold have the graph's own ids (``KnowledgeGraph.own_ids``).

    Answers, gold triples and candidates that become equal are kept once. An unchanged question is
    returned itself.
    """
    entities = sorted({id_ for question in questions for id_ in entities_of(question)})
    relations = sorted({id_ for question in questions for id_ in _relations_of(question)})
    own = _changed(entities, graph.own_ids(entities, False)) if entities else {}
    own_relations = _changed(relations, graph.own_ids(relations, True)) if relations else {}
    return [_respelled(question, own, own_relations) for question in questions]


def with_ids_of_result(retrieval: Retrieval) -> Retrieval:
    """Return a retrieval whose question has the ids of its triples and answer, where only the spelling differs.

    Ids are compared by their IRIs (``text.iri_of``), so that results of other programs, and gold for which there is no
    graph to ask, are compared too.
    """
    triples = retrieval.subgraph.triples
    nodes = dict.fromkeys(end for triple in triples for end in (triple.subject, triple.object))
    if retrieval.answer is not None:
        nodes |= dict.fromkeys(retrieval.answer.entities)
    question = with_ids_among(retrieval.question, nodes, {triple.relation: None for triple in triples})
    return retrieval if question is retrieval.question else attrs.evolve(retrieval, question=question)


def with_ids_among(question: Question, nodes: Iterable[str], relations: Iterable[str] = ()) -> Question:
    """Return a question whose links and gold have the given ids, where only the spelling differs."""
    own = _among(entities_of(question), dict.fromkeys(nodes), False)
    own_relations = _among(_relations_of(question), dict.fromkeys(relations), True)
    return _respelled(question, own, own_relations)


def _among(ids: Iterable[str], known: Mapping[str, None], relation: bool) -> dict[str, str]:
    lacking = {id_: iri for id_ in ids if id_ not in known and (iri := iri_of(id_, None, relation)) is not None}
    if not lacking:
        return {}
    places = by_iri(known, relation)
    first: dict[str, str] = {}
    for id_, iri in sorted(lacking.items()):
        # Two spellings of what the result lacks are one id too.
        first.setdefault(iri, places.get(iri, id_))
    return {id_: first[iri] for id_, iri in lacking.items() if first[iri] != id_}


def is_value(answer: str) -> bool:
    """Return whether a gold answer is a literal, a number, a date or yes or no, which no graph has as an id."""
    return isinstance(answer, Literal) or _VALUE.fullmatch(answer) is not None


def entities_of(question: Question) -> set[str]:
    """Return the ids of entities in a question's links and gold."""
    ends = [end for triple in question.gold_triples or () for end in (triple.subject, triple.object)]
    if question.pattern is not None:
        ends += [end for end in (question.pattern.subject, question.pattern.object) if end is not None]
    links = (*question.links, *(question.gold_links or ()))
    found = {*ends, *(question.answers or ()), *question.candidates, *question.options, *(one.entity for one in links)}
    return {id_ for id_ in found if id_ != NIL and not isinstance(id_, Literal)}


def _relations_of(question: Question) -> set[str]:
    found = {triple.relation for triple in question.gold_triples or ()}
    found |= {step.relation for path in question.gold_paths or () for step in path if step != END}
    return found | ({question.pattern.relation} if question.pattern and question.pattern.relation else set())


def _changed(ids: Sequence[str], own: Sequence[str]) -> dict[str, str]:
    return {id_: other for id_, other in zip(ids, own, strict=True) if other != id_}


def _respelled(question: Question, own: Mapping[str, str], own_relations: Mapping[str, str]) -> Question:
    if own.keys().isdisjoint(entities_of(question)) and own_relations.keys().isdisjoint(_relations_of(question)):
        return question

    def entity(id_: str) -> str:
        return id_ if isinstance(id_, Literal) else own.get(id_, id_)

    def relation(id_: str) -> str:
        return own_relations.get(id_, id_)

    triples, paths, answers = question.gold_triples, question.gold_paths, question.answers
    gold_links = question.gold_links
    return attrs.evolve(
        question,
        links=tuple(_link(link, entity) for link in question.links),
        answers=None if answers is None else tuple(dict.fromkeys(map(entity, answers))),
        gold_paths=None if paths is None else tuple(_path(path, relation) for path in paths),
        gold_triples=None
        if triples is None
        else tuple(dict.fromkeys(Triple(entity(s), relation(r), entity(o)) for s, r, o in triples)),
        gold_links=None if gold_links is None else tuple(_link(link, entity) for link in gold_links),
        options=tuple(map(entity, question.options)),
        pattern=_pattern(question.pattern, entity, relation),
        candidates=tuple(dict.fromkeys(map(entity, question.candidates))),
    )


def _link(link: Link, entity: Spell) -> Link:
    own = entity(link.entity)
    return link if own == link.entity else attrs.evolve(link, entity=own)


def _path(path: Path, relation: Spell) -> Path:
    return tuple(step if step == END else Step(relation(step.relation), step.inverse) for step in path)


def _pattern(pattern: Pattern | None, entity: Spell, relation: Spell) -> Pattern | None:
    if pattern is None:
        return None
    subject, name, object_ = pattern
    return Pattern(
        None if subject is None else entity(subject),
        None if name is None else relation(name),
        None if object_ is None else entity(object_),
    )
