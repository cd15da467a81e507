"""Handlers of sums, averages, distances and numbers that the graph has."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import attrs

from srtk_framework.values import Pattern, Step, rounded
from srtk_plugin_answers.answer_sources import Sources
from srtk_plugin_answers.answer_types import Arithmetic, arithmetic_of, measured_noun
from srtk_plugin_answers.choices import Choice
from srtk_plugin_answers.drafts import NO_RELATION, Case, Draft, looked_up
from srtk_plugin_answers.literal_values import fits, is_date, is_year, value_of
from srtk_plugin_answers.node_sets import Lead
from srtk_plugin_answers.question_classes import name_of, words_of
from srtk_plugin_answers.question_kinds import marked_text, unnamed_text

# Below the least likeness of a noun (`LIKE`): a difference is counted in a unit, which is rarely a relation's name.
_MEASURE = 0.2
_OF_MENTION = re.compile(r"\bhow many ¤ (?:is|are|was|were|did|do|does|have|has)\b")
_CALLED = re.compile(r"\b(?:called|named|the name(?: of)?) ¤\W*$")
_NOT_COUNTED = "how many of it there are the graph does not say; name the number that is asked for, such as a stock"


def by_arithmetic(sources: Sources, case: Case) -> Draft | None:
    """Answer with a sum, an average or a distance."""
    lead, text = case.operated.lead, unnamed_text(case.question)
    operation = arithmetic_of(text)
    if operation is None or not lead.values:
        return None
    noun = measured_noun(text) if operation == "distance" else None
    if noun is not None and not sources.likeness.is_like(case.operated, noun, Step(lead.facts["relation"]), _MEASURE):
        return Draft(operation, missing=f"the graph has no number of {noun} for what the question names")
    return calculated(sources, operation, lead)


def by_name(sources: Sources, case: Case) -> Draft | None:
    """Answer how many are called by a name: all nodes that have it, each with what the graph says of it."""
    if not _CALLED.search(marked_text(case.question)):
        return None
    names = {link.name or link.entity for link in case.question.links}
    nodes = [node for row in sources.graph.find(sorted(names)) for node in row]
    if len(names) != 1 or not nodes:
        return None
    rows = sources.graph.match([Pattern(node, None, None) for node in nodes])
    proof = [(row[0], None) for row in rows if row]
    return Draft(case.kind, tuple(nodes), proof, complete=True, number=len(nodes))


def by_number(sources: Sources, case: Case) -> Draft | None:
    """Answer how many by a number that the graph has, such as a population."""
    one = case.operated
    best = None if one.bounds else _best_number(case.found, one.lead)
    # Minutes from start are no rows of minutes.
    told = best is not None and _is_told(sources, case, best)
    if best is None or not (told if one.named else len(best.ends) == 1 or told):
        return None
    label = sources.likeness.label(best.path.steps[-1].relation)
    if _OF_MENTION.search(marked_text(case.question)) and not words_of(name_of(label)) <= words_of(case.question.text):
        return Draft(case.kind, missing=_NOT_COUNTED)
    if (noun := sources.likeness.unlike(case, best)) is not None:
        return Draft(case.kind, missing=NO_RELATION.format(noun=noun))
    if len(best.ends) > 1:  # the votes of a party are those of each candidate
        return attrs.evolve(looked_up(case, case.kind, [best]), number=None, likened=True)
    return attrs.evolve(looked_up(case, case.kind, [best]), number=value_of(next(iter(best.ends))))


def _is_told(sources: Sources, case: Case, choice: Choice) -> bool:
    """Return whether a question counts what the relation of a number is called, or has its several words."""
    label = words_of(name_of(sources.likeness.label(choice.path.steps[-1].relation)))
    if any(label == words_of(phrase) for phrase in case.operated.phrases):
        return True
    return len(label) > 1 and label <= words_of(case.question.text)


def calculated(sources: Sources, operation: Arithmetic, lead: Lead) -> Draft:
    """Add values up, or take them from each other; dates are apart by years."""
    dated = all(is_date(triple.object) for triple in lead.values.values())
    numbers = [value for triple in lead.values.values() if (value := value_of(triple.object)) is not None]
    if operation == "distance":
        first, second = (int(value) if dated else value for value in numbers[:2])
        number, unit = abs(first - second), "years" if dated else ""
    else:
        number, unit = math.fsum(numbers) / (len(numbers) if operation == "average" else 1), ""
    return Draft(
        operation,
        tuple(lead.values),
        proof=lead.proof,
        complete=bool(lead.facts.get("complete")),
        score=lead.score,
        margin=lead.margin,
        path=lead.path,
        relation=lead.facts["relation"],
        number=rounded(number),
        unit=unit or sources.likeness.label(lead.facts["relation"]),
    )


def _best_number(found: Sequence[Choice], lead: Lead) -> Choice | None:
    """Return the best path if it ends in numbers, such as a population, and is better than the path to the set."""
    best = max(found, key=lambda choice: choice.path.score, default=None)
    if best is None or (lead.path is not None and lead.path.score > best.path.score):
        return None
    return best if all(fits(end, "number") and not is_year(value_of(end) or 0.0) for end in best.ends) else None
