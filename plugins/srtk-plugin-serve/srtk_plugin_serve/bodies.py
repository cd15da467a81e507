"""Bodies of requests."""

from __future__ import annotations

from typing import Any

import attrs

from srtk_framework.run import Limits
from srtk_framework.values import Link, Question

MOST_QUESTIONS = 10_000
"""Questions of one request to ``/ask-many``; a client with more of them sends several requests."""

MOST_TRIPLES = 10_000
"""Triples of one answer; more than that are a snapshot, which `srtk graph pull` makes."""

DEEPEST = 5
"""Steps of a path between two entities; the number of paths grows tenfold and more with each step."""


@attrs.frozen
class Asked:
    """A question, and how it is answered.

    Attributes:
        question: The text.
        id: Name of the question in the answer; empty for a number.
        entities: Entities of the graph that the question is about, in place of those a linker would find.
        method: Name of an expander of the recipe; by default the main expander.
        read: Whether the reader answers.
        timeout: Seconds after which the request fails.
        triples: Most triples of the subgraph, at most as many as the recipe allows.
        tokens: Most tokens of its text.
        depth: Most steps of a path.
        seconds: Seconds after which no further hop starts.
    """

    question: str
    id: str = ""
    entities: list[str] | None = None
    method: str | None = None
    read: bool = True
    timeout: float | None = None
    triples: int | None = None
    tokens: int | None = None
    depth: int | None = None
    seconds: float | None = None

    def as_question(self, number: int = 0) -> Question:
        """Return the question with its links."""
        links = tuple(Link(entity) for entity in self.entities or ())
        return Question(self.id or str(number), self.question, links)

    @property
    def limits(self) -> Limits | None:
        """The limits of the call; None leaves the recipe's limits."""
        given = {name: getattr(self, name) for name in ("triples", "tokens", "depth", "seconds")}
        return Limits(**given) if any(value is not None for value in given.values()) else None


@attrs.frozen
class Many:
    """Questions that are answered alike, in a stream.

    Attributes:
        questions: The questions, texts or objects as of ``/ask`` with ``question``, ``id`` and ``entities`` alone.
        method: Name of an expander of the recipe.
        read: Whether the reader answers.
        timeout: Seconds for all of them.
        triples: Most triples of a subgraph.
    """

    questions: list[Any]
    method: str | None = None
    read: bool = True
    timeout: float | None = None
    triples: int | None = None

    def as_questions(self) -> list[Question]:
        """Return the questions, numbered from 0.

        Raises:
            ValueError: Naming the item that is no question, or where there are too many.
        """
        if len(self.questions) > MOST_QUESTIONS:
            raise ValueError(f"{len(self.questions):,} questions; send at most {MOST_QUESTIONS:,} in one request")
        return [_question(number, item) for number, item in enumerate(self.questions)]


@attrs.frozen
class Texts:
    """Texts with entities to be found.

    Attributes:
        texts: Questions or sentences.
        near: Most entities with similar names that are suggested for a text without links.
        timeout: Seconds after which the request fails.
    """

    texts: list[str]
    near: int = 5
    timeout: float | None = None


@attrs.frozen
class Around:
    """Entities whose triples are wanted.

    Attributes:
        entities: Ids.
        triples: Most triples of an entity.
        timeout: Seconds after which the request fails.
    """

    entities: list[str]
    triples: int = 20
    timeout: float | None = None

    def __attrs_post_init__(self) -> None:
        _check("triples", self.triples, MOST_TRIPLES)


@attrs.frozen
class Between:
    """Two entities whose connections are wanted.

    Attributes:
        start: Id of the first entity.
        end: Id of the last entity.
        depth: Most steps of a path.
        triples: Most triples.
        timeout: Seconds after which the request fails.
    """

    start: str
    end: str
    depth: int = 3
    triples: int = 50
    timeout: float | None = None

    def __attrs_post_init__(self) -> None:
        _check("depth", self.depth, DEEPEST)
        _check("triples", self.triples, MOST_TRIPLES)


@attrs.frozen
class Missing:
    """A question whose answers did not come.

    Attributes:
        question: The text.
        answers: Ids or names of the right answers.
        timeout: Seconds after which the request fails.
    """

    question: str
    answers: list[str]
    timeout: float | None = None


def _check(name: str, value: int, most: int) -> None:
    """Refuse a number that is too small or too large.

    Raises:
        ValueError: With the bounds.
    """
    if not 1 <= value <= most:
        raise ValueError(f"{name}: it is {value}; give a number from 1 to {most:,}")


def _question(number: int, item: Any) -> Question:
    if isinstance(item, str):
        return Question(str(number), item)
    text = item.get("question") if isinstance(item, dict) else None
    if not isinstance(text, str):
        fault = f"questions[{number}]: it is neither a text nor an object with `question`"
        raise ValueError(fault)  # noqa: TRY004 - a fault of the request, not of the program
    if unknown := sorted(set(item) - {"question", "id", "entities"}):
        raise ValueError(f"questions[{number}]: it has {', '.join(unknown)}; give question, id and entities alone")
    entities = item.get("entities") or []
    if not isinstance(entities, list) or not all(isinstance(one, str) for one in entities):
        raise ValueError(f"questions[{number}].entities: it is no list of ids")
    return Asked(text, str(item.get("id", "")), entities).as_question(number)
