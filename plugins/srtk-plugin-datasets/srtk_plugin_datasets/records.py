"""The ``jsonl`` dataset: question records, or plain text with one question per line."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from srtk_framework.records import read_questions
from srtk_framework.values import Link, Question
from srtk_plugin_datasets.files import texts_of, unlinked
from srtk_plugin_datasets.question_sets import SampledSet


@attrs.define
class Records(SampledSet):
    """Question records of the framework, whose fields are a superset of SRTK's.

    Attributes:
        path: File of JSON Lines, or of text with one question per line; also .gz, .bz2, .xz and .zst.
        text_field: Field with the text of the question.
        entities_field: Field with the ids of the topic entities, for records without `question_entities`.
        given: Keep the links of the questions; false removes them, so the text is linked in the run.
    """

    path: str
    text_field: str = "question"
    entities_field: str | None = None
    given: bool = True

    def read(self) -> Iterable[Question]:
        """Yield the questions in the order of the file."""
        for question in self._sampled(read_questions(self.path, self.text_field)):
            if self.entities_field and not question.links:
                ids = texts_of(dict(question.extra), self.entities_field, f"{self.path}: question {question.id}")
                question = attrs.evolve(question, links=tuple(Link(id_) for id_ in ids))
            yield question if self.given else unlinked(question)
