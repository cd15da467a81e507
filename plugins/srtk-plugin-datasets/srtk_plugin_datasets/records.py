"""Read question records, or plain text with one question a line, as a Dataset."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from srtk_framework.records import read_questions
from srtk_framework.specs import Dataset
from srtk_framework.types import Question
from srtk_plugin_datasets.choosing import choose


@attrs.define
class Records(Dataset):
    """Questions in the framework's own form, which is a superset of SRTK's.

    Attributes:
        path: File of JSON Lines, or of text with one question a line; also .gz, .bz2, .xz and .zst.
        text_field: Field of a JSON record that holds the question's text.
        given: Keep the entities given with the questions; false drops them, so that the text is linked.
        limit: How many questions to take; all by default.
        seed: Which ones a limit takes; null for the first ones.
    """

    path: str
    text_field: str = "question"
    given: bool = True
    limit: int | None = None
    seed: int | None = 0

    def read(self) -> Iterable[Question]:
        """Yield the questions in the order of the file."""
        for question in choose(read_questions(self.path, self.text_field), lambda q: q.id, self.limit, self.seed):
            yield question if self.given else attrs.evolve(question, links=())
