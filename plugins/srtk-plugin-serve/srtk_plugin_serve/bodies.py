"""Bodies of requests."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from srtk_framework.run import Limits
from srtk_framework.values import Link, Question

MOST_QUESTIONS = 10_000
"""Questions of one request to ``/ask-many``; a client with more of them sends several requests."""

SECONDS = 60.0
"""Seconds of a call by default: clients and proxies give up after about as many."""

LONGEST = 3600.0
"""Most seconds of a call."""

MOST_ITEMS = 1_000
"""Texts or entities of one request: a second or two of work."""

MOST_CHARACTERS = 20_000
"""Characters of a text, as of a question."""

MOST_TRIPLES = 10_000
"""Triples of one answer; more than that are a snapshot, which `srtk graph pull` makes."""

DEEPEST = 5
"""Steps of a path between two entities; the number of paths grows tenfold and more with each step."""


class Linked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A link, as ``/link`` gives it.

    Attributes:
        entity: Id of the entity.
        start: Place in the question where the words that name it begin, counted in characters from 0.
        end: Place behind them.
        name: Its name.
        score: Its score.
    """

    entity: str
    start: int | None = None
    end: int | None = None
    name: str | None = None
    score: float | None = None

    def within(self, text: str) -> Link:
        """Return the link in a text.

        Raises:
            ValueError: If its place is not in the text.
        """
        if (self.start, self.end) == (None, None):
            return Link(self.entity, name=self.name or "")
        if self.start is None or self.end is None or not 0 <= self.start < self.end <= len(text):
            raise ValueError(
                f"entities: {self.entity} stands from {self.start} to {self.end} in a question of {len(text):,}"
                " characters; give its place there, or none"
            )
        return Link(self.entity, start=self.start, end=self.end, name=self.name or "")


class Asked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question, and how it is answered.

    Attributes:
        question: The text.
        id: Name of the question in the answer; empty for a number.
        entities: Entities of the graph that the question is about, in place of those a linker would find: ids, or links
            as ``/link`` gives them.
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
    entities: list[str | Linked] | None = None
    method: str | None = None
    read: bool = True
    timeout: float = SECONDS
    triples: int | None = None
    tokens: int | None = None
    depth: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        _check_seconds(self.timeout)

    def as_question(self, number: int = 0) -> Question:
        """Return the question with its links."""
        links = tuple(Link(one) if isinstance(one, str) else one.within(self.question) for one in self.entities or ())
        return Question(self.id or str(number), self.question, links)

    @property
    def limits(self) -> Limits | None:
        """The limits of the call; None leaves the recipe's limits."""
        given = {name: getattr(self, name) for name in ("triples", "tokens", "depth", "seconds")}
        return Limits(**given) if any(value is not None for value in given.values()) else None


class Many(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
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
    timeout: float = LONGEST
    triples: int | None = None

    def __post_init__(self) -> None:
        _check_seconds(self.timeout)

    def as_questions(self) -> list[Question]:
        """Return the questions, numbered from 0.

        Raises:
            ValueError: Naming the item that is no question, or where there are too many.
        """
        if len(self.questions) > MOST_QUESTIONS:
            raise ValueError(f"{len(self.questions):,} questions; send at most {MOST_QUESTIONS:,} in one request")
        return [_question(number, item) for number, item in enumerate(self.questions)]


class Texts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Texts with entities to be found.

    Attributes:
        texts: Questions or sentences.
        near: Most entities with similar names that are suggested for a text without links.
        names: Whether each text is a name, or an id: all entities with it are given, those with the most triples first,
            and similar names besides.
        timeout: Seconds after which the request fails.
    """

    texts: list[str]
    near: int = 5
    names: bool = False
    timeout: float = SECONDS

    def __post_init__(self) -> None:
        _check("texts, their number", len(self.texts), MOST_ITEMS)
        _check("the characters of a text", max(map(len, self.texts)) or 1, MOST_CHARACTERS)
        _check_seconds(self.timeout)


class Around(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Entities whose triples are wanted.

    Attributes:
        entities: Ids.
        triples: Most triples of an entity.
        timeout: Seconds after which the request fails.
    """

    entities: list[str]
    triples: int = 20
    timeout: float = SECONDS

    def __post_init__(self) -> None:
        _check("entities, their number", len(self.entities), MOST_ITEMS)
        _check("triples", self.triples, MOST_TRIPLES)
        _check_seconds(self.timeout)


class Between(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
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
    timeout: float = SECONDS

    def __post_init__(self) -> None:
        _check("depth", self.depth, DEEPEST)
        _check("triples", self.triples, MOST_TRIPLES)
        _check_seconds(self.timeout)


class Missing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question whose answers did not come.

    Attributes:
        question: The text.
        answers: Ids or names of the right answers.
        timeout: Seconds after which the request fails.
    """

    question: str
    answers: Annotated[list[str], msgspec.Meta(min_length=1)]
    timeout: float = SECONDS

    def __post_init__(self) -> None:
        _check_seconds(self.timeout)


class Chat(msgspec.Struct, frozen=True):
    """A request in the protocol of OpenAI; its other fields mean nothing to a graph.

    Attributes:
        messages: The conversation; the last text of the user is the question.
        stream: Whether the answer comes as events.
        stream_options: With ``include_usage`` the last event counts tokens.
    """

    messages: Annotated[list[dict[str, Any]], msgspec.Meta(min_length=1)]
    stream: bool | None = False
    stream_options: dict[str, Any] | None = None


class Fault(msgspec.Struct, frozen=True):
    """An error.

    Attributes:
        error: The fault and its remedy, in one sentence.
    """

    error: str


def _check_seconds(value: float) -> None:
    if not 0 <= value <= LONGEST:
        raise ValueError(f"timeout: it is {value:g}; give seconds from 0 to {LONGEST:g}")


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
    try:
        given = msgspec.convert(entities, list[str | Linked])
    except msgspec.ValidationError as error:
        raise ValueError(f"questions[{number}].entities: it is no list of ids or links") from error
    return Asked(text, str(item.get("id", "")), given).as_question(number)
