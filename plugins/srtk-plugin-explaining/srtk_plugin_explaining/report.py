"""Explanations for the terminal: a paragraph per question; a table and advice for a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from srtk_framework.text import name, path_text
from srtk_framework.values import END
from srtk_plugin_explaining import findings
from srtk_plugin_explaining.advice import Advice
from srtk_plugin_explaining.findings import Cut, Explanation, Loss, UnreachableAnswers
from srtk_plugin_explaining.records import counts_of, hops_of

if TYPE_CHECKING:
    from rich.table import Table

_MOST = 6  # Items of a line; the others are counted.
_WHY = {
    "depth": "is longer than the expander's depth",
    "inverse": "has an inverse step, which the expander does not follow",
    "noise": "has a relation that the graph's `noise` excludes",
}


def table(explanations: Sequence[Explanation]) -> Table:
    """Build the table of a run's counts; fits 80 columns."""
    from rich import box
    from rich.table import Table

    laid = Table(box=box.SIMPLE_HEAD, padding=0, show_edge=False)
    laid.add_column("class", no_wrap=True)
    laid.add_column("meaning")
    for column in ("questions", "share", "partly\nfound", "answers"):
        laid.add_column(column, justify="right", no_wrap=True)
    for kind, row in counts_of(explanations).items():
        share = f"{100 * row['questions'] / len(explanations):.1f} %"
        partly = "" if kind == findings.FOUND else str(row["partly"])
        laid.add_row(kind, findings.CLASSES[kind], str(row["questions"]), share, partly, str(row["answers"]))
    return laid


def advice_lines(explanations: Sequence[Explanation], advice: Advice) -> list[str]:
    """Return, for each class, the advice and the first questions."""
    lines = []
    for kind in findings.CLASSES:
        some = [one for one in explanations if one.kind == kind]
        if kind != findings.FOUND and some:
            ids = ", ".join(one.question.id for one in some[:_MOST])
            more = f" and {len(some) - _MOST} more" if len(some) > _MOST else ""
            lines.append(f"{kind}: {advice.of(kind, some)}")
            if kind == findings.PRUNED and (places := hops_of(some)):
                lines.append(f"  {places}")
            if tried := advice.tried(some):
                lines.append(f"  tried: {tried}")
            lines.append(f"  {ids}{more}")
    return lines


def question_lines(one: Explanation, advice: Advice) -> list[str]:
    """Return the explanation of one question as lines of text."""
    found = sum(kind == findings.FOUND for kind in one.answers.values())
    size = len(one.subgraph.triples)
    lines = [
        f"{one.question.id}: {one.question.text}",
        f"  {one.kind}: {findings.CLASSES[one.kind]}; {found} of {len(one.answers)} answers found, {size} triples",
        _line("links", [_entity(link.entity, one.labels) for link in one.question.links] or ["none"]),
    ]
    if one.unlinked:
        lines.append(_line("not linked", [_entity(topic, one.labels) for topic in one.unlinked]))
    for kind in findings.CLASSES:
        some = [_entity(answer, one.labels) for answer, of in one.answers.items() if of == kind]
        if some:
            lines.append(_line(kind, some))
    if one.retrieval.error is not None and one.kind not in (findings.NOT_LINKED, findings.ABSENT):
        lines.append(_line("error", [one.retrieval.error]))
    lines += _unreachable_lines(one.far, one.labels) if one.far else []
    lines += _loss_lines(one.loss, one.labels) if one.loss else []
    lines += _cut_lines(one.cut, one.labels, size, advice.value("expander.share")) if one.cut else []
    for title, text in (("change", advice.of(one.kind, [one])), ("tried", advice.tried([one]))):
        if text:
            lines.append(_line(title, [text]))
    return lines


def _line(title: str, parts: Sequence[str]) -> str:
    shown = "; ".join(parts[:_MOST])
    more = f" and {len(parts) - _MOST} more" if len(parts) > _MOST else ""
    return f"  {title + ':' if title else '':<20} {shown}{more}"


def _entity(id_: str, labels: Mapping[str, str]) -> str:
    label = name(id_, labels)
    return f"{label} ({id_})" if id_ in labels and label != id_ else label


def _unreachable_lines(far: UnreachableAnswers, labels: Mapping[str, str]) -> list[str]:
    if far.path is None:
        hidden = ", ".join(f"{number} {limit}" for limit, number in far.cut.items())
        unread = f"; limits left {hidden} unread, so a path may exist" if hidden else ""
        return [_line("path", [f"none from a link within {far.searched} steps{unread}"])]
    length = f"{len(far.path.steps)} steps; it {_WHY[far.why]}" if far.why else f"{len(far.path.steps)} steps"
    if far.why == "depth":
        length += f" ({far.depth})"
    return [_line("shortest path", [path_text(far.path, labels)]), _line("", [length])]


def _loss_lines(loss: Loss, labels: Mapping[str, str]) -> list[str]:
    lines = [_line("path", [path_text(loss.path, labels)])]
    if loss.hop is None:
        return [*lines, _line("pruned at", ["the expander does not report where"])]
    step = loss.path.steps[loss.hop - 1 : loss.hop] or (END,)
    where = "the end" if loss.at_end else f"hop {loss.hop} ({path_text(step, labels)})"
    if loss.rank is None:
        why = "it was not a candidate" if loss.weighed else "the search had stopped"
        return [*lines, _line("pruned at", [f"{where}: {why}"])]
    rank = f"{where}: rank {loss.rank} of {loss.weighed}, score {loss.path.score:.4f}"
    if loss.needed is not None:
        rank += f"; {loss.kept} kept, down to score {loss.needed:.4f}"
    lines.append(_line("pruned at", [rank]))
    for number, path in enumerate(loss.winners):
        lines.append(_line("" if number else "kept instead", [f"{path.score:8.4f}  {path_text(path, labels)}"]))
    return lines


def _cut_lines(cut: Cut, labels: Mapping[str, str], size: int, share: object) -> list[str]:
    lines = [_line("path", [path_text(cut.path, labels)])] if cut.path else []
    counts = ", ".join(f"budget.{limit} (at least {number})" for limit, number in cut.dropped.items())
    lines.append(_line("cut by", [counts or " and ".join(f"budget.{n}" for n in cut.limits) or "an unknown limit"]))
    if cut.hop is not None:
        steps = cut.path.steps[cut.hop : cut.hop + 1] if cut.path else ()
        where = f"after hop {cut.hop}, so that the search never saw the next step ({path_text(steps, labels)})"
        lines.append(_line("", [where]))
    if cut.places:
        first, last = min(cut.places.values()), max(cut.places.values())
        stands = f"is at position {first}" if len(cut.places) == 1 else f"are at positions {first} to {last}"
        noun = "the answer" if len(cut.places) == 1 else f"{len(cut.places)} answers"
        lines.append(
            _line("", [f"without the limit on {' and '.join(cut.limits)}, {noun} {stands}; {size} triples were kept"])
        )
        if last <= size and share is not None:
            lines.append(_line("", [f"`expander.share: {share}` gave the room to other paths"]))
    return lines
