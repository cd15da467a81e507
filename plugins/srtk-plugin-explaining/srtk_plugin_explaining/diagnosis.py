"""Diagnosis of one retrieval: the stage at which it lost its answers, and the evidence."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import attrs
from srtk_plugin_evaluation.metrics import score

from srtk_framework.graph import names_of
from srtk_framework.host import driver_of
from srtk_framework.roles import Expander, Explainable
from srtk_framework.run import Session
from srtk_framework.values import Question, RankedPath, Retrieval
from srtk_plugin_explaining import findings
from srtk_plugin_explaining.budget_probe import blocked_by, cut_of
from srtk_plugin_explaining.findings import Cut, Explanation, Loss, UnreachableAnswers, kind_of
from srtk_plugin_explaining.locate import (
    Lead,
    Search,
    gold_paths,
    gold_topics,
    located,
    path_order,
    same_nodes,
)
from srtk_plugin_explaining.pruning import best_loss, follow
from srtk_plugin_explaining.variants import Place, Variant, budget_keys, chooser, limits_of, setting, varied

_DEPTH = 3  # Depth of the path search for expanders without a depth.


@attrs.frozen
class _Linking:
    """The links of a question and its gold topics."""

    links: Sequence[str]  # Entities of the links, each once.
    topics: tuple[str, ...]  # The gold topics.
    nodes: Mapping[str, set[str]]  # Link or topic to the graph's own ids of that node.

    @property
    def unlinked(self) -> tuple[str, ...]:
        """The gold topics that are not linked."""
        reached = {node for link in self.links for node in (link, *self.nodes[link])}
        return tuple(topic for topic in self.topics if reached.isdisjoint((topic, *self.nodes[topic])))

    def failure(self) -> str:
        """Return the class of the answers to a question that no search can start from; else an empty text."""
        if not self.links or (self.topics and len(self.unlinked) == len(self.topics)):
            return findings.NOT_LINKED
        return "" if any(self.nodes[link] for link in self.links) else findings.UNKNOWN_LINK


@attrs.frozen
class Diagnosis:
    """Diagnosis of the retrievals of one expander, as it is in the session or with other settings.

    Attributes:
        session: The open session.
        place: Place of the expander in the recipe.
        variant: The expander, behind its port, and its graph.
    """

    session: Session
    place: Place
    variant: Variant

    @contextmanager
    def lifted(self, limits: Mapping[str, Any]) -> Iterator[Expander]:
        """Open the expander, and those within it, with higher limits of their budgets."""
        changes = {
            f"{key}.{name}": value
            for key, budget in budget_keys(self.place).items()
            for name, value in limits.items()
            if getattr(budget, name) is not None and (value is None or value > getattr(budget, name))
        }
        expander, graph = self.variant.expander, self.variant.graph
        with varied(self.session, self.place, expander, graph, changes) as other:
            yield other.expander

    def of(self, question: Question, retrieval: Retrieval) -> Explanation:
        """Explain one question.

        Args:
            question: The question as in the input, with its gold answers at least.
            retrieval: The method's retrieval, with the links that were used.
        """
        gold = {name: getattr(question, name) for name in ("answers", "gold_paths", "gold_triples")}
        retrieval = attrs.evolve(retrieval, question=attrs.evolve(retrieval.question, **gold))
        topics = gold_topics(question, self.session.recipe.options.relink)
        links = list(dict.fromkeys(link.entity for link in retrieval.question.links))
        linking = _Linking(links, topics, same_nodes(self.variant.graph, list(dict.fromkeys([*links, *topics]))))
        answers = _found(retrieval)
        missing = [answer for answer, kind in answers.items() if kind != findings.FOUND]
        kinds, far, loss, cut = self._missed(retrieval, missing, linking) if missing else ({}, None, None, None)
        answers.update(kinds)
        return self._labelled(
            Explanation(
                retrieval,
                kind_of(answers),
                float(score(retrieval)["answer_recall"] or 0.0),
                answers,
                topics,
                linking.unlinked,
                far if findings.UNREACHABLE in answers.values() else None,
                loss if findings.PRUNED in answers.values() else None,
                cut if findings.CUT in answers.values() else None,
            )
        )

    def _missed(
        self, retrieval: Retrieval, missing: Sequence[str], linking: _Linking
    ) -> tuple[dict[str, str], UnreachableAnswers | None, Loss | None, Cut | None]:
        """Classify the missing answers, and return the evidence about those that are unreachable, pruned or cut."""
        whole = linking.failure() if self.variant.expander.needs_links() else ""
        if whole := whole or (findings.FAILED if retrieval.error is not None else ""):
            return dict.fromkeys(missing, whole), None, None, None
        kinds = {answer: findings.IS_LINK for answer in missing if answer in linking.links}
        places = located(self.variant.graph, [answer for answer in missing if answer not in kinds])
        kinds |= {answer: findings.ABSENT for answer, nodes in places.items() if not nodes}
        present = {answer: nodes for answer, nodes in places.items() if nodes}
        if not present:
            return kinds, None, None, None
        others, far, loss, cut = self._sought(retrieval, present, linking)
        return kinds | others, far, loss, cut

    def _sought(
        self, retrieval: Retrieval, present: dict[str, list[str]], linking: _Linking
    ) -> tuple[dict[str, str], UnreachableAnswers | None, Loss | None, Cut | None]:
        """Classify the missing answers that are in the graph by the paths to them."""
        needs_links = self.variant.expander.needs_links()
        search = self._search([link for link in linking.links if linking.nodes[link]])
        known, away = self._gold(search, retrieval.question, present, linking)
        kinds = dict.fromkeys(sorted(away), findings.NOT_LINKED)
        present = {answer: nodes for answer, nodes in present.items() if answer not in away}
        leads, far = search.leads(present, known)
        # A search that does not start from links is not bound to paths from them.
        led = _ends(leads) if needs_links else set(present)
        kinds |= {answer: findings.UNREACHABLE for answer in present if answer not in led}
        wanted = [answer for answer in present if answer in led]
        if not wanted:
            return kinds, far, None, None
        kept, loss, cut = self._lost(retrieval, leads, wanted)
        return (
            kinds | {answer: findings.CUT if answer in kept else findings.PRUNED for answer in wanted},
            far,
            loss,
            cut,
        )

    def _gold(
        self, search: Search, question: Question, present: dict[str, list[str]], linking: _Linking
    ) -> tuple[list[Lead], set[str]]:
        """Return the gold paths from links, and the answers to which they lead from topics without a link only.

        Where gold topics are known, gold paths start at links that are topics, not at other links from which the
        same relations happen to lead to an answer.
        """
        nodes, unlinked = linking.nodes, linking.unlinked
        wanted = {node for topic in linking.topics for node in (topic, *nodes[topic])}
        starts = [link for link in search.links if not wanted or not wanted.isdisjoint((link, *nodes[link]))]
        gold = gold_paths(question, [*starts, *unlinked])
        known = search.gold_leads(present, starts, gold)
        if not self.variant.expander.needs_links():
            return known, set()
        left = {answer: at for answer, at in present.items() if answer not in _ends(known)}
        away = search.gold_leads(left, [topic for topic in unlinked if nodes[topic]], gold) if left else []
        return known, _ends(away)

    def _search(self, links: Sequence[str]) -> Search:
        expander = self.variant.expander
        depth, inverse = setting(expander, "depth"), setting(expander, "inverse")
        return Search(
            self.variant.graph,
            links,
            depth if isinstance(depth, int) else _DEPTH,
            inverse if isinstance(inverse, bool) else True,
            limits_of(expander) or self.session.recipe.options.budget,
        )

    def _lost(
        self, retrieval: Retrieval, leads: Sequence[Lead], wanted: Collection[str]
    ) -> tuple[set[str], Loss | None, Cut | None]:
        """Return the answers on kept paths, the loss of the best other path, and the cut of the kept paths' facts."""
        search = chooser(self.variant.expander)
        if search is None:
            return self._cut(retrieval, leads, wanted)
        asked = retrieval.question.without_gold()
        paths, losses = follow(search, asked, list(dict.fromkeys(lead.path for lead in leads)))
        kept = [lead for lead in leads if lead.path in paths]
        on_kept = _ends(kept) & set(wanted)
        left = {lead.path.steps for lead in leads if not lead.answers <= on_kept}
        loss = best_loss([loss for loss in losses if loss.path.steps in left])
        blocked = self._blocked(retrieval, asked, loss) if loss is not None else None
        behind: set[str] = set()
        if blocked is not None and loss is not None:
            behind = _ends(lead for lead in leads if lead.path.steps == loss.path.steps) & set(wanted)
        if not on_kept:
            return behind, loss, blocked
        back, omitted, cut = self._cut(retrieval, kept, on_kept)
        if search is not driver_of(self.variant.expander):
            # The outer expander omitted what the inner search kept and no limit cut.
            on_kept, loss = back, omitted or loss
        first = next((lead.path for lead in kept if not lead.answers.isdisjoint(on_kept)), None)
        shown = None if first is None else attrs.evolve(cut or Cut(), path=first)
        if blocked is not None and (shown is None or not shown.places):
            shown = blocked
        return on_kept | behind, loss, shown

    def _cut(
        self, retrieval: Retrieval, leads: Sequence[Lead], wanted: Collection[str]
    ) -> tuple[set[str], Loss | None, Cut | None]:
        """Return the answers that higher limits bring back, the first path to another answer, and the cut."""
        cut = cut_of(self.variant.graph, self.variant.expander, self.lifted, retrieval, wanted)
        back = set(cut.places) if cut else set()
        other = [lead.path for lead in leads if not lead.answers <= back]
        return back, Loss(min(other, key=path_order)) if other else None, cut

    def _blocked(self, retrieval: Retrieval, asked: Question, loss: Loss) -> Cut | None:
        """Return the cut of a frontier that kept the search from seeing a path's next step; None if it was no cut."""
        if loss.rank is not None or loss.hop is None or loss.hop < 2 or loss.at_end:
            return None

        def follows(other: Expander) -> bool:
            search: Explainable | None = chooser(other)
            if search is None:
                return False
            kept, losses = follow(search, asked, [loss.path])
            return bool(kept) or losses[0].rank is not None or (losses[0].hop or 0) > (loss.hop or 0)

        dropped = retrieval.subgraph.trace.get("cut", {})
        limits, needed = blocked_by(self.variant.expander, self.lifted, dropped, follows)
        if not limits:
            return None
        counts = {name: dropped[name] for name in limits if name in dropped}
        return Cut(limits, counts, needed=needed, path=loss.path, hop=loss.hop - 1)

    def _labelled(self, one: Explanation) -> Explanation:
        paths: list[RankedPath | None] = [one.far.path if one.far else None, one.cut.path if one.cut else None]
        if one.loss:
            paths += [one.loss.path, *one.loss.winners]
        ids = {link.entity for link in one.question.links} | set(one.topics) | set(one.answers)
        for path in paths:
            if path is not None:
                ids |= {path.entity, *(step.relation for step in path.steps if step.relation)}
        ordered = sorted(ids)
        labels = dict(zip(ordered, self.variant.graph.labels(ordered), strict=True)) if ordered else {}
        return attrs.evolve(one, labels={id_: label for id_, label in labels.items() if label != id_})


def _ends(leads: Iterable[Lead]) -> set[str]:
    """Return the answers that any of some paths reach."""
    return {answer for lead in leads for answer in lead.answers}


def _found(retrieval: Retrieval) -> dict[str, str]:
    """Classify the gold answers that evaluation counts as found; the rest is FAILED until classified."""
    links = {link.entity for link in retrieval.question.links}
    nodes: set[str] = set()
    for triple in retrieval.subgraph.triples:
        nodes |= names_of(triple.subject) | names_of(triple.object)
    return {
        a: findings.FOUND if a in nodes and a not in links else findings.FAILED
        for a in retrieval.question.answers or ()
    }
