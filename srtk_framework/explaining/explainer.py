"""Explanations of a session's questions: where each lost its answers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import attrs

from srtk_framework.evaluation.metrics import score
from srtk_framework.explaining.budget_probe import chooser, cut_of, limits_of, setting
from srtk_framework.explaining.earlier_run import Earlier
from srtk_framework.explaining.findings import (
    ABSENT,
    CUT,
    FAILED,
    FOUND,
    IS_LINK,
    NOT_LINKED,
    PRUNED,
    UNKNOWN_LINK,
    UNREACHABLE,
    Cut,
    Explanation,
    Loss,
    UnreachableAnswers,
    kind_of,
)
from srtk_framework.explaining.locate import Lead, Search, gold_topics, located, path_order, same_nodes
from srtk_framework.explaining.pruning import best_loss, follow
from srtk_framework.graph.path_instances import names_of
from srtk_framework.host.ports import driver_of
from srtk_framework.roles import Expander, KnowledgeGraph
from srtk_framework.run.session import Session
from srtk_framework.values import Question, RankedPath, Retrieval, RunError

_DEPTH = 3
"""Depth of the path search for expanders without a depth."""


class Explainer:
    """Explains the retrievals of one method of an open session.

    Args:
        session: An open session.
        method: Name of the expander; by default the main expander.

    Raises:
        RunError: If the recipe has no such expander, or no graph.
    """

    def __init__(self, session: Session, method: str | None = None) -> None:
        if not session.methods:
            raise RunError("the recipe has no expander; add one, such as `expander: {use: beam}`")
        if method is not None and method not in session.methods:
            raise RunError(f"the recipe has no method {method!r}; it has {', '.join(session.methods)}")
        if session.graph is None:
            raise RunError("the recipe has no knowledge_graph, which explanations look answers up in; add one")
        self.method = method or next(iter(session.methods))
        self.session = session
        self.expander: Expander = session.methods[self.method]
        self.graph: KnowledgeGraph = session.graph

    def explain_all(self, questions: Iterable[Question], earlier: Earlier | None = None) -> Iterator[Explanation]:
        """Yield an explanation of each question.

        Args:
            questions: Questions with gold answers.
            earlier: Run to take retrievals from; missing ones are retrieved now.
        """
        options = self.session.recipe.options
        iterator = iter(questions)
        while batch := list(islice(iterator, options.batch)):
            known = [earlier.of(question, options.relink) if earlier else None for question in batch]
            missing = [question for question, retrieval in zip(batch, known, strict=True) if retrieval is None]
            retrieved = iter(self.session.retrieve(missing, self.method, read=False) if missing else ())
            for question, retrieval in zip(batch, known, strict=True):
                yield self.explain(question, retrieval or next(retrieved))

    def explain(self, question: Question, retrieval: Retrieval) -> Explanation:
        """Explain one question.

        Args:
            question: The question as in the input, with its gold answers at least.
            retrieval: The method's retrieval, with the links that were used.
        """
        gold = {name: getattr(question, name) for name in ("answers", "gold_paths", "gold_triples")}
        retrieval = attrs.evolve(retrieval, question=attrs.evolve(retrieval.question, **gold))
        topics = gold_topics(question, self.session.recipe.options.relink)
        links = list(dict.fromkeys(link.entity for link in retrieval.question.links))
        answers = _found(retrieval)
        missing = [answer for answer, kind in answers.items() if kind != FOUND]
        nodes = same_nodes(self.graph, list(dict.fromkeys([*links, *topics])))
        reached = {node for link in links for node in (link, *nodes[link])}
        unlinked = tuple(topic for topic in topics if reached.isdisjoint((topic, *nodes[topic])))
        far: UnreachableAnswers | None = None
        loss: Loss | None = None
        cut: Cut | None = None
        whole = _whole(retrieval, missing, links, nodes, topics, unlinked)
        if whole:
            answers.update(dict.fromkeys(missing, whole))
        else:
            answers.update({answer: IS_LINK for answer in missing if answer in links})
            left = [answer for answer in missing if answer not in links]
            places = located(self.graph, left)
            answers.update({answer: ABSENT for answer in left if not places[answer]})
            search = self._search([link for link in links if nodes[link]])
            present = {answer: places[answer] for answer in left if places[answer]}
            leads, far = search.leads(present, retrieval.question.gold_paths or ()) if present else ([], None)
            led = {answer for lead in leads for answer in lead.answers}
            answers.update({answer: UNREACHABLE for answer in present if answer not in led})
            wanted = [answer for answer in present if answer in led]
            if wanted:
                kept, loss, cut = self._lost(retrieval, leads, wanted)
                answers.update({answer: CUT if answer in kept else PRUNED for answer in wanted})
        return self._labelled(
            Explanation(
                retrieval,
                kind_of(answers),
                float(score(retrieval)["answer_recall"] or 0.0),
                answers,
                topics,
                unlinked,
                far if UNREACHABLE in answers.values() else None,
                loss if PRUNED in answers.values() else None,
                cut if CUT in answers.values() else None,
            )
        )

    def _search(self, links: Sequence[str]) -> Search:
        depth, inverse = setting(self.expander, "depth"), setting(self.expander, "inverse")
        return Search(
            self.graph,
            links,
            depth if isinstance(depth, int) else _DEPTH,
            inverse if isinstance(inverse, bool) else True,
            limits_of(self.expander) or self.session.recipe.options.budget,
        )

    def _lost(
        self, retrieval: Retrieval, leads: Sequence[Lead], wanted: Collection[str]
    ) -> tuple[set[str], Loss | None, Cut | None]:
        """Return the answers on kept paths, the loss of the best other path, and the cut of the kept paths' facts."""
        search = chooser(self.expander)
        if search is None:
            cut = cut_of(self.graph, self.expander, retrieval, wanted)
            back = set(cut.places) if cut else set()
            other = [lead.path for lead in leads if not lead.answers <= back]
            return back, Loss(min(other, key=path_order)) if other else None, cut
        kept, losses = follow(
            search, retrieval.question.without_gold(), list(dict.fromkeys(lead.path for lead in leads))
        )
        on_kept = {answer for lead in leads if lead.path in kept for answer in lead.answers if answer in wanted}
        left = {lead.path.steps for lead in leads if not lead.answers <= on_kept}
        loss = best_loss([loss for loss in losses if loss.path.steps in left])
        if not on_kept:
            return on_kept, loss, None
        cut = cut_of(self.graph, self.expander, retrieval, on_kept)
        if search is not driver_of(self.expander):
            # The outer expander omitted what the inner search kept and no limit cut.
            back = set(cut.places) if cut else set()
            outer = [lead.path for lead in leads if lead.path in kept and not lead.answers <= back]
            on_kept, loss = back, Loss(min(outer, key=path_order)) if outer else loss
        first = [lead.path for lead in leads if lead.path in kept and not lead.answers.isdisjoint(on_kept)]
        return on_kept, loss, attrs.evolve(cut or Cut(), path=first[0]) if first else None

    def _labelled(self, one: Explanation) -> Explanation:
        paths: list[RankedPath | None] = [one.far.path if one.far else None, one.cut.path if one.cut else None]
        if one.loss:
            paths += [one.loss.path, *one.loss.winners]
        ids = {link.entity for link in one.question.links} | set(one.topics) | set(one.answers)
        for path in paths:
            if path is not None:
                ids |= {path.entity, *(step.relation for step in path.steps if step.relation)}
        ordered = sorted(ids)
        labels = dict(zip(ordered, self.graph.labels(ordered), strict=True)) if ordered else {}
        return attrs.evolve(one, labels={id_: label for id_, label in labels.items() if label != id_})


def _found(retrieval: Retrieval) -> dict[str, str]:
    """Classify the gold answers that evaluation counts as found; the others are FAILED until classified."""
    links = {link.entity for link in retrieval.question.links}
    nodes: set[str] = set()
    for triple in retrieval.subgraph.triples:
        nodes |= names_of(triple.subject) | names_of(triple.object)
    return {a: FOUND if a in nodes and a not in links else FAILED for a in retrieval.question.answers or ()}


def _whole(
    retrieval: Retrieval,
    missing: Sequence[str],
    links: Sequence[str],
    nodes: Mapping[str, Any],
    topics: Sequence[str],
    unlinked: Sequence[str],
) -> str:
    """Return the class that applies to all missing answers at once, or an empty string."""
    if not missing:
        return ""
    if not links or (topics and len(unlinked) == len(topics)):
        return NOT_LINKED
    if not any(nodes[link] for link in links):
        return UNKNOWN_LINK
    return FAILED if retrieval.error is not None else ""
