"""Remedies: the settings that bring a question's missing answers back, found step by step and tried.

A question may be lost at several stages at once: a link is missing, and behind it a step is pruned. So the change that
a diagnosis suggests is made, the question is retrieved with it, and the next diagnosis suggests the next change.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

from srtk_framework.host import driver_of
from srtk_framework.values import DriverError, Question
from srtk_plugin_explaining.budget_probe import raised
from srtk_plugin_explaining.diagnosis import Diagnosis
from srtk_plugin_explaining.findings import FOUND, NOT_LINKED, UNKNOWN_LINK, Change, Explanation, Loss
from srtk_plugin_explaining.locate import same_nodes
from srtk_plugin_explaining.variants import (
    NOISE,
    RELINK,
    TOPICS,
    Changes,
    Place,
    budget_keys,
    key_of,
    linked_anew,
    links_under,
    retrieved,
    setting,
    varied,
)

_ROUNDS = 10  # Changes that are made one after the other.
# Settings of linkers, with values that let more links pass.
_LOOSE: dict[str, Any] = {"min_score": None, "keep": None, "n_best": 20, "candidates": 1000}
_DEPTHS = ("depth", "max_iterations")


def remedy(diagnosis: Diagnosis, question: Question, found: Explanation) -> tuple[tuple[Change, ...], tuple[str, ...]]:
    """Find changes that bring missing answers of a question back.

    Args:
        diagnosis: Diagnosis of the session's own expander.
        question: The question as in the input.
        found: The explanation of its retrieval.

    Returns:
        The changes, which were tried together and are all needed, and the answers that they bring back; both empty if
        none are known.
    """
    changes: dict[str, Any] = {}
    now = best = found
    kept: dict[str, Any] = {}
    for _ in range(_ROUNDS):
        more = _suggested(diagnosis, question, now, changes)
        if not more:
            break
        changes.update(more)
        try:
            now = _under(diagnosis, question, found, changes)
        except DriverError:
            # The expander refuses these settings, or the graph does not answer so much.
            break
        if now.recall > best.recall:
            best, kept = now, dict(changes)
        if now.kind == FOUND:
            break
    restored = _restored(found, best)
    for key in list(kept) if len(kept) > 1 else ():
        fewer = {name: value for name, value in kept.items() if name != key}
        try:
            without = _under(diagnosis, question, found, fewer)
        except DriverError:
            continue
        if set(restored) <= set(_restored(found, without)):
            kept = fewer
    return tuple(Change(key, value, _present(diagnosis, key)) for key, value in kept.items()), restored


def _under(diagnosis: Diagnosis, question: Question, found: Explanation, changes: Changes) -> Explanation:
    """Retrieve and explain a question anew with changed settings."""
    session, own = diagnosis.session, diagnosis.variant
    links = links_under(session, question, found.question.links, changes)
    with varied(session, diagnosis.place, own.expander, own.graph, changes) as variant:
        place = Place(diagnosis.place.key, driver_of(variant.expander), diagnosis.place.written)
        return Diagnosis(session, place, variant).of(question, retrieved(variant, question, links))


def _restored(before: Explanation, after: Explanation) -> tuple[str, ...]:
    return tuple(a for a, kind in after.answers.items() if kind == FOUND and before.answers[a] != FOUND)


def _suggested(diagnosis: Diagnosis, question: Question, now: Explanation, changes: Changes) -> dict[str, Any]:
    """Return the changes that a diagnosis suggests, beyond those already made."""
    place = diagnosis.place
    suggested: list[dict[str, Any]] = []
    if now.kind in (NOT_LINKED, UNKNOWN_LINK):
        suggested.append(_linking(diagnosis, question, now, changes))
    suggested.append(_reaching(diagnosis, place, now, changes))
    if now.cut is not None:
        suggested.append(_raised(place, now.cut.limits, now.cut.needed, changes))
    if now.loss is not None:
        suggested.append(_unpruned(place, now.loss, changes))
    fresh = ({key: v for key, v in more.items() if key not in changes or changes[key] != v} for more in suggested)
    return next((more for more in fresh if more), {})


def _value(place: Place, key: str, name: str, changes: Changes) -> Any:
    """Return the value of a setting under the changes."""
    return changes[key] if key in changes else setting(place.driver, name)


def _linking(diagnosis: Diagnosis, question: Question, now: Explanation, changes: Changes) -> dict[str, Any]:
    """Suggest how to link the gold topics: by the question's own links, the linker's settings, or by hand."""
    session = diagnosis.session
    wanted = set(now.topics)
    nodes = same_nodes(diagnosis.variant.graph, sorted(wanted)) if wanted else {}
    known = [topic for topic in now.topics if nodes[topic]]
    given = {link.entity for link in question.links}
    if session.recipe.options.relink and RELINK not in changes and given and (not wanted or given & wanted):
        return {RELINK: False}
    linker = session.linker
    if linker is not None and (session.recipe.options.relink or not question.links) and question.text.strip():
        present = linker.settings()
        loose = {
            f"entity_linker.{name}": value
            for name, value in _LOOSE.items()
            if name in present and present[name] != value
        }
        loose = _accepted(diagnosis, loose)

        def links(some: Changes) -> bool:
            found = {link.entity for link in linked_anew(session, question, some)}
            return bool(found & wanted if wanted else found - {link.entity for link in now.question.links})

        if loose and links(loose):
            return _tightened(diagnosis, question, wanted, _least(loose, links), links)
    return {TOPICS: known} if known and TOPICS not in changes else {}


def _accepted(diagnosis: Diagnosis, loose: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out settings that the linker refuses with such a value; some linkers have no value for "no limit"."""
    fine: dict[str, Any] = {}
    for key, value in loose.items():
        for tried in dict.fromkeys((value, 0.0)) if value is None else (value,):
            try:
                linked_anew(diagnosis.session, Question("", "a"), {key: tried})
            except DriverError:
                continue
            fine[key] = tried
            break
    return fine


def _least(changes: Mapping[str, Any], works: Any) -> dict[str, Any]:
    """Drop the changes without which the others work."""
    kept = dict(changes)
    for key in list(kept):
        fewer = {name: value for name, value in kept.items() if name != key}
        if fewer and works(fewer):
            kept = fewer
    return kept


def _tightened(
    diagnosis: Diagnosis, question: Question, wanted: set[str], changes: dict[str, Any], works: Any
) -> dict[str, Any]:
    """Replace loose values by the least that work."""
    for key, most in changes.items():
        name = key.partition(".")[2]
        if name in ("n_best", "candidates"):
            values: list[Any] = [value for value in (2, 3, 5, 10, 20, 50, 100, 200, 500) if value < most]
        elif name == "min_score":
            links = linked_anew(diagnosis.session, question, changes)
            scores = [link.score for link in links if not wanted or link.entity in wanted]
            values = [math.floor(max(scores) * 1e4) / 1e4] if scores else []
        else:
            values = []
        least = next((value for value in values if works({**changes, key: value})), most)
        changes = {**changes, key: least}
    return changes


def _reaching(diagnosis: Diagnosis, place: Place, now: Explanation, changes: Changes) -> dict[str, Any]:
    """Suggest settings under which the path lies in the search space."""
    far = now.far
    if far is None:
        return {}
    if far.path is None:
        return _raised(place, [name for name in ("hub", "nodes") if far.cut.get(name)], {}, changes)
    steps = far.path.steps
    more: dict[str, Any] = {}
    name = next((name for name in _DEPTHS if key_of(place, name) is not None), None)
    if name is not None and (key := key_of(place, name)) is not None and _value(place, key, name, changes) < len(steps):
        more[key] = len(steps)
    key = key_of(place, "inverse")
    if key is not None and any(step.inverse for step in steps) and _value(place, key, "inverse", changes) is False:
        more[key] = True
    noise = changes.get(NOISE, tuple(diagnosis.variant.graph.schema().noise))
    quiet = [pattern for pattern in noise if not any(fnmatchcase(step.relation, pattern) for step in steps)]
    if len(quiet) < len(noise):
        more[NOISE] = quiet
    return more


def _raised(place: Place, limits: Iterable[str], needed: Mapping[str, int], changes: Changes) -> dict[str, Any]:
    """Raise limits in every budget that has them: to a tested value, else until they count as lifted."""
    more: dict[str, Any] = {}
    for key, budget in budget_keys(place).items():
        for name in limits:
            own = changes.get(f"{key}.{name}", getattr(budget, name))
            if name in ("recall", "price"):
                more[f"{key}.{name}"] = raised(name, own)
            elif own is not None:
                value = needed.get(name, raised(name, own))
                more[f"{key}.{name}"] = value if value is None else max(value, own)
    return more


def _unpruned(place: Place, loss: Loss, changes: Changes) -> dict[str, Any]:
    """Suggest a setting under which the search keeps the path."""
    block, _, key_ = loss.setting.partition(".")
    name = key_.rpartition(".")[2]
    if block == "budget":
        return _raised(place, [name], {}, changes)
    key = key_of(place, key_) if key_ else None
    if key is None:
        return {}
    if name in ("width", "paths") and loss.rank is not None:
        present = _value(place, key, name, changes)
        return {key: max(loss.rank, present + 1 if isinstance(present, int) else 1)}
    if name == "long_width":
        return {key: None}
    if name in ("margin", "hop_margin"):
        if key in changes or not loss.winners:
            return {key: None}
        return {key: math.ceil((loss.winners[0].score - loss.path.score) * 1e4) / 1e4}
    if name == "fan_cost":
        return {key: 0.0}
    return {key: "default"} if name == "variant" else {}


def _present(diagnosis: Diagnosis, key: str) -> Any:
    """Return the present value under a key."""
    block, _, name = key.rpartition(".")
    if key == NOISE:
        return list(diagnosis.variant.graph.schema().noise)
    if key == TOPICS:
        return None
    if key == RELINK:
        return diagnosis.session.recipe.options.relink
    if block == "entity_linker" and diagnosis.session.linker is not None:
        return diagnosis.session.linker.settings().get(name)
    budget = budget_keys(diagnosis.place).get(block)
    if block.endswith(".search"):
        name = f"search.{name}"
    return getattr(budget, name) if budget is not None else setting(diagnosis.place.driver, name)
