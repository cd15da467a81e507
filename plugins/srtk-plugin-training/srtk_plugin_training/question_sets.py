"""Training and validation questions of a recipe: a file, a dataset, or a share of the training questions."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import attrs

from srtk_framework.recipe import Block, Composer
from srtk_framework.records import part_of, place, read_questions
from srtk_framework.values import InputError, Question, RunError
from srtk_plugin_training.material import Given, TrainingData, Wrong


@attrs.frozen
class QuestionSets:
    """Sources of training and validation questions.

    Attributes:
        questions: A file or a dataset; None where all training questions are about other graphs.
        given: A file, a dataset, a share of the questions, or None.
    """

    questions: Any
    given: Any

    @classmethod
    def of(cls, given: Given) -> QuestionSets:
        """Build the datasets that ``train`` names."""
        composer, train, wrong = given.composer, given.train, given.wrong
        if train.questions is None and not train.sets:
            wrong(("train",), "train needs `questions:`, a file or a dataset to learn from")
        if train.questions is None and isinstance(train.validation, float):
            text = "a share is taken of `questions:`; give a file or a dataset of questions about the recipe's graph"
            wrong(("train", "validation"), text)
        questions = source_of(composer, train.questions)
        _check_parts(given.recipe.questions, train.questions, wrong)
        validation = train.validation
        return cls(questions, validation if isinstance(validation, float) else source_of(composer, validation))

    def read(self, seed: int) -> tuple[list[Question], list[Question]]:
        """Read the training and the validation questions about the recipe's graph, which must not overlap.

        Raises:
            InputError: If there are none, or they cannot be read.
            RunError: If some questions are in both.
        """
        learning = [] if self.questions is None else list(read(self.questions))
        if not learning and self.questions is not None:
            raise InputError("there are no training questions; check `part` and `limit` under `train:`")
        if self.given is None:
            return learning, []
        if isinstance(self.given, float):
            # The split hashes texts, so that equal questions are in the same part.
            places = [place(f"validation {seed}\0{words(question)}", 0) for question in learning]
            validation = [q for q, at in zip(learning, places, strict=True) if at < self.given]
            learning = [q for q, at in zip(learning, places, strict=True) if at >= self.given]
        else:
            validation = list(read(self.given))
        if not validation or (not learning and self.questions is not None):
            empty = "validation questions" if not validation else "training questions"
            raise InputError(f"there are no {empty}; change `validation:` or `questions:` under `train:`")
        ids, texts = {q.id for q in learning}, {words(q) for q in learning}
        shared = [q for q in validation if q.id in ids or words(q) in texts]
        if shared:
            raise RunError(
                f"{len(shared)} of {len(validation)} validation questions are also training questions, by id or text"
                f" (the first is {shared[0].id!r}); give other questions, or a share such as `validation: 0.1`"
            )
        return learning, validation


def words(question: Question) -> str:
    """Return the text of a question with single blanks."""
    return " ".join(question.text.split())


def data_of(learning: Sequence[Question], validation: Sequence[Question]) -> TrainingData:
    """Return questions with their hashes and numbers."""
    hashes = {"questions": hash_of(learning), "validation": hash_of(validation)}
    return TrainingData(hashes, {"questions": len(learning), "validation": len(validation)}, learning, validation)


def hash_of(items: Iterable[object]) -> str:
    """Hash questions, or other items, with all their fields."""
    digest = hashlib.sha256()
    for item in items:
        digest.update(repr(item).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def source_of(composer: Composer, named: str | Block | None, graph: Block | None = None) -> Any:
    """Return a file as it is, or build a dataset; ``graph`` stands in for the recipe's."""
    return part_of(composer.build(named, graph), named.part) if isinstance(named, Block) else named


def read(source: Any) -> Iterable[Question]:
    """Read the questions of a file or of a dataset."""
    questions: Iterable[Question] = read_questions(source) if isinstance(source, str) else source.read()
    return questions


def _check_parts(asked: Any, training: Any, wrong: Wrong) -> None:
    """Refuse parts by relation path of two different datasets: the parts of a path depend on the whole dataset."""
    blocks = [block for block in (asked, training) if isinstance(block, Block)]
    if len(blocks) < 2 or any(block.part is None or block.part.by != "relation-path" for block in blocks):
        return
    one, other = ((block.use, dict(block.settings), block.part.seed) for block in blocks if block.part is not None)
    if one != other:
        names = sorted(key for key in {*one[1], *other[1]} if one[1].get(key) != other[1].get(key))
        differ = ", ".join(names) or "use, or seed of the part"
        wrong(
            training.where,
            "parts by relation-path are disjoint only within one dataset; give the training questions and the"
            f" questions of the run the same settings except for `part` and `limit` (they differ in {differ})",
        )
