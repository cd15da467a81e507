"""Read question records, or plain text with one question a line, as a Dataset."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from srtk_framework.records import read_questions
from srtk_framework.roles import Dataset
from srtk_framework.values import Link, Question
from srtk_plugin_datasets.files import texts_of, unlinked
from srtk_plugin_datasets.sample import choose


@attrs.define
class Records(Dataset):
    """Questions in the framework's own form, which is a superset of SRTK's.

    Attributes:
        path: File of JSON Lines, or of text with one question a line; also .gz, .bz2, .xz and .zst.
        text_field: Field of a JSON record that holds the question's text.
        entities_field: Another field with the ids to start from, for records without `question_entities`.
        given: Keep the entities given with the questions; false drops them, so that the text is linked.
        limit: How many questions to take; all by default.
        seed: Which ones a limit takes; null for the first ones.
    """

    path: str
    text_field: str = "question"
    entities_field: str | None = None
    given: bool = True
    limit: int | None = None
    seed: int | None = 0

    def read(self) -> Iterable[Question]:
        """Yield the questions in the order of the file."""
        for question in choose(read_questions(self.path, self.text_field), lambda q: q.id, self.limit, self.seed):
            if self.entities_field and not question.links:
                ids = texts_of(dict(question.extra), self.entities_field, f"{self.path}: question {question.id}")
                question = attrs.evolve(question, links=tuple(Link(id_) for id_ in ids))
            yield question if self.given else unlinked(question)
