"""Diagnosis of one retrieval: the stage at which it lost its answers, and the evidence."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import attrs
from srtk_plugin_evaluation.metrics import score

from srtk_framework.graph import names_of
from srtk_framework.host import driver_of
from srtk_framework.roles import Expander, Explainable
from srtk_framework.run import Session
from srtk_framework.values import Question, RankedPath, Retrieval
from srtk_plugin_explaining.budget_probe import blocked_by, cut_of
from srtk_plugin_explaining.findings import (
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

_DEPTH = 3
"""Depth of the path search for expanders without a depth."""


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
        graph, needs_links = self.variant.graph, self.variant.expander.needs_links()
        gold = {name: getattr(question, name) for name in ("answers", "gold_paths", "gold_triples")}
        retrieval = attrs.evolve(retrieval, question=attrs.evolve(retrieval.question, **gold))
        topics = gold_topics(question, self.session.recipe.options.relink)
        links = list(dict.fromkeys(link.entity for link in retrieval.question.links))
        answers = _found(retrieval)
        missing = [answer for answer, kind in answers.items() if kind != FOUND]
        nodes = same_nodes(graph, list(dict.fromkeys([*links, *topics])))
        reached = {node for link in links for node in (link, *nodes[link])}
        unlinked = tuple(topic for topic in topics if reached.isdisjoint((topic, *nodes[topic])))
        far: UnreachableAnswers | None = None
        loss: Loss | None = None
        cut: Cut | None = None
        whole = _whole(retrieval, missing, links, nodes, topics, unlinked, needs_links)
        if whole:
            answers.update(dict.fromkeys(missing, whole))
        else:
            answers.update({answer: IS_LINK for answer in missing if answer in links})
            left = [answer for answer in missing if answer not in links]
            places = located(graph, left)
            answers.update({answer: ABSENT for answer in left if not places[answer]})
            search = self._search([link for link in links if nodes[link]])
            present = {answer: places[answer] for answer in left if places[answer]}
            leads: list[Lead] = []
            if present:
                known, away = self._gold(search, retrieval.question, present, links, topics, unlinked, nodes)
                answers.update(dict.fromkeys(away, NOT_LINKED))
                present = {answer: at for answer, at in present.items() if answer not in away}
                leads, far = search.leads(present, known)
            # A search that does not start from links is not bound to paths from them.
            led = {answer for lead in leads for answer in lead.answers} if needs_links else set(present)
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

    def _gold(
        self,
        search: Search,
        question: Question,
        present: dict[str, list[str]],
        links: Sequence[str],
        topics: Sequence[str],
        unlinked: Sequence[str],
        nodes: Mapping[str, set[str]],
    ) -> tuple[list[Lead], set[str]]:
        """Return the gold paths from links, and the answers to which they lead from topics without a link only.

        Where gold topics are known, gold paths start at links that are topics, not at others from which the same
        relations happen to lead to an answer.
        """
        wanted = {node for topic in topics for node in (topic, *nodes[topic])}
        starts = [link for link in search.links if not wanted or not wanted.isdisjoint((link, *nodes[link]))]
        gold = gold_paths(question, [*starts, *unlinked])
        known = search.gold_leads(present, starts, gold)
        if not self.variant.expander.needs_links():
            return known, set()
        left = {answer: at for answer, at in present.items() if not any(answer in lead.answers for lead in known)}
        away = search.gold_leads(left, [topic for topic in unlinked if nodes[topic]], gold) if left else []
        return known, {answer for lead in away for answer in lead.answers}

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
        graph, expander = self.variant.graph, self.variant.expander
        search = chooser(expander)
        if search is None:
            cut = cut_of(graph, expander, self.lifted, retrieval, wanted)
            back = set(cut.places) if cut else set()
            other = [lead.path for lead in leads if not lead.answers <= back]
            return back, Loss(min(other, key=path_order)) if other else None, cut
        asked = retrieval.question.without_gold()
        kept, losses = follow(search, asked, list(dict.fromkeys(lead.path for lead in leads)))
        on_kept = {answer for lead in leads if lead.path in kept for answer in lead.answers if answer in wanted}
        left = {lead.path.steps for lead in leads if not lead.answers <= on_kept}
        loss = best_loss([loss for loss in losses if loss.path.steps in left])
        blocked = self._blocked(retrieval, asked, loss) if loss is not None else None
        behind: set[str] = set()
        if blocked is not None and loss is not None:
            behind = {answer for lead in leads if lead.path.steps == loss.path.steps for answer in lead.answers}
            behind &= set(wanted)
        if not on_kept:
            return behind, loss, blocked
        cut = cut_of(graph, expander, self.lifted, retrieval, on_kept)
        if search is not driver_of(expander):
            # The outer expander omitted what the inner search kept and no limit cut.
            back = set(cut.places) if cut else set()
            outer = [lead.path for lead in leads if lead.path in kept and not lead.answers <= back]
            on_kept, loss = back, Loss(min(outer, key=path_order)) if outer else loss
        first = [lead.path for lead in leads if lead.path in kept and not lead.answers.isdisjoint(on_kept)]
        shown = attrs.evolve(cut or Cut(), path=first[0]) if first else None
        if blocked is not None and (shown is None or not shown.places):
            shown = blocked
        return on_kept | behind, loss, shown

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
    needs_links: bool,
) -> str:
    """Return the class that applies to all missing answers at once, or an empty string."""
    if not missing:
        return ""
    if needs_links:
        if not links or (topics and len(unlinked) == len(topics)):
            return NOT_LINKED
        if not any(nodes[link] for link in links):
            return UNKNOWN_LINK
    return FAILED if retrieval.error is not None else ""
