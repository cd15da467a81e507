"""Advice on which settings of a recipe to change, by class of explanation."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import attrs

from srtk_framework.roles import Expander, PathScorer
from srtk_framework.run import Session
from srtk_plugin_explaining import findings
from srtk_plugin_explaining.findings import Change, Explanation
from srtk_plugin_explaining.variants import limits_of, setting

_DOWN = ("min_score", "keep", "fan_cost")  # Settings that help the more the lower they are.
# Advice that depends on the class alone.
_FIXED = {
    findings.UNKNOWN_LINK: (
        "Check that the links have the graph's form of ids, and that the recipe names the right graph."
    ),
    findings.IS_LINK: "An answer that is a link never counts as found; check the linker if the link is wrong.",
    findings.ABSENT: "No setting helps: add the facts to `knowledge_graph`, or check the form of the answers' ids.",
}
_LINKER = ("n_best", "candidates", "min_score", "keep", "languages")


class Advice:
    """Advice on which settings of a recipe to change, by class.

    Args:
        session: The session whose retrievals were explained.
        expander: The expander that was explained.
    """

    def __init__(self, session: Session, expander: Expander) -> None:
        self._session, self._expander = session, expander
        settings = {} if session.linker is None else session.linker.settings()
        self._linker = [f"entity_linker.{name}" for name in _LINKER if name in settings]

    def of(self, kind: str, some: Sequence[Explanation]) -> str:
        """Return one sentence of advice on the questions of a class; empty for ``found``."""
        ways = {
            findings.NOT_LINKED: self._not_linked,
            findings.UNREACHABLE: self._unreachable,
            findings.PRUNED: self._pruned,
            findings.CUT: self._cut,
        }
        if not some:
            return ""
        if kind == findings.FAILED:
            return f"The first error: {some[0].retrieval.error}"
        return ways[kind](some) if kind in ways else _FIXED.get(kind, "")

    def _not_linked(self, some: Sequence[Explanation]) -> str:
        empty = sum(not one.question.links for one in some)
        counts = f"{empty} without any link, {len(some) - empty} linked to other entities."
        if self._session.linker is None:
            return f"{counts} Add an `entity_linker`, or give `question_entities`."
        ways = f"try {_listed(self._linker)}" if self._linker else "try other settings of the entity_linker"
        return f"{counts} Add aliases to the graph, {ways}, or use another linker."

    def _unreachable(self, some: Sequence[Explanation]) -> str:
        why = Counter(one.far.why if one.far else "" for one in some)
        reached = {kind: "it" if len(some) == 1 else f"{count} of {len(some)}" for kind, count in why.items()}
        advice = []
        if why["depth"]:
            most = max(len(one.far.path.steps) for one in some if one.far and one.far.path and one.far.why == "depth")
            advice.append(f"`expander.depth: {most}` would reach {reached['depth']}")
        if why["inverse"]:
            advice.append(f"`expander.inverse: true` would reach {reached['inverse']}")
        if why["noise"]:
            advice.append(f"{why['noise']} can only be reached by a relation that the graph's `noise` excludes")
        if why[""]:
            advice.append(f"no path was found for {why['']}: check the links, and whether the graph lacks facts")
        return _sentence(advice)

    def _pruned(self, some: Sequence[Explanation]) -> str:
        losses = [one.loss for one in some if one.loss is not None]
        advice = []
        for name in sorted({loss.setting for loss in losses if loss.setting}):
            here = [loss for loss in losses if loss.setting == name]
            ranks = sorted(loss.rank for loss in here if loss.rank is not None)
            text = f"`{name}: {self.value(name)}` pruned {'it' if len(some) == 1 else len(here)}"
            if name in ("expander.width", "expander.paths") and ranks:
                half, most = ranks[math.ceil(len(ranks) / 2) - 1], ranks[-1]
                text += f" at rank {most}" if len(some) == 1 else f" (half up to rank {half}, all up to rank {most})"
            advice.append(text)
        other = sum(not loss.setting for loss in losses) + sum(one.loss is None for one in some)
        if other:
            advice.append(f"it is not known which setting pruned {'it' if len(some) == 1 else other}")
        scorer = setting(self._expander, "scorer")
        if isinstance(scorer, PathScorer) and any(loss.rank is not None for loss in losses):
            if scorer.is_trained():
                advice.append("the scorer is trained, so questions like these may be missing in its training")
            else:
                advice.append("a trained scorer may rank the steps better")
        return _sentence(advice)

    def _cut(self, some: Sequence[Explanation]) -> str:
        cuts = [one.cut for one in some if one.cut is not None]
        advice = []
        for limits in sorted({cut.limits for cut in cuts}):
            here = [cut for cut in cuts if cut.limits == limits]
            names = _listed([f"budget.{name}: {self.value(f'budget.{name}')}" for name in limits], "and")
            text = f"{names or 'something'} cut {_so_many(here, some)}"
            most = {name: max(cut.needed.get(name, 0) for cut in here) for name in limits}
            wanted = " and ".join(str(value) for value in most.values() if value)
            hops = sorted({cut.hop for cut in here if cut.hop is not None})
            if hops:
                text += f" after hop {' or '.join(map(str, hops))}, on the way to the answer"
            if wanted:
                text += f" ({wanted} would keep {_so_many(here, some, 'all')})"
            if any(not cut.places and cut.hop is None for cut in here):
                text += ", and a limit ten times as high does not restore it" if len(some) == 1 else ""
            advice.append(text)
        return _sentence(advice)

    def tried(self, some: Sequence[Explanation]) -> str:
        """Return the settings that brought answers of a class of questions back; empty if none did."""
        back = [one for one in some if one.changes]
        if not back:
            return ""
        if len(some) == 1:
            [one] = back
            missing = sum(kind != findings.FOUND for kind in one.answers.values())
            found = "the answer" if missing == 1 else f"{len(one.restored)} of {missing} missing answers"
            return f"with {_listed([_written(change) for change in one.changes], 'and')}, {found} came back"
        parts = []
        for key in sorted({change.setting for one in back for change in one.changes}):
            values = [change.value for one in back for change in one.changes if change.setting == key]
            numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
            most = (
                f", up to {max(numbers)}" if len(numbers) == len(values) and key.rpartition(".")[2] not in _DOWN else ""
            )
            parts.append(f"`{key}` ({len(values)}{most})")
        return f"{len(back)} of {len(some)} had answers back, each with its own values of {', '.join(parts)}"

    def value(self, name: str) -> Any:
        """Return a setting by its name in recipes, such as ``budget.triples`` or ``expander.width``; None if absent."""
        block, _, key = name.partition(".")
        limits = limits_of(self._expander) if block == "budget" else None
        return attrs.asdict(limits).get(key) if limits is not None else setting(self._expander, key)


def _sentence(parts: Sequence[str]) -> str:
    text = "; ".join(part for part in parts if part)
    return text[:1].upper() + text[1:] + "." if text else ""


def _written(change: Change) -> str:
    """Write a change as in a recipe."""
    value = change.value
    if value is None or isinstance(value, bool):
        return f"{change.setting}: {'null' if value is None else str(value).lower()}"
    shown = f"[{', '.join(map(str, value))}]" if isinstance(value, list | tuple) else value
    return f"{change.setting}: {shown}"


def _listed(names: Sequence[str], word: str = "or") -> str:
    return f" {word} ".join(f"`{name}`" for name in names)


def _so_many(here: Sequence[Any], some: Sequence[Any], word: str = "") -> str:
    """Return the number of questions, or "it" if the class has one question only."""
    return "it" if len(some) == 1 else word or str(len(here))
