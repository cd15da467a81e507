"""The ``options-llm`` reader: a generator chooses among the options of a question, with the triples before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import attrs

from srtk_framework.roles import Generator, KnowledgeGraph, Reader, not_open
from srtk_framework.text import fold, name
from srtk_framework.values import Answer, DriverError, Question, Subgraph, at_least, total, usage
from srtk_plugin_structgpt.graph_text import fact_lines, harmless_labels
from srtk_plugin_structgpt.option_choice import RATED, Choice, chosen
from srtk_plugin_structgpt.templates import OPTION_TEMPLATES, Template, call_record, digest, read_templates, token_fit

TEMPLATE = "option"
NOTHING = "(none)"  # Stands in the place of the triples where none were retrieved


@attrs.define(eq=False)
class OptionsLlmReader(Reader):
    """Choose one of a question's options by a generator that reads the best triples.

    The answer's text is the option; its support are the triples shown that name it. A question without options is
    refused by an error. A generator whose reply cannot be read twice gives no answer (``enough: false``).

    Attributes:
        graph: Source of labels.
        generator: Chooses.
        tokens: Most tokens of the triples shown, as the generator counts them; null for all, 0 for none.
        by: ``rating`` takes the option that the generator finds likeliest, ``reply`` asks for its number; null rates
            where the generator can, else asks.
        prompts: YAML files that replace prompts, by the name of the prompt (`option`).
    """

    graph: KnowledgeGraph
    generator: Generator
    tokens: int | None = attrs.field(default=512, validator=at_least(0))
    by: Literal["rating", "reply"] | None = None
    prompts: dict[str, str] = attrs.field(factory=dict)
    _template: Template | None = attrs.field(init=False, default=None, repr=False)

    def open(self) -> None:
        """Read the prompt.

        Raises:
            DriverError: If options are to be rated by a generator that does not rate.
        """
        self._template = read_templates(self.prompts, OPTION_TEMPLATES)[TEMPLATE]
        if self.by == "rating" and not self.generator.rates():
            raise DriverError("the generator does not rate options; set `by: reply`, or leave it out")

    def fingerprint(self) -> str:
        """Identify the graph, the generator, the settings and the wording of the prompt."""
        return (
            f"options-llm({self.graph.fingerprint()}, {self.generator.fingerprint()}, tokens={self.tokens},"
            f" by={self.by}, prompts={digest(self.prompts, OPTION_TEMPLATES)})"
        )

    def read(self, questions: Sequence[Question], subgraphs: Sequence[Subgraph]) -> list[Answer]:
        """Choose an option for each question, with one call to the generator, two for replies that cannot be read."""
        template = self._template
        if template is None:
            raise not_open(self)
        for question in questions:
            if not question.options:
                raise DriverError(
                    f"question {question.id} has no options to choose from; give `options`, or use the reader `llm`"
                )
        ids = sorted({id_ for one in subgraphs for triple in one.triples for id_ in triple})
        labels = dict(zip(ids, self.graph.labels(ids), strict=True)) if ids else {}
        shown = harmless_labels(ids, labels)
        rows = [fact_lines(one, shown, qualified=False) for one in subgraphs]
        sizes = token_fit(self.generator.count_tokens, rows, self.tokens)
        prompts = [
            template.choice_prompt(
                question.options,
                {"question": question.text, "triples": "\n".join(row[:size]) or NOTHING},
                least=1,
                most=1,
                query=question.text,
            )
            for question, row, size in zip(questions, rows, sizes, strict=True)
        ]
        by = self.by or ("rating" if self.generator.rates() else "reply")
        choices = chosen(self.generator, prompts, by=by)
        return [_answer(template, *row, labels) for row in zip(questions, choices, subgraphs, sizes, strict=True)]


def _answer(
    template: Template, question: Question, choice: Choice, subgraph: Subgraph, shown: int, labels: Mapping[str, str]
) -> Answer:
    record = call_record(template, choice.replies, how=choice.how, shown=shown, chosen=choice.numbers)
    if choice.how == RATED:
        record["rates"] = list(choice.rates)
    spent = usage(choice.replies) if choice.replies else total(())
    trace: dict[str, Any] = {"generator": spent, "calls": [record]}
    if shown < len(subgraph.triples):
        trace["unshown"] = len(subgraph.triples) - shown
    if not choice.numbers:
        return Answer(enough=False, trace=trace)
    text = question.options[choice.numbers[0] - 1]
    named = [{fold(name(end, labels)) for end in (t.subject, t.object)} for t in subgraph.triples[:shown]]
    return Answer(text, support=tuple(i for i, names in enumerate(named) if fold(text) in names), trace=trace)
