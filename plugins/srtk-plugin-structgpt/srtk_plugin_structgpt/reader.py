"""The ``llm`` reader: a generator answers from the triples, or says that they do not suffice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from srtk_framework.roles import Generator, KnowledgeGraph, Reader
from srtk_framework.text import FALLBACK, FIRST, REPAIRED, fold, name, numbered, triple_text
from srtk_framework.values import Answer, DriverError, Message, Prompt, Question, Reply, Subgraph, total, usage
from srtk_plugin_structgpt.asking import call
from srtk_plugin_structgpt.fitting import fitting
from srtk_plugin_structgpt.replies import CORRECTION, Said, said, schema
from srtk_plugin_structgpt.templates import READING, Template, digest, read_templates

TEMPLATE = "answer"
_ECHO = 2000
"""Of a reply that could not be read, so many characters are shown to the generator again."""


@attrs.define
class _Case:
    """One question with what is shown of its subgraph."""

    subgraph: Subgraph
    prompt: Prompt
    shown: int
    entities: Mapping[str, list[str]]
    replies: list[Reply] = attrs.field(factory=list)
    said: Said | None = None


@attrs.define(eq=False)
class LlmReader(Reader):
    """Have a generator answer from the triples alone, and name those that show the answer.

    What is shown are the first triples within ``tokens``. A reply that cannot be read is asked for once more; then it
    counts as `not enough`, and the trace says so. An answer's entities are those shown whose label it is.

    Attributes:
        graph: Gives the labels.
        generator: Answers.
        tokens: Most tokens of the triples shown, as the generator counts them; null for all.
        named: Take names from the facts alone for answers, and hold the generator to them where it can be held to a
            JSON schema; small models write other words. Answers that are counts, or yes and no, need `false`.
        prompts: Name of a prompt (`answer`) to the YAML file that replaces it.
    """

    graph: KnowledgeGraph
    generator: Generator
    tokens: int | None = 1024
    named: bool = False
    prompts: dict[str, str] = attrs.field(factory=dict)
    _template: Template | None = attrs.field(init=False, default=None, repr=False)

    def open(self) -> None:
        """Read the prompt."""
        if self.tokens is not None and self.tokens < 1:
            raise DriverError(f"tokens is {self.tokens}; it must be at least 1")
        self._template = read_templates(self.prompts, READING)[TEMPLATE]

    def fingerprint(self) -> str:
        """Identify graph, generator, settings and the wording of the prompt."""
        return (
            f"llm({self.graph.fingerprint()}, {self.generator.fingerprint()}, tokens={self.tokens},"
            f" named={self.named}, prompts={digest(self.prompts, READING)})"
        )

    def refuses(self) -> bool:
        """Return True: `not enough` is one of the replies asked for."""
        return True

    def read(self, questions: Sequence[Question], subgraphs: Sequence[Subgraph]) -> list[Answer]:
        """Answer all questions by one call to the generator, and one more for replies that could not be read."""
        template = self._template
        if template is None:
            raise DriverError("the reader is not open; call open() first")
        cases = self._cases(template, questions, subgraphs)
        asked = [case for case in cases if case.shown]
        self._ask(asked, [case.prompt for case in asked])
        unclear = [case for case in asked if case.said is None and case.replies[-1].error is None]
        self._ask(unclear, [_again(case.prompt, case.replies[-1].text) for case in unclear])
        return [self._answer(template, case) for case in cases]

    def _cases(self, template: Template, questions: Sequence[Question], subgraphs: Sequence[Subgraph]) -> list[_Case]:
        ids = sorted(
            {
                id_
                for one in subgraphs
                for row in (*one.triples, *(q for qualifiers in one.qualifiers for q in qualifiers))
                for id_ in row
            }
        )
        labels = dict(zip(ids, self.graph.labels(ids), strict=True))
        rows = [
            [
                triple_text(triple, labels, qualifiers=one.qualifiers[i] if i < len(one.qualifiers) else ())
                for i, triple in enumerate(one.triples)
            ]
            for one in subgraphs
        ]
        cases = []
        sizes = fitting(self.generator.count_tokens, rows, self.tokens)
        for question, one, row, size in zip(questions, subgraphs, rows, sizes, strict=True):
            shown = dict.fromkeys(end for triple in one.triples[:size] for end in (triple.subject, triple.object))
            values = [value for qualifiers in one.qualifiers[:size] for _, value in qualifiers]
            names = tuple(dict.fromkeys(name(id_, labels) for id_ in (*shown, *values)))
            # What only a qualifier says is an answer too, but no entity of the triples.
            entities: dict[str, list[str]] = {fold(text): [] for text in names}
            for id_ in shown:
                entities[fold(name(id_, labels))].append(id_)
            filled = {"question": question.text, "triples": numbered(row[:size])}
            form = schema(size, names if self.named else ())
            prompt = template.prompt(filled, query=question.text, schema=form)
            cases.append(_Case(one, prompt, size, entities))
        return cases

    def _ask(self, cases: Sequence[_Case], prompts: Sequence[Prompt]) -> None:
        if not cases:
            return
        for case, reply in zip(cases, self.generator.generate(prompts), strict=True):
            case.replies.append(reply)
            if reply.error is None:
                case.said = said(reply.text, case.shown, case.entities, self.named)

    def _answer(self, template: Template, case: _Case) -> Answer:
        found = case.said
        how = FALLBACK if found is None else FIRST if len(case.replies) == 1 else REPAIRED
        what: dict[str, Any] = {"shown": case.shown, "enough": found is not None and found.enough, "how": how}
        if found is not None and found.beyond:
            what["beyond"] = found.beyond
        trace: dict[str, Any] = {"generator": usage(case.replies)} if case.replies else {"generator": total(())}
        trace["calls"] = [call(template, case.replies, **what)] if case.replies else []
        if case.shown < len(case.subgraph.triples):
            trace["unshown"] = len(case.subgraph.triples) - case.shown
        if found is None or not found.enough:
            return Answer(enough=False, trace=trace)
        support = tuple(number - 1 for number in found.numbers)
        near = {id_ for i in support for id_ in (case.subgraph.triples[i].subject, case.subgraph.triples[i].object)}
        entities: list[str] = []
        for answer in found.answers:
            same = case.entities.get(fold(answer), [])
            # Of several of one name, those in the triples that show the answer are meant.
            entities += [id_ for id_ in same if id_ in near] or same
        return Answer(
            text=", ".join(found.answers), entities=tuple(dict.fromkeys(entities)), support=support, trace=trace
        )


def _again(prompt: Prompt, reply: str) -> Prompt:
    """Ask once more, with the reply that could not be read."""
    if reply.strip():
        turns = (Message("assistant", reply[:_ECHO]), Message("user", CORRECTION))
        return attrs.evolve(prompt, messages=(*prompt.messages, *turns))
    last = prompt.messages[-1]
    again = attrs.evolve(last, content=f"{last.content}\n\n{CORRECTION}")
    return attrs.evolve(prompt, messages=(*prompt.messages[:-1], again))
