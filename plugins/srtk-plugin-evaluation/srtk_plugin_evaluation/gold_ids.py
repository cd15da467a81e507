"""Gold answers that a graph, or all results, lack: reported once, with their number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from srtk_framework.graph import is_value, names_of, with_ids_of_result
from srtk_framework.records import field_of_gold
from srtk_framework.roles import KnowledgeGraph
from srtk_framework.values import DriverError, Question, Retrieval, batched
from srtk_plugin_evaluation.columns import COLUMNS

_SHOWN = 3  # Examples in a message, enough to see how the ids are spelled.
_WITHOUT_GOLD = frozenset(column.name for column in COLUMNS if not column.gold)
_AT_ONCE = 1000


class GoldIds:
    """Collects the distinct gold answers of questions, and which of them are nodes of a result.

    Literals, numbers, dates and yes or no are values, which are not looked for among the ids of a graph.

    Attributes:
        fields: Fields of public sets from which gold answers were read, with their numbers of questions.
    """

    def __init__(self) -> None:
        self.fields: dict[str, int] = {}
        self._answers: dict[str, bool] = {}  # whether each is a node of a result
        self._nodes: dict[str, None] = {}

    def take_fields(self, questions: Iterable[Question]) -> None:
        """Count the fields from which questions have their answers; they are the same for all methods."""
        self.fields = dict(Counter(field for one in questions if (field := field_of_gold(one)) is not None))

    def add(self, retrieval: Retrieval) -> None:
        """Take the gold answers of a question, and compare them with the nodes of its result."""
        same = with_ids_of_result(retrieval)
        wanted = [answer for answer in same.question.answers or () if not is_value(answer)]
        for answer in wanted:
            self._answers.setdefault(answer, False)
        nodes = {end for triple in same.subgraph.triples for end in (triple.subject, triple.object)}
        if same.answer is not None:
            nodes.update(same.answer.entities)
        self._answers.update((name, True) for node in nodes for name in names_of(node) if name in self._answers)
        if len(self._nodes) < _SHOWN:
            self._nodes.update(dict.fromkeys(sorted(nodes)[:_SHOWN]))

    def report(self, graph: KnowledgeGraph | None) -> dict[str, Any] | None:
        """Count the answers that are no ids of the graph, or, without a graph, that are in no result at all.

        Returns:
            ``answers``, the number of distinct gold answers that may be ids; ``unknown``, how many are none; and
            ``examples``; without a graph also ``nodes``, ids of the results. Where the graph cannot be asked now,
            ``answers`` and ``unchecked``, its error: a server that is away, or a recording that lacks the question,
            does not spoil a finished evaluation. None if no answer is missing.
        """
        missing = [answer for answer, found in self._answers.items() if not found]
        if graph is not None:
            return _looked_up(graph, len(self._answers), missing)
        if len(missing) < len(self._answers) or not self._nodes:
            return None
        counted = _counted(len(self._answers), missing)
        return None if counted is None else {**counted, "nodes": list(self._nodes)[:_SHOWN]}


def unknown_answers(graph: KnowledgeGraph, questions: Iterable[Question]) -> dict[str, Any] | None:
    """Count the distinct gold answers of questions that are no ids of a graph; see ``GoldIds.report``."""
    answers = dict.fromkeys(a for question in questions for a in question.answers or () if not is_value(a))
    return _looked_up(graph, len(answers), list(answers))


def unknown_ids(graph: KnowledgeGraph, ids: Sequence[str]) -> list[str]:
    """Return the ids without any triple in a graph.

    Raises:
        DriverError: If the graph cannot be asked now.
    """
    found: list[str] = []
    for some in batched(ids, _AT_ONCE):
        frontiers = graph.frontiers([[id_] for id_ in some])
        found += [id_ for id_, frontier in zip(some, frontiers, strict=True) if not frontier.size]
    return found


def _looked_up(graph: KnowledgeGraph, answers: int, ids: Sequence[str]) -> dict[str, Any] | None:
    try:
        unknown = unknown_ids(graph, ids)
    except DriverError as error:
        return {"answers": answers, "unchecked": str(error)}
    return _counted(answers, unknown)


def _counted(answers: int, unknown: Sequence[str]) -> dict[str, Any] | None:
    return {"answers": answers, "unknown": len(unknown), "examples": list(unknown[:_SHOWN])} if unknown else None


def scored(report: Mapping[str, Any]) -> bool:
    """Return whether a report has any figure that needs gold."""
    metrics = (metric for found in report["methods"].values() for metric, value in found.items() if value["n"])
    return any(metric not in _WITHOUT_GOLD for metric in metrics) or "linking" in report or "completion" in report


def read_from(fields: Mapping[str, int]) -> str:
    """Name the fields of public sets with gold answers."""
    listed = ", ".join(f"{field} ({count} questions)" for field, count in sorted(fields.items()))
    return f"gold answers are read from {listed}, since there is no answer_entities"


def unread(fields: Mapping[str, int]) -> str:
    """Explain that there is nothing to score, and name the fields with unread gold."""
    listed = ", ".join(f"{field} ({count} questions)" for field, count in sorted(fields.items()))
    return (
        f"no question has gold to score, as no gold answers could be read from {listed}; write them as a list of ids in"
        " answer_entities, or read the set by its dataset, such as `questions: {use: webqsp, path: FILE}`"
    )


def sentence(report: Mapping[str, Any]) -> str:
    """Describe the gold answers that are no ids of the graph, or are in no result, with a remedy."""
    if "unchecked" in report:
        return (
            f"whether the {report['answers']} gold answers are ids of this graph could not be checked:"
            f" {report['unchecked']}; answers in another spelling count as not found, so evaluate again when it can be"
            " asked"
        )
    examples = ", ".join(report["examples"])
    if "nodes" in report:
        return (
            f"none of the {report['answers']} gold answers is a node of any result, e.g. {examples}, where the results"
            f" have {', '.join(report['nodes'])}; if these are other spellings, name the graph by -kg"
        )
    return (
        f"{report['unknown']} of {report['answers']} gold answers are not ids of this graph, e.g. {examples}; they can"
        " never be found, so check their spelling, or build the graph from data that has them"
    )
