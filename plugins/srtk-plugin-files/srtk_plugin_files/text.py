"""The ``text`` exporter: for each question a heading, then paths and facts within a token budget."""

from __future__ import annotations

import attrs

from srtk_framework.text import DEFAULT, Templates, clean, count_tokens, fit
from srtk_framework.values import DriverError, InputError, Retrieval
from srtk_plugin_files.file_exporter import FileExporter


@attrs.define
class Text(FileExporter):
    """Write paths and facts in words, best first, for the prompt of a language model; without gold answers.

    Attributes:
        path: Output file, compressed if it ends in ``.gz``. Its folder is created; an existing file is replaced when
            the run is complete.
        tokens: Token limit of one question, heading included; the heading is never cut.
        paths: Whether to write each path on a line before its first fact.
        templates: YAML file of templates that replace the default ones, such as ``inverse: inverse of {relation}``.
    """

    tokens: int = 2000
    paths: bool = True
    templates: str | None = None
    _templates: Templates = attrs.field(init=False, default=DEFAULT, repr=False)

    def open(self) -> None:
        """Read the templates and start the file."""
        if self.tokens < 1:
            raise DriverError(f"tokens must be above 0, not {self.tokens}")
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
        if retrieval.error is not None:
            return "\n".join([*heading, f"Error: {clean(retrieval.error)}", "", ""])
        total = len(retrieval.subgraph.triples)
        used = count_tokens("\n".join([*heading, f"Facts ({total} of {total}):"]))
        left = max(self.tokens - used, 0)
        facts, shown = fit(retrieval.subgraph, labels, left, templates=self._templates, paths=self.paths)
        return "\n".join([*heading, f"Facts ({shown} of {total}):", *([facts] if facts else []), "", ""])
