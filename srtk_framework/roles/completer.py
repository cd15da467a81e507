"""The role of a completer."""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from srtk_framework.roles.answer_checks import check_numbers, check_rows
from srtk_framework.roles.base import Role, by_value, hook
from srtk_framework.values import Completion, DriverError, Literal, Pattern, Step, confidence, open_end


def completions_of_patterns(answer: Any, arguments: Mapping[str, Any], driver: str) -> Any:
    """Refuse completions that break the contract of ``complete``, as far as that shows without the graph."""
    limit = arguments["limit"]
    check_rows("complete", answer, Completion, "a Completion for each")
    for pattern, row in zip(arguments["patterns"], answer, strict=True):
        if limit is not None and len(row) > limit:
            raise DriverError(f"complete returned {len(row)} completions of {_text(pattern)}; the limit is {limit}")
        seen = set()
        before: tuple[float, Any] | None = None
        for one in row:
            fault = _fault(pattern, one)
            if fault:
                raise DriverError(f"complete returned {one!r} for {_text(pattern)}; {fault}")
            if one.triple in seen:
                raise DriverError(f"complete returned {_text(one.triple)} twice; return each triple once")
            seen.add(one.triple)
            place = (-one.confidence, one.triple)
            if before is not None and place < before:
                raise DriverError(
                    f"complete returned {_text(one.triple)} after a completion that it precedes; return the most"
                    " confident first, and equal ones by their triples"
                )
            before = place
    return answer


def _fault(pattern: Pattern, one: Any) -> str:
    """Return the fault of a completion by itself; empty if there is none."""
    if not isinstance(one, Completion):
        return "return a Completion"
    if any(bound not in (None, part) for bound, part in zip(pattern, one.triple, strict=True)):
        return "return triples that fit the pattern"
    if isinstance(one.triple.object if pattern.object is None else one.triple.subject, Literal):
        return "propose entities only"
    # NaN fails the comparison too.
    if not 0 <= one.confidence < 1 or confidence(one.confidence) != one.confidence:
        return "round the confidence by values.confidence, which keeps it at least 0 and below 1"
    return ""


def confidences_of_candidates(answer: Any, arguments: Mapping[str, Any], driver: str) -> Any:
    """Refuse confidences without exactly one number per candidate, at least 0 and below 1."""
    check_numbers("rate", answer, list(map(len, arguments["candidates"])), "candidates")
    for row in answer:
        if len(row) and not (min(row) >= 0 and max(row) < 1):
            worst = min(row) if min(row) < 0 else max(row)
            raise DriverError(f"rate returned {worst!r} for a candidate; a confidence is at least 0 and below 1")
    return answer


def steps_of_node_sets(answer: Any, arguments: Mapping[str, Any], driver: str) -> Any:
    """Refuse steps that are not sorted and distinct, and unwanted inverse steps."""
    check_rows("offers", answer, Step, "Steps")
    for row in answer:
        if any(a >= b for a, b in itertools.pairwise(row)):
            raise DriverError("offers returned steps that are not sorted and distinct; return sorted(set(steps))")
        if not arguments["inverse"] and any(step.inverse for step in row):
            raise DriverError("offers returned inverse steps where only forward ones are wanted; leave them out")
    return answer


def _text(parts: Sequence[str | None]) -> str:
    return f"({', '.join('?' if part is None else str(part) for part in parts)})"


class Completer(Role):
    """Proposes triples that its graph lacks.

    A completer has a ``KnowledgeGraph`` as need and reads it in ``open`` or when it is asked. A pattern binds the
    relation and one end; ``values.open_end`` reads it and refuses any other pattern. An entity or a relation that the
    completer does not know is no error: there is nothing to propose.
    """

    role = "completer"

    @hook(batch="patterns", key=by_value, answer=completions_of_patterns)
    @abstractmethod
    def complete(self, patterns: Sequence[Pattern], limit: int | None) -> Sequence[Sequence[Completion]]:
        """Propose entities for the open end of each pattern.

        Args:
            patterns: Each with a relation and exactly one open end.
            limit: Most completions per pattern; None for all that are found.

        Returns:
            Per pattern distinct completions that fit it and that the graph does not hold, by falling confidence, then
            by triple. A limit returns the first of them. Confidences are at least 0, below 1, and rounded by
            ``values.confidence``. The open end is filled by entities, never by literals.

        Raises:
            DriverError: For a pattern with no relation, or with no or two open ends.
        """

    @hook(
        batch=("patterns", "candidates"), key=(by_value, tuple), answer=confidences_of_candidates, needs=("complete",)
    )
    def rate(self, patterns: Sequence[Pattern], candidates: Sequence[Sequence[str]]) -> Sequence[Sequence[float]]:
        """Rate given entities as fillers of the open end of each pattern.

        Args:
            patterns: As for ``complete``.
            candidates: Per pattern ids of entities.

        Returns:
            Per pattern one confidence for each candidate, at least 0 and below 1: as in its completion where
            ``complete`` proposes it, else at most the least confidence of a completion; 0 for unknown ids. A
            candidate whose triple the graph holds may get any confidence.
        """
        found = self.complete(list(patterns), None)
        answers = []
        for pattern, completions, ids in zip(patterns, found, candidates, strict=True):
            subject_is_open = open_end(pattern)[1].inverse
            of_id = {
                one.triple.subject if subject_is_open else one.triple.object: one.confidence for one in completions
            }
            answers.append([of_id.get(id_, 0.0) for id_ in ids])
        return answers

    @hook(batch="node_sets", key=tuple, answer=steps_of_node_sets)
    def offers(self, node_sets: Sequence[Sequence[str]], inverse: bool) -> Sequence[Sequence[Step]]:
        """Return the steps that may be completed from some entity of each set; by default none.

        Args:
            node_sets: Ids of entities.
            inverse: Whether steps from object to subject are wanted too.

        Returns:
            Per set distinct steps, sorted. That a step is offered is no promise that every entity has a completion.
        """
        return [() for _ in node_sets]
