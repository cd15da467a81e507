"""Records of explanations, and the counts of a whole run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from srtk_framework.values import RankedPath, rounded
from srtk_plugin_explaining.findings import CLASSES, FOUND, Explanation, Loss


def record_of(one: Explanation) -> dict[str, Any]:
    """Convert an explanation to a record; fields that do not apply are omitted."""
    subgraph = one.subgraph
    record: dict[str, Any] = {
        "id": one.question.id,
        "question": one.question.text,
        "class": one.kind,
        "answer_recall": rounded(one.recall),
        "answers": dict(one.answers),
        "links": [link.entity for link in one.question.links],
        "triples": len(subgraph.triples),
    }
    if one.topics:
        record["topics"] = list(one.topics)
    if one.unlinked:
        record["unlinked"] = list(one.unlinked)
    if one.retrieval.error is not None:
        record["error"] = one.retrieval.error
    if one.far is not None:
        record["unreachable"] = _known(
            depth=one.far.depth,
            shortest=len(one.far.path.steps) if one.far.path else None,
            path=_path(one.far.path),
            why=one.far.why,
            searched=one.far.searched,
            unread=dict(one.far.cut),
        )
    if one.loss is not None:
        record["pruned"] = _known(
            path=_path(one.loss.path),
            hop=one.loss.hop,
            at_end=one.loss.at_end,
            rank=one.loss.rank,
            weighed=one.loss.weighed,
            kept=one.loss.kept,
            score=one.loss.path.score if one.loss.rank is not None else None,
            needed=one.loss.needed,
            setting=one.loss.setting,
            winners=[{**(_path(path) or {}), "score": path.score} for path in one.loss.winners],
        )
    if one.cut is not None:
        record["cut"] = _known(
            path=_path(one.cut.path),
            limits=list(one.cut.limits),
            dropped=dict(one.cut.dropped),
            places=dict(one.cut.places),
            needed=dict(one.cut.needed),
            hop=one.cut.hop,
        )
    if one.changes:
        record["changes"] = {change.setting: change.value for change in one.changes}
        record["restored"] = list(one.restored)
    if one.labels:
        record["labels"] = dict(sorted(one.labels.items()))
    return record


def _path(path: RankedPath | None) -> dict[str, Any] | None:
    return None if path is None else {"entity": path.entity, "steps": [str(step) for step in path.steps]}


def _known(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value not in (None, "", [], {})}


def hops_of(some: Sequence[Explanation]) -> str:
    """Count the losses by hop; paths that should have ended at a hop are counted apart."""
    losses = [one.loss for one in some if one.loss is not None]
    places = Counter(_place(loss) for loss in losses if loss.hop is not None)
    return ", ".join(f"{places[place]} {place}" for place in sorted(places))


def _place(loss: Loss) -> str:
    if loss.at_end:
        return "ranked too low at the end"
    return f"at hop {loss.hop}" + (" by not ending there" if len(loss.path.steps) < (loss.hop or 0) else "")


def counts_of(explanations: Sequence[Explanation]) -> dict[str, dict[str, Any]]:
    """Count the questions, the questions with some answers found, and the answers of each class, in order."""
    counts: dict[str, dict[str, Any]] = {}
    answers: Mapping[str, int] = Counter(kind for one in explanations for kind in one.answers.values())
    for kind in CLASSES:
        here = [one for one in explanations if one.kind == kind]
        if here or answers[kind]:
            partly = sum(one.recall > 0 for one in here) if kind != FOUND else 0
            counts[kind] = {"questions": len(here), "partly": partly, "answers": answers[kind]}
    return counts
