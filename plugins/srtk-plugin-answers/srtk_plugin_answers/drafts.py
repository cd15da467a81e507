"""Answers in ids, and the questions that they are for with their paths."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from srtk_framework.values import Question, RankedPath, Triple, rounded
from srtk_plugin_answers.choices import Choice
from srtk_plugin_answers.node_sets import Lead, Row
from srtk_plugin_answers.operations import Operated
from srtk_plugin_answers.path_reads import PathReads
from srtk_plugin_answers.question_kinds import Kind

_ALTERNATIVES = 4
"""Other answers that are shown: enough to see a doubt, few enough to read."""
# Why there is no answer, where several handlers refuse.
TWO_NAMES = "the question compares or joins two things, and fewer than two names of the graph were found in it"
NO_VALUE = "the graph has no number or date called {noun!r} for what the question names"
NO_RELATION = "the graph has no relation like {noun!r} of what the question names"


@attrs.frozen
class Draft:
    """An answer in ids.

    Attributes:
        kind: Kind of the question.
        entities: The answer's entities and values.
        proof: Triples that prove it, each with its path.
        complete: Whether all was read; None where that means nothing.
        number: The number asked for.
        unit: Unit or name of the number.
        truth: Yes or no.
        margin: Distance of the score of the choice from the next one's.
        score: Score of the choice; None where nothing was chosen.
        operated: Whether an operation chose it.
        path: Path to the answer, or to the set that the operation is about.
        relation: Relation whose values, or whose counts, decided.
        counts: Number of counted ends of each entity, where an order was by counts.
        likened: Whether only the path scorer, and no word, supports the relation or the set.
        cut: Members of the set that limits left out of such an order.
        others: Further choices.
        missing: Why there is no answer.
        notice: What of the question it leaves out.
    """

    kind: str
    entities: tuple[str, ...] = ()
    proof: Row = ()
    complete: bool | None = None
    number: float | None = None
    unit: str = ""
    truth: bool | None = None
    margin: float = float("inf")
    score: float | None = None
    operated: bool = True
    path: RankedPath | None = None
    relation: str | None = None
    counts: Sequence[int] = ()
    likened: bool = False
    cut: int = 0
    others: Sequence[Choice] = ()
    missing: str = ""
    notice: str = ""

    def choice(self) -> dict[str, Any]:
        """Return the choice for the record: path, relation that decided, score and distance."""
        chosen: dict[str, Any] = {}
        if self.path is not None:
            chosen |= {"entity": self.path.entity, "path": [str(step) for step in self.path.steps]}
        if self.relation is not None:
            chosen["relation"] = self.relation
        if self.counts:
            chosen["counts"] = list(self.counts)
            if self.cut:
                chosen["cut"] = self.cut
        if self.score is not None:
            chosen["score"] = rounded(self.score)
        return {**chosen, "margin": rounded(self.margin)} if chosen and math.isfinite(self.margin) else chosen

    def ids(self) -> set[str]:
        """Return the ids that the text needs names of."""
        return {*self.entities, *(end for choice in self.others for end in choice.ends)}

    @classmethod
    def of_lead(cls, kind: str, lead: Lead) -> Draft:
        """Return a draft of an operation's result."""
        complete = bool(lead.facts.get("complete"))
        return cls(
            kind,
            tuple(lead.answers),
            proof=lead.proof,
            complete=complete,
            score=lead.score,
            margin=lead.margin,
            path=lead.path,
            relation=lead.facts.get("relation"),
            counts=lead.facts.get("counts", ()),
            likened=lead.facts.get("likened", False),
            cut=lead.facts.get("cut", 0),
            notice=lead.facts.get("notice", ""),
        )


@attrs.frozen
class Case:
    """A question with its operation, its paths with their ends, best first, and the labels of their last relations."""

    question: Question
    operated: Operated
    found: Sequence[Choice] = ()
    labels: Mapping[str, str] = attrs.field(factory=dict)

    @property
    def kind(self) -> Kind:
        """The kind of the question."""
        return self.operated.kind.kind


def margin_of(found: Sequence[Choice]) -> float:
    """Return how far the first choice's score is from the next one's."""
    return found[0].path.score - found[1].path.score if len(found) > 1 else math.inf


def looked_up(case: Case, kind: str, found: Sequence[Choice]) -> Draft:
    """Answer with where the best of several choices ends; the next ones are other answers."""
    best, *others = found
    whole, complete = _whole(case.operated.reads, best)
    return Draft(
        kind,
        tuple(whole),
        proof=[(triple, best.path) for way in whole.values() for triple in way],
        complete=complete,
        number=len(whole) if kind == "count" else None,
        margin=margin_of(found),
        score=best.path.score,
        operated=False,
        path=best.path,
        others=others[:_ALTERNATIVES],
    )


def _whole(reads: PathReads, choice: Choice) -> tuple[Mapping[str, tuple[Triple, ...]], bool | None]:
    """Read all nodes where a path ends, with those in the subgraph first, and whether these are all.

    Of ends of one class or year only the subgraph's are returned, and None, since others may be left out.
    """
    if choice.narrowed:
        return choice.ends, None
    [read] = reads.of([choice.path])
    whole = dict(choice.ends)
    for one in read.instances:
        if one.end != choice.path.entity and len(set(one.triples)) == len(one.triples):
            whole.setdefault(one.end, one.triples)
    return whole, not read.cut
