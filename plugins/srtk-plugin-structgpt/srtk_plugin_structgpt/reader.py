"""The ``llm`` reader: a generator answers from the triples and cites them, or replies that they do not suffice."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from srtk_framework.roles import Generator, KnowledgeGraph, Reader, not_open
from srtk_framework.text import fold
from srtk_framework.values import (
    Alternative,
    Answer,
    Prompt,
    Question,
    Reply,
    Subgraph,
    at_least,
    total,
    usage,
)
from srtk_plugin_structgpt.answer_reply import AnswerReply, answer_schema, parse_answer
from srtk_plugin_structgpt.graph_text import fact_lines, harmless, harmless_labels
from srtk_plugin_structgpt.option_choice import FALLBACK, FIRST, REPAIRED, corrected, numbered
from srtk_plugin_structgpt.shown_facts import ShownFacts, is_value, shown_facts
from srtk_plugin_structgpt.templates import READER_TEMPLATES, Template, call_record, digest, read_templates, token_fit

TEMPLATE, WITH_HINT = READER_TEMPLATES

# What became of a hint: the reply gives the same answer, gives none that can be taken, or gives another one.
AGREED, KEPT, OVERRULED = "agreed", "kept", "overruled"

_FORM = (
    " Reply with nothing but a JSON object such as"
    ' {"enough": true, "answer": ["a name from the facts"], "triples": [1]},'
    ' or {"enough": false, "answer": [], "triples": []} if more facts are needed.'
)

CORRECTION = f"This could not be read.{_FORM}"  # Message that asks for another reply after one that could not be parsed

UNGROUNDED = f"No fact holds this answer.{_FORM}"
"""Message that asks for another reply after an answer that is no name in the facts, and no number, date, yes or no."""

_NO_FACT = "the facts shown hold none of the answers that the generator gave"

_ALTERNATIVES = 4
_DIGITS = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,15})?")


@attrs.define
class _Request:
    """A question with the prompt that shows its triples, and the replies.

    Attributes:
        subgraph: The subgraph of the prompt, with the triples that the hint's reader read besides.
        hint: Answer of the other reader; None if there is none, or if it refuses.
        missing: Why the other reader refuses.
        parsed: The last reply, without answers that no fact holds; None if it could not be parsed.
        ungrounded: How many answers of the replies no fact holds.
    """

    subgraph: Subgraph
    template: Template
    prompt: Prompt
    shown: int
    facts: ShownFacts
    hint: Answer | None = None
    missing: str = ""
    replies: list[Reply] = attrs.field(factory=list)
    parsed: AnswerReply | None = None
    ungrounded: int = 0

    def add(self, reply: Reply, named: bool) -> None:
        """Read a reply; drop its answers that no fact holds."""
        self.replies.append(reply)
        self.parsed = None
        if reply.error is not None:
            return
        parsed = parse_answer(reply.text, self.shown, self.facts.entities, named)
        if parsed is not None and parsed.enough:
            held = tuple(one for one in parsed.answers if self.facts.holds(one) or is_value(one))
            self.ungrounded += len(parsed.answers) - len(held)
            parsed = attrs.evolve(parsed, answers=held)
        self.parsed = parsed

    def refused(self) -> str:
        """Return why the generator has no answer; empty if it has an answer."""
        if not self.replies:
            return "nothing shown"
        if self.replies[-1].error is not None:
            return "error"
        if self.parsed is None:
            return "unreadable"
        if not self.parsed.enough:
            return "not enough"
        return "" if self.parsed.answers else "ungrounded"


@attrs.define(eq=False)
class LlmReader(Reader):
    """Answer from the triples alone, and cite those that support the answer.

    Shows the first triples within `tokens`, between delimiters, as data. Each citation and each answer is checked: a
    number that no triple has is dropped. An answer that no cited triple holds gets the first triple that holds it. An
    answer that no triple holds is dropped, unless it is a number, a date, yes or no. The trace counts all three
    (`beyond`, `recited`, `ungrounded`). If a reply cannot be parsed, or no triple holds any of its answers, asks once
    more; a second such reply is a refusal, as `not enough` is. The entities of an answer are those shown that have it
    as their label.

    Attributes:
        graph: Source of labels.
        generator: Answers.
        tokens: Most tokens of the triples shown, as the generator counts them; null for all.
        named: Accept only names from the triples as answers, and enforce that by a JSON schema where the generator can;
            for small models, which use other words. Use `false` for answers such as counts, yes and no.
        prompts: YAML files that replace prompts, by the name of the prompt (`answer`, `answer-with-hint`).
        hint: Reader without a language model, such as `paths`. The prompt shows its answer, which is kept where the
            generator refuses, fails, or gives no reply that can be taken; `hint` in the trace has the outcome.
    """

    graph: KnowledgeGraph
    generator: Generator
    tokens: int | None = attrs.field(default=1024, validator=at_least(1))
    named: bool = False
    prompts: dict[str, str] = attrs.field(factory=dict)
    hint: Reader | None = None
    _templates: Mapping[str, Template] = attrs.field(init=False, factory=dict, repr=False)

    def open(self) -> None:
        """Read the prompts."""
        self._templates = read_templates(self.prompts, READER_TEMPLATES)

    def fingerprint(self) -> str:
        """Identify the graph, the generator, the settings, the hint's reader and the wording of the prompts."""
        hint = "" if self.hint is None else f" hint={self.hint.fingerprint()},"
        return (
            f"llm({self.graph.fingerprint()}, {self.generator.fingerprint()}, tokens={self.tokens},"
            f" named={self.named},{hint} prompts={digest(self.prompts, READER_TEMPLATES)})"
        )

    def refuses(self) -> bool:
        """Return True; the prompt offers `not enough` as a reply."""
        return True

    def read(self, questions: Sequence[Question], subgraphs: Sequence[Subgraph]) -> list[Answer]:
        """Answer all questions with one call to the generator, and one more for replies that could not be taken."""
        if not self._templates:
            raise not_open(self)
        requests = self._requests(questions, subgraphs, self._hints(questions, subgraphs))
        asked = [request for request in requests if request.shown]
        self._ask(asked, [request.prompt for request in asked])
        unclear = [request for request in asked if request.refused() in ("unreadable", "ungrounded")]
        self._ask(unclear, [_corrected(request) for request in unclear])
        return [_answer(request) for request in requests]

    def _hints(self, questions: Sequence[Question], subgraphs: Sequence[Subgraph]) -> Sequence[Answer | None]:
        return [None] * len(questions) if self.hint is None else self.hint.read(questions, subgraphs)

    def _requests(
        self, questions: Sequence[Question], subgraphs: Sequence[Subgraph], hints: Sequence[Answer | None]
    ) -> list[_Request]:
        wholes = [
            one if hint is None or hint.subgraph is None else hint.subgraph
            for one, hint in zip(subgraphs, hints, strict=True)
        ]
        ids = sorted({id_ for one in wholes for id_ in _ids(one)})
        labels = dict(zip(ids, self.graph.labels(ids), strict=True))
        shown = harmless_labels(ids, labels)
        rows = [fact_lines(one, shown) for one in wholes]
        requests = []
        sizes = token_fit(self.generator.count_tokens, rows, self.tokens)
        for question, one, row, size, hint in zip(questions, wholes, rows, sizes, hints, strict=True):
            facts = shown_facts(one, size, labels, shown)
            given = hint if hint is not None and hint.enough else None
            texts = {"question": question.text, "triples": numbered(row[:size])}
            if given is not None:
                texts["hint"] = _hint_text(given, size)
            template = self._templates[TEMPLATE if given is None else WITH_HINT]
            schema = answer_schema(size, facts.names if self.named else (), certainty=given is not None)
            prompt = template.prompt(texts, query=question.text, schema=schema)
            missing = "" if hint is None else hint.missing
            requests.append(_Request(one, template, prompt, size, facts, given, missing))
        return requests

    def _ask(self, requests: Sequence[_Request], prompts: Sequence[Prompt]) -> None:
        if not requests:
            return
        for request, reply in zip(requests, self.generator.generate(prompts), strict=True):
            request.add(reply, self.named)


def _ids(subgraph: Subgraph) -> Iterator[str]:
    for triple in subgraph.triples:
        yield from triple
    for row in subgraph.qualifiers:
        for qualifier in row:
            yield from qualifier


def _hint_text(hint: Answer, shown: int) -> str:
    """Return the text of a hint, with the numbers of its supporting facts as far as they are shown."""
    numbers = [str(place + 1) for place in hint.support if place < shown]
    if not numbers:
        return harmless(hint.text)
    return f"{harmless(hint.text)} (fact{'s' * (len(numbers) > 1)} {', '.join(numbers)})"


def _answer(request: _Request) -> Answer:
    """Return the answer of the replies, with its citations checked, or of the hint."""
    why = request.refused()
    record: dict[str, Any] = {"shown": request.shown, "enough": not why, "how": _how(request)}
    parsed, hint = request.parsed, request.hint
    answer = Answer(enough=False, missing=_missing(request, why))
    if parsed is not None and not why:
        answer, counts = _cited(request, parsed)
        record |= counts
    if request.ungrounded:
        record["ungrounded"] = request.ungrounded
    trace: dict[str, Any] = {"generator": usage(request.replies) if request.replies else total(())}
    trace["calls"] = [call_record(request.template, request.replies, **record)] if request.replies else []
    if request.shown < len(request.subgraph.triples):
        trace["unshown"] = len(request.subgraph.triples) - request.shown
    if hint is not None:
        answer, outcome = _with_hint(answer, hint)
        trace["hint"] = {"outcome": outcome, **({"because": why} if why else {}), **hint.trace}
    return attrs.evolve(answer, trace=trace)


def _how(request: _Request) -> str:
    return FALLBACK if request.parsed is None else FIRST if len(request.replies) == 1 else REPAIRED


def _missing(request: _Request, why: str) -> str:
    """Return the missing knowledge where there is no answer."""
    if why == "ungrounded":
        return _NO_FACT
    said = request.parsed.missing if request.parsed is not None else ""
    return said or request.missing


def _cited(request: _Request, parsed: AnswerReply) -> tuple[Answer, dict[str, int]]:
    """Return the answer of a reply, and how many of its citations were wrong."""
    facts, subgraph = request.facts, request.subgraph
    support = {number - 1 for number in parsed.numbers}
    lacking = [one for one in parsed.answers if facts.holds(one) and support.isdisjoint(facts.holding(one))]
    # Without a hint, a reply that cites nothing stays so: an expander asks for the supporting triples in another call.
    silent = request.hint is None and not parsed.numbers and not parsed.beyond
    counts = {"beyond": parsed.beyond, "uncited" if silent else "recited": len(lacking)}
    if not silent:
        support |= {facts.holding(one)[0] for one in lacking}
    entities = dict.fromkeys(id_ for one in parsed.answers for id_ in facts.near(one, support, subgraph))
    answer = Answer(
        text=", ".join(facts.plain.get(one, one) for one in parsed.answers),
        entities=tuple(entities),
        support=tuple(sorted(support)),
        number=parsed.number,
        truth=parsed.truth,
        certainty=parsed.certainty,
    )
    return answer, {key: count for key, count in counts.items() if count}


def _with_hint(answer: Answer, hint: Answer) -> tuple[Answer, str]:
    """Return the answer, or the hint where it agrees or is the only answer, and the outcome of the hint."""
    if not answer.enough:
        return hint, KEPT
    if _same(answer, hint):
        return hint, AGREED
    others = (Alternative(hint.text, hint.entities), *hint.alternatives)
    distinct = tuple(one for one in others if fold(one.text) != fold(answer.text))
    asked = _as_asked(answer, hint)
    return attrs.evolve(asked, alternatives=distinct[:_ALTERNATIVES], subgraph=hint.subgraph), OVERRULED


def _as_asked(answer: Answer, hint: Answer) -> Answer:
    """Take the text of an answer as a number, or as yes or no, where the hint has such an answer."""
    word = fold(answer.text)
    if hint.truth is not None and answer.truth is None and word in ("yes", "no"):
        return attrs.evolve(answer, truth=word == "yes", operation=hint.operation)
    if hint.number is not None and answer.number is None and _DIGITS.fullmatch(word):
        return attrs.evolve(answer, number=float(word), operation=hint.operation)
    return answer


def _same(answer: Answer, hint: Answer) -> bool:
    """Return whether two answers are the same: in words, as a set of entities, as a number, or as yes or no."""
    if (
        fold(answer.text) == fold(hint.text)
        or (answer.number, answer.truth) == (hint.number, hint.truth) != (None,) * 2
    ):
        return True
    plain = hint.number is None and hint.truth is None
    return plain and bool(answer.entities) and set(answer.entities) == set(hint.entities)


def _corrected(request: _Request) -> Prompt:
    correction = UNGROUNDED if request.refused() == "ungrounded" else CORRECTION
    return corrected(request.prompt, request.replies[-1].text, correction)
