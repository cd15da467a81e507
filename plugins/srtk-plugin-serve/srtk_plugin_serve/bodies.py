"""Bodies of requests."""

from __future__ import annotations

import json
import re
from typing import Annotated, Any

import msgspec
from litestar.exceptions import NotFoundException

from srtk_framework.run import Limits
from srtk_framework.values import Link, Question

MOST_QUESTIONS = 10_000
"""Questions of one request to ``/ask-many``; a client with more of them sends several requests."""

MODEL = "srtk"
"""Name of the only model of a chat."""

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


Seconds = Annotated[float, msgspec.Meta(ge=0, le=LONGEST)]
"""Seconds of a call."""

Count = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
"""A limit of a call; the recipe's own limits hold besides."""

Triples = Annotated[int, msgspec.Meta(ge=1, le=MOST_TRIPLES)]
"""Triples of one answer."""

Id = Annotated[str, msgspec.Meta(min_length=1)]
"""Id of an entity."""

_some = msgspec.Meta(min_length=1, max_length=MOST_ITEMS)

_text = {"type": "string", "minLength": 1}
_part = {"anyOf": [_text, {"type": "object", "required": ["text"], "properties": {"text": _text}}]}
_spoken = {"anyOf": [_text, {"type": "array", "contains": _part}]}
_user = {
    "type": "object",
    "required": ["role", "content"],
    "properties": {"role": {"const": "user"}, "content": _spoken},
}


class Linked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A link, as ``/link`` gives it.

    Attributes:
        entity: Id of the entity.
        start: Place in the question where the words that name it begin, counted in characters from 0.
        end: Place behind them.
        name: Its name.
        score: Its score.
    """

    entity: Id
    start: int | None = None
    end: int | None = None
    name: str | None = None
    score: float | None = None

    def within(self, text: str) -> Link:
        """Return the link in a text.

        Raises:
            NotFoundException: If its place is not in the text, which no schema can say.
        """
        if (self.start, self.end) == (None, None):
            return Link(self.entity, name=self.name or "")
        if self.start is None or self.end is None or not 0 <= self.start < self.end <= len(text):
            raise NotFoundException(
                f"entities: {self.entity} stands from {self.start} to {self.end} in a question of {len(text):,}"
                " characters; give its place there, or none"
            )
        return Link(self.entity, start=self.start, end=self.end, name=self.name or "")


class Item(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question of several.

    Attributes:
        question: The text.
        id: Name of the question in the answer; by default its number.
        entities: Entities of the graph that the question is about, in place of those a linker would find: ids, or links
            as ``/link`` gives them.
    """

    question: str
    id: str | int = ""
    entities: list[Id | Linked] | None = None

    def as_question(self, number: int = 0) -> Question:
        """Return the question with its links."""
        links = tuple(Link(one) if isinstance(one, str) else one.within(self.question) for one in self.entities or ())
        return Question(str(self.id) or str(number), self.question, links)


class Asked(Item, frozen=True, forbid_unknown_fields=True):
    """A question, and how it is answered.

    Attributes:
        method: Name of an expander of the recipe; by default the main expander.
        read: Whether the reader answers.
        timeout: Seconds after which the request fails.
        triples: Most triples of the subgraph, at most as many as the recipe allows.
        tokens: Most tokens of its text.
        depth: Most steps of a path.
        seconds: Seconds after which no further hop starts.
    """

    method: str | None = None
    read: bool = True
    timeout: Seconds = SECONDS
    triples: Count | None = None
    tokens: Count | None = None
    depth: Count | None = None
    seconds: Annotated[float, msgspec.Meta(gt=0, le=LONGEST)] | None = None

    @property
    def limits(self) -> Limits | None:
        """The limits of the call; None leaves the recipe's limits."""
        given = {name: getattr(self, name) for name in ("triples", "tokens", "depth", "seconds")}
        return Limits(**given) if any(value is not None for value in given.values()) else None


class Many(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Questions that are answered alike, in a stream.

    Attributes:
        questions: The questions, texts or objects.
        method: Name of an expander of the recipe.
        read: Whether the reader answers.
        timeout: Seconds for all of them.
        triples: Most triples of a subgraph.
    """

    questions: Annotated[list[str | Item], msgspec.Meta(max_length=MOST_QUESTIONS)]
    method: str | None = None
    read: bool = True
    timeout: Seconds = LONGEST
    triples: Count | None = None

    def as_questions(self) -> list[Question]:
        """Return the questions, numbered from 0."""
        items = (Item(item) if isinstance(item, str) else item for item in self.questions)
        return [item.as_question(number) for number, item in enumerate(items)]


class Texts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Texts with entities to be found.

    Attributes:
        texts: Questions or sentences.
        near: Most entities with similar names that are suggested for a text without links.
        names: Whether each text is a name, or an id: all entities with it are given, those with the most triples first,
            and similar names besides.
        timeout: Seconds after which the request fails.
    """

    texts: Annotated[list[Annotated[str, msgspec.Meta(max_length=MOST_CHARACTERS)]], _some]
    near: Annotated[int, msgspec.Meta(ge=0, le=MOST_ITEMS)] = 5
    names: bool = False
    timeout: Seconds = SECONDS


class Around(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Entities whose triples are wanted.

    Attributes:
        entities: Ids.
        triples: Most triples of an entity.
        timeout: Seconds after which the request fails.
    """

    entities: Annotated[list[Id], _some]
    triples: Triples = 20
    timeout: Seconds = SECONDS


class Between(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Two entities whose connections are wanted.

    Attributes:
        start: Id of the first entity.
        end: Id of the last entity.
        depth: Most steps of a path.
        triples: Most triples.
        timeout: Seconds after which the request fails.
    """

    start: Id
    end: Id
    depth: Annotated[int, msgspec.Meta(ge=1, le=DEEPEST)] = 3
    triples: Triples = 50
    timeout: Seconds = SECONDS


class Missing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question whose answers did not come.

    Attributes:
        question: The text.
        answers: Ids or names of the right answers.
        timeout: Seconds after which the request fails.
    """

    question: str
    answers: Annotated[list[str], msgspec.Meta(min_length=1)]
    timeout: Seconds = SECONDS


class Chat(msgspec.Struct, frozen=True):
    """A request in the protocol of OpenAI; its other fields mean nothing to a graph.

    Attributes:
        messages: The conversation; the last message of the user is the question.
        model: Name of the only model.
        stream: Whether the answer comes as events.
        stream_options: With ``include_usage`` the last event counts tokens.
    """

    messages: Annotated[list[dict[str, Any]], msgspec.Meta(min_length=1, extra_json_schema={"contains": _user})]
    model: str = MODEL
    stream: bool | None = False
    stream_options: dict[str, Any] | None = None


class Fault(msgspec.Struct, frozen=True):
    """An error.

    Attributes:
        error: The fault and its remedy, in one sentence.
    """

    error: str


class Said(msgspec.Struct, frozen=True):
    """A fault as clients of OpenAI read it.

    Attributes:
        message: The fault and its remedy, in one sentence.
        code: The status of the response.
        type: Always ``error``.
        param: Always None.
    """

    message: str
    code: int
    type: str = "error"
    param: None = None


class ChatFault(msgspec.Struct, frozen=True):
    """An error of a chat.

    Attributes:
        error: The fault.
    """

    error: Said


BODIES = (Asked, Many, Texts, Around, Between, Missing, Chat)


def _number(text: str) -> float:
    """Read a number with a point; JSON Schema holds 5.0 for an integer."""
    value = float(text)
    return int(value) if value.is_integer() else value


_JSON = msgspec.json.Decoder(float_hook=_number)


def check(body: bytes, kind: Any) -> None:
    """Check the body of a request by its schema.

    Raises:
        ValueError: With the place and the fault.
    """
    try:
        msgspec.convert(_JSON.decode(body), kind)
    except UnicodeDecodeError:
        raise ValueError("body: it is not in UTF-8") from None
    except msgspec.DecodeError as error:
        fault, _, place = str(error).partition(" - at `$")
        if not isinstance(error, msgspec.ValidationError) and _HALF.search(body) and _is_json(body):
            fault = r"a text has half of a character (\ud800 to \udfff, not in pairs); send whole characters"
        raise ValueError(f"{place.strip('.`').removeprefix('[...]') or 'body'}: {fault}") from None


_HALF = re.compile(rb"\\u[dD][89a-fA-F]")


def _is_json(body: bytes) -> bool:
    try:
        json.loads(body)
    except ValueError:
        return False
    return True


def schemas() -> dict[str, Any]:
    """Return the JSON schemas of the bodies by name."""
    _, found = msgspec.json.schema_components(BODIES, ref_template="#/components/schemas/{name}")
    return dict(found)
