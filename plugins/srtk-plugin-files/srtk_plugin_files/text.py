"""Write retrievals as text for a prompt: per question a heading, then paths and facts within a token budget."""

from __future__ import annotations

import attrs

from srtk_framework.text import DEFAULT, Templates, clean, count_tokens, fit
from srtk_framework.values import DriverError, InputError, Retrieval
from srtk_plugin_files.file_exporter import FileExporter


@attrs.define
class Text(FileExporter):
    """Paths and facts in words, best first, for a language model's prompt. Gold answers are not shown.

    Attributes:
        path: File to write; ``.gz`` compresses. Its folder is made, and what stood there stays until the end.
        tokens: Most tokens of one question's part, heading included; the heading is always whole.
        paths: Whether each path has a line of its own before its first fact.
        templates: YAML file of wordings that replace the default ones, such as ``inverse: inverse of {relation}``.
    """

    tokens: int = 2000
    paths: bool = True
    templates: str | None = None
    _wording: Templates = attrs.field(init=False, default=DEFAULT, repr=False)

    def open(self) -> None:
        """Read the wording, then start the file."""
        if self.tokens < 1:
            raise DriverError(f"tokens must be above 0, not {self.tokens}")
        if self.templates is not None:
            try:
                self._wording = Templates.read(self.templates)
            except InputError as error:
                raise DriverError(str(error)) from error
        super().open()

    def format(self, retrieval: Retrieval) -> str:
        """Return the retrieval's part, with an empty line after it."""
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
        facts, shown = fit(retrieval.subgraph, labels, left, templates=self._wording, paths=self.paths)
        return "\n".join([*heading, f"Facts ({shown} of {total}):", *([facts] if facts else []), "", ""])
