"""Results of tools: typed for programs, and as a text that fits into a prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

# pydantic takes typing's own TypedDict from Python 3.12 on.
from typing_extensions import TypedDict

from srtk_framework.run import Result
from srtk_framework.text import answer_line, answer_notes, count_tokens, lacking
from srtk_framework.values import Link, on_one_line

TOKENS = 2_000
"""Most tokens of a text: a dozen calls still fit into the context of a small model."""


class Fact(TypedDict):
    """A triple of the graph, or one that it lacks: its confidence is below 1 then."""

    number: int
    subject: str
    relation: str
    object: str
    ids: list[str]
    source: str
    score: float
    confidence: float


class Entity(TypedDict):
    """An entity of the graph."""

    entity: str
    name: str
    score: float


class Found(TypedDict):
    """The triples that a tool found, with the paths that led to them."""

    entities: list[Entity]
    facts: list[Fact]
    paths: list[str]
    left_out: dict[str, str]
    near: list[Entity]
    notes: list[str]
    error: str


class Answered(Found):
    """An answer with the triples it rests on; without an answer, ``error`` says why."""

    answer: str
    answer_entities: list[str]
    certainty: str
    support: list[int]


class Linked(TypedDict):
    """Entities in a text."""

    entities: list[Entity]
    near: list[Entity]


class Described(TypedDict):
    """A graph and the drivers that are asked."""

    graph: str
    namespaces: dict[str, str]
    drivers: dict[str, str]
    most_triples: int
    methods: list[str]


def entities(links: Sequence[Link], labels: Mapping[str, str] | None = None) -> list[Entity]:
    """Return linked entities with their names."""
    names = labels or {}
    return [
        Entity(entity=link.entity, name=on_one_line(link.name or names.get(link.entity, link.entity)), score=link.score)
        for link in links
    ]


def found(result: Result) -> Found:
    """Return the triples of a result."""
    subgraph = result.retrieval.subgraph
    facts = [
        Fact(
            number=number,
            subject=result.label(triple.subject),
            relation=result.label(triple.relation),
            object=result.label(triple.object),
            ids=[str(part) for part in triple],
            source=subgraph.provenance[number - 1] if subgraph.provenance else "",
            score=subgraph.scores[number - 1] if subgraph.scores else 0.0,
            confidence=subgraph.confidences[number - 1] if subgraph.confidences else 1.0,
        )
        for number, triple in enumerate(subgraph.triples, 1)
    ]
    steps = [f"{path.entity} {' '.join(map(str, path.steps))}".strip() for path in subgraph.paths]
    left: Mapping[str, Any] = {**subgraph.trace.get("cut", {}), **subgraph.trace.get("left_out", {})}
    return Found(
        entities=entities(result.links, result.labels),
        facts=facts,
        paths=steps,
        left_out={name: str(count) for name, count in left.items()},
        near=entities(result.near),
        notes=[on_one_line(note) for note in answer_notes(result.answer, subgraph, result.labels)],
        error=result.reason or str(subgraph.trace.get("reason", "")),
    )


def answered(result: Result) -> Answered:
    """Return the answer of a result with its triples."""
    answer, subgraph, content = result.answer, result.retrieval.subgraph, found(result)
    given = answer is not None and not result.refusal
    content["error"] = result.refusal or content["error"]
    return Answered(
        **content,
        answer=on_one_line(answer_line(answer, subgraph)) if answer is not None and given else "",
        answer_entities=[str(entity) for entity in answer.entities] if answer is not None and given else [],
        certainty=(answer.certainty or "") if answer is not None and given else "",
        support=[place + 1 for place in answer.support] if answer is not None and given else [],
    )


def text_of(head: Sequence[str], facts: Sequence[Fact], left: Mapping[str, str], tokens: int = TOKENS) -> str:
    """Write facts as numbered lines within a number of tokens.

    Args:
        head: Lines above the facts.
        facts: The facts.
        left: Relations, or limits, and the number of triples that they leave out.
        tokens: Most tokens.

    Returns:
        The text. Its last lines count the facts that it leaves out, and the triples that stayed in the graph.
    """
    lines = [
        f"[{one['number']}] {one['subject']} - {one['relation']} - {one['object']}{lacking(one['confidence'])}"
        for one in facts
    ]
    more = ", ".join(f"{name} {count}" for name, count in left.items())
    tail = [f"Left out of the graph: {more}"] if more else []
    room = tokens - count_tokens("\n".join([*head, *tail])) - _NOTE
    kept: list[str] = []
    for line in lines:
        room -= count_tokens(line)
        if room < 0:
            tail.insert(0, f"({len(lines) - len(kept)} further triples are in the structured content)")
            break
        kept.append(line)
    return _cut("\n".join([*head, *kept, *tail]), tokens)


_NOTE = 20
"""Tokens kept for the sentence about further triples."""


def _cut(text: str, tokens: int) -> str:
    """Cut a text whose head alone is too long, at a word."""
    words = text.split(" ")
    while len(words) > 1 and count_tokens(" ".join(words)) > tokens:
        words = words[: max(1, len(words) * 9 // 10)]
        if count_tokens(" ".join(words)) <= tokens - 1:
            return " ".join(words) + " …"
    return " ".join(words)
