"""The ``llm`` reader: a generator answers from the triples, or replies that they do not suffice."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from srtk_framework.roles import Generator, KnowledgeGraph, Reader
from srtk_framework.text import FALLBACK, FIRST, REPAIRED, fold, name, numbered, triple_line
from srtk_framework.values import Answer, DriverError, Message, Prompt, Question, Reply, Subgraph, total, usage
from srtk_plugin_structgpt.templates import (
    READER_TEMPLATES,
    Template,
    call_record,
    digest,
    read_templates,
    token_fit,
)

TEMPLATE = "answer"

CORRECTION = (
    "This could not be read. Reply with nothing but a JSON object such as"
    ' {"enough": true, "answer": ["a name from the facts"], "triples": [1]},'
    ' or {"enough": false, "answer": [], "triples": []} if more facts are needed.'
)
"""Message that asks for another reply after one that could not be parsed."""

_MOST_ECHO = 2000
"""Most characters of a reply that could not be parsed shown to the generator again."""

_FENCE = re.compile(r"```[^\n`]*\n(.*?)```", re.DOTALL)
_MARKS = " \t\r\n.\"'`*"

_MOST_STARTS = 50
"""Most braces tried as the start of a JSON object; a degenerate reply may consist of braces."""


@attrs.frozen
class AnswerReply:
    """A parsed reply about an answer.

    Attributes:
        enough: Whether the facts suffice.
        answers: Names, as the reply writes them.
        numbers: Numbers of the facts that support the answer, sorted, without duplicates.
        beyond: How many of the numbers belong to no fact.
    """

    enough: bool
    answers: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()
    beyond: int = 0


def answer_schema(count: int, names: Sequence[str] = ()) -> dict[str, Any]:
    """Return the JSON schema of a reply, for generators that can enforce one.

    Lists have a maximum length, since small models continue a list for as long as they may.

    Args:
        count: Number of facts; there may be two answers for each.
        names: Allowed answers; empty for any text.
    """
    number = {"type": "integer", "minimum": 1, "maximum": count}
    answer = {"type": "string", "enum": list(names)} if names else {"type": "string"}
    return {
        "type": "object",
        "properties": {
            "enough": {"type": "boolean"},
            "answer": {"type": "array", "items": answer, "maxItems": 2 * count},
            "triples": {"type": "array", "items": number, "maxItems": count},
        },
        "required": ["enough", "answer", "triples"],
        "additionalProperties": False,
    }


def parse_answer(text: str, count: int, known: Mapping[str, Any], named: bool = False) -> AnswerReply | None:
    """Parse a reply about an answer.

    Accepts the JSON object that the prompt asks for, alone, in prose or in a code fence, and a reply that is nothing
    but a name from the facts. Never searches words for a refusal: `Norway` is an answer.

    Args:
        text: The reply.
        count: Number of facts.
        known: Names in the facts, folded.
        named: Whether to reject answers other than these names.

    Returns:
        The parsed reply; None if it is ambiguous or of another form.
    """
    text = text.rpartition("</think>")[2].strip()
    found = [value for value in _objects(text) if isinstance(value.get("enough"), bool)]
    if found:
        # A repeated object is accepted; objects that differ are ambiguous.
        reply = _answer_reply(found[0], count) if all(value == found[0] for value in found) else None
        foreign = named and reply is not None and any(fold(answer) not in known for answer in reply.answers)
        return None if foreign else reply
    bare = text.strip(_MARKS)
    return AnswerReply(True, (bare,)) if fold(bare) in known else None


def _answer_reply(value: Mapping[str, Any], count: int) -> AnswerReply | None:
    if not value["enough"]:
        return AnswerReply(False)
    given = _list(value.get("answer", value.get("answers")))
    answers = tuple(dict.fromkeys(str(item).strip() for item in given if isinstance(item, str | int | float)))
    answers = tuple(answer for answer in answers if answer)
    if not answers:
        return None
    numbers = {item for item in _list(value.get("triples")) if isinstance(item, int) and not isinstance(item, bool)}
    valid = {number for number in numbers if 1 <= number <= count}
    return AnswerReply(True, answers, tuple(sorted(valid)), len(numbers - valid))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects in a text: those in its code fences, or all if it has no fence."""
    decoder = json.JSONDecoder()
    starts = _MOST_STARTS
    for part in _FENCE.findall(text) or [text]:
        at = part.find("{")
        while at >= 0 and starts:
            starts -= 1
            try:
                value, end = decoder.raw_decode(part, at)
            except (ValueError, RecursionError):  # a reply may be any text
                end = at + 1
            else:
                yield value
            at = part.find("{", end)


@attrs.define
class _Request:
    """A question with the prompt that shows its triples, and the replies."""

    subgraph: Subgraph
    prompt: Prompt
    shown: int
    entities: Mapping[str, list[str]]
    replies: list[Reply] = attrs.field(factory=list)
    parsed: AnswerReply | None = None


@attrs.define(eq=False)
class LlmReader(Reader):
    """Answer from the triples alone, and name those that support the answer.

    Shows the first triples within `tokens`. If a reply cannot be parsed, asks once more; a second such reply counts as
    `not enough`, which the trace records. The entities of an answer are those shown that have it as their label.

    Attributes:
        graph: Source of labels.
        generator: Answers.
        tokens: Most tokens of the triples shown, as the generator counts them; null for all.
        named: Accept only names from the triples as answers, and enforce that by a JSON schema where the generator can;
            for small models, which use other words. Use `false` for answers such as counts, yes and no.
        prompts: YAML files that replace prompts, by the name of the prompt (`answer`).
    """

    graph: KnowledgeGraph
    generator: Generator
    tokens: int | None = 1024
    named: bool = False
    prompts: dict[str, str] = attrs.field(factory=dict)
    _template: Template | None = attrs.field(init=False, default=None, repr=False)

    def open(self) -> None:
        """Check the settings and read the prompt."""
        if self.tokens is not None and self.tokens < 1:
            raise DriverError(f"tokens is {self.tokens}; it must be at least 1")
        self._template = read_templates(self.prompts, READER_TEMPLATES)[TEMPLATE]

    def fingerprint(self) -> str:
        """Identify the graph, the generator, the settings and the wording of the prompt."""
        return (
            f"llm({self.graph.fingerprint()}, {self.generator.fingerprint()}, tokens={self.tokens},"
            f" named={self.named}, prompts={digest(self.prompts, READER_TEMPLATES)})"
        )

    def refuses(self) -> bool:
        """Return True; the prompt offers `not enough` as a reply."""
        return True

    def read(self, questions: Sequence[Question], subgraphs: Sequence[Subgraph]) -> list[Answer]:
        """Answer all questions with one call to the generator, and one more for replies that could not be parsed."""
        template = self._template
        if template is None:
            raise DriverError("the reader is not open; call open() first")
        requests = self._requests(template, questions, subgraphs)
        asked = [request for request in requests if request.shown]
        self._ask(asked, [request.prompt for request in asked])
        unclear = [request for request in asked if request.parsed is None and request.replies[-1].error is None]
        self._ask(unclear, [_corrected(request.prompt, request.replies[-1].text) for request in unclear])
        return [self._answer(template, request) for request in requests]

    def _requests(
        self, template: Template, questions: Sequence[Question], subgraphs: Sequence[Subgraph]
    ) -> list[_Request]:
        ids = sorted(
            {
                id_
                for one in subgraphs
                for row in (*one.triples, *(q for qualifiers in one.qualifiers for q in qualifiers))
                for id_ in row
            }
        )
        labels = dict(zip(ids, self.graph.labels(ids), strict=True))
        rows = [[triple_line(one, i, labels) for i in range(len(one.triples))] for one in subgraphs]
        requests = []
        sizes = token_fit(self.generator.count_tokens, rows, self.tokens)
        for question, one, row, size in zip(questions, subgraphs, rows, sizes, strict=True):
            nodes = dict.fromkeys(end for triple in one.triples[:size] for end in (triple.subject, triple.object))
            values = [value for qualifiers in one.qualifiers[:size] for _, value in qualifiers]
            names = tuple(dict.fromkeys(name(id_, labels) for id_ in (*nodes, *values)))
            # The value of a qualifier may be an answer, but is not an entity of the triples.
            entities: dict[str, list[str]] = {fold(text): [] for text in names}
            for id_ in nodes:
                entities[fold(name(id_, labels))].append(id_)
            texts = {"question": question.text, "triples": numbered(row[:size])}
            schema = answer_schema(size, names if self.named else ())
            prompt = template.prompt(texts, query=question.text, schema=schema)
            requests.append(_Request(one, prompt, size, entities))
        return requests

    def _ask(self, requests: Sequence[_Request], prompts: Sequence[Prompt]) -> None:
        if not requests:
            return
        for request, reply in zip(requests, self.generator.generate(prompts), strict=True):
            request.replies.append(reply)
            if reply.error is None:
                request.parsed = parse_answer(reply.text, request.shown, request.entities, self.named)

    def _answer(self, template: Template, request: _Request) -> Answer:
        parsed, triples = request.parsed, request.subgraph.triples
        how = FALLBACK if parsed is None else FIRST if len(request.replies) == 1 else REPAIRED
        fields: dict[str, Any] = {"shown": request.shown, "enough": parsed is not None and parsed.enough, "how": how}
        if parsed is not None and parsed.beyond:
            fields["beyond"] = parsed.beyond
        trace: dict[str, Any] = {"generator": usage(request.replies) if request.replies else total(())}
        trace["calls"] = [call_record(template, request.replies, **fields)] if request.replies else []
        if request.shown < len(triples):
            trace["unshown"] = len(triples) - request.shown
        if parsed is None or not parsed.enough:
            return Answer(enough=False, trace=trace)
        support = tuple(number - 1 for number in parsed.numbers)
        near = {id_ for i in support for id_ in (triples[i].subject, triples[i].object)}
        entities: list[str] = []
        for answer in parsed.answers:
            same = request.entities.get(fold(answer), [])
            # Of several entities with one name, those in the supporting triples are meant.
            entities += [id_ for id_ in same if id_ in near] or same
        return Answer(
            text=", ".join(parsed.answers), entities=tuple(dict.fromkeys(entities)), support=support, trace=trace
        )


def _corrected(prompt: Prompt, reply: str) -> Prompt:
    """Return the prompt that asks once more, showing the reply that could not be parsed."""
    if reply.strip():
        turns = (Message("assistant", reply[:_MOST_ECHO]), Message("user", CORRECTION))
        return attrs.evolve(prompt, messages=(*prompt.messages, *turns))
    # Many chat templates reject an empty turn, and two consecutive turns of one role.
    last = prompt.messages[-1]
    corrected = attrs.evolve(last, content=f"{last.content}\n\n{CORRECTION}")
    return attrs.evolve(prompt, messages=(*prompt.messages[:-1], corrected))
