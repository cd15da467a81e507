"""The ``text`` exporter: for each question a heading with a reader's answer, then paths and facts within a budget."""

from __future__ import annotations

import attrs

from srtk_framework.text import (
    DEFAULT,
    Templates,
    answer_line,
    answer_notes,
    clean,
    count_tokens,
    fit,
    refusal_line,
    triple_line,
)
from srtk_framework.values import DriverError, InputError, Retrieval, at_least, escaped
from srtk_plugin_files.file_exporter import FileExporter

_PROOF = 5  # Facts of a proof that the heading names


@attrs.define
class Text(FileExporter):
    """Write paths and facts in words, best first, for the prompt of a language model; without gold answers.

    Attributes:
        tokens: Token limit of one question, heading included; the heading is never cut.
        paths: Whether to write each path on a line before its first fact.
        answer: Whether to write a reader's answer with its proof, the other answers, or why there is none.
        templates: YAML file of templates that replace the defaults, such as ``inverse: inverse of {relation}``.
    """

    tokens: int = attrs.field(default=2000, validator=at_least(1))
    paths: bool = True
    answer: bool = True
    templates: str | None = None
    _templates: Templates = attrs.field(init=False, default=DEFAULT, repr=False)

    def open(self) -> None:
        """Read the templates and start the file."""
        if self.templates is not None:
            try:
                self._templates = Templates.read(self.templates)
            except InputError as error:
                raise DriverError(str(error)) from error
        super().open()

    def format(self, retrieval: Retrieval) -> str:
        """Return the text of a retrieval, followed by an empty line."""
        question, labels = retrieval.question, retrieval.labels
        heading = [f"# {clean(question.id)}", f"Question: {clean(question.text)}"]
        if question.links:
            names = (clean(labels.get(link.entity, "") or link.name) or clean(link.entity) for link in question.links)
            heading.append(f"Entities: {'; '.join(dict.fromkeys(names))}")
        if self.answer:
            heading += _answer_lines(retrieval, self._templates)
        if retrieval.error is not None:
            return escaped("\n".join([*heading, f"Error: {clean(retrieval.error)}", "", ""]))
        total = len(retrieval.subgraph.triples)
        used = count_tokens("\n".join([*heading, f"Facts ({total} of {total}):"]))
        left = max(self.tokens - used, 0)
        facts, shown = fit(retrieval.subgraph, labels, left, templates=self._templates, paths=self.paths)
        return escaped("\n".join([*heading, f"Facts ({shown} of {total}):", *([facts] if facts else []), "", ""]))


def _answer_lines(retrieval: Retrieval, templates: Templates) -> list[str]:
    """Return the lines of a reader's answer, or the notes alone without a reader."""
    answer, subgraph, labels = retrieval.answer, retrieval.subgraph, retrieval.labels
    notes = [f"Note: {clean(note)}" for note in answer_notes(answer, subgraph, labels)]
    if answer is None:
        return notes
    if not answer.enough or not answer.text.strip():
        return [f"No answer: {clean(refusal_line(answer))}", *notes]
    lines = [f"Answer: {clean(answer_line(answer, subgraph))}", *notes]
    proof = [triple_line(subgraph, place, labels, templates) for place in answer.support[:_PROOF]]
    if len(answer.support) > _PROOF:
        proof.append(f"and {len(answer.support) - _PROOF} more")
    others = [clean(one.text) for one in answer.alternatives]
    lines += [f"{head}: {'; '.join(row)}" for head, row in (("Proof", proof), ("Other answers", others)) if row]
    return lines
