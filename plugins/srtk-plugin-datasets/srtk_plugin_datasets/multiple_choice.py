"""Datasets of multiple-choice questions: OpenBookQA, CommonsenseQA, PIQA and SocialIQA.

Two forms are read: lists of instructions, as in LLM-Adapters (Hu et al. 2023), and JSON Lines of
question, choices and answer key, as OpenBookQA and CommonsenseQA are published.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path as FilePath
from typing import Any, ClassVar, Literal, NamedTuple

import attrs

from srtk_framework.records import record_fields as fields
from srtk_framework.values import InputError, Question, one_of
from srtk_plugin_datasets.catalogue import located
from srtk_plugin_datasets.files import find, finished, kept, object_of, read_records, text_of
from srtk_plugin_datasets.question_sets import SampledSet

Split = Literal["train", "dev", "test"]
Repeated = Literal["refuse", "merge"]

_SPLITS: tuple[Split, ...] = ("train", "dev", "test")
_REPEATED: tuple[Repeated, ...] = ("refuse", "merge")
_INSTRUCTION = re.compile(
    r"\s*Please choose the correct (?:answer|solution) to the question:"
    r"(?P<body>.*)\sAnswer format:\s*(?P<marks>\S+)\s*",
    re.DOTALL,
)
_MARK = re.compile(r"((?:Answer|Solution)\d+):")  # Marks of the options within an instruction.


class _Choice(NamedTuple):
    """A record before its options are checked: each has a label and a text; the key is the label of the gold option."""

    text: str
    labels: Sequence[str]
    texts: Sequence[str]
    key: str | None
    extra: dict[str, Any]


@attrs.define
class MultipleChoice(SampledSet):
    """Multiple-choice questions.

    The options are texts of the question and no ids of a graph, and so is the gold answer, which is one of them.

    Attributes:
        path: File, or folder with the files of the set; by default the folder of the set under `SRTK_DATA` or `data`.
        split: train, dev or test, if path is a folder; LLM-Adapters has no dev.
        repeated: Treatment of options with the same text: `refuse` the question, or `merge` them.
    """

    data_set: ClassVar[str] = ""
    # The stem tells the files of several sets in one folder apart.
    stem: ClassVar[str] = ""
    names: ClassVar[tuple[str, ...]] = ("{stem}_{split}.json", "{split}.json", "{split}.jsonl")

    path: str | None = None
    split: Split = attrs.field(default="test", validator=one_of(_SPLITS))
    repeated: Repeated = attrs.field(default="refuse", validator=one_of(_REPEATED))

    def read(self) -> Iterable[Question]:
        """Yield the questions in the order of the file."""
        names = [name.format(stem=self.stem, split=self.split) for name in self.names]
        (file,) = find(located(self.path, self.data_set), names)
        return finished(self._questions(file), self.limit, self.seed, given=True)

    def _questions(self, file: FilePath) -> Iterator[tuple[str, Question]]:
        name = file.name.split(".")[0].removeprefix(f"{self.stem}_")
        has_gold: bool | None = None
        for number, (where, record) in enumerate(read_records(file), start=1):
            choice = _instructed(record, where) if "instruction" in record else _listed(record, where)
            if has_gold not in (None, choice.key is not None):
                here, before = ("no", "have one") if has_gold else ("a", "have none")
                raise InputError(
                    f"{where}: {here} gold option, and the questions before {before}; give one for all or for none"
                )
            has_gold = choice.key is not None
            id_ = f"{self.data_set}-{name}-{number}" if record.get("id") is None else text_of(record, "id", where)
            options = _options(choice, where, self.repeated)
            yield where, Question(id_, choice.text, answers=_gold(choice, where), options=options, extra=choice.extra)


def _instructed(record: dict[str, Any], where: str) -> _Choice:
    """Read an instruction: a running text of question, options and their marks, with the mark of the gold option."""
    form = _INSTRUCTION.fullmatch(fields.string(record["instruction"], where, "instruction"))
    if form is None:
        raise InputError(
            f"{where}: field 'instruction' must read 'Please choose the correct answer to the question: ..., then"
            " 'Answer1: ... Answer2: ...' (or solution, 'Solution1: ...') and 'Answer format: answer1/answer2'"
        )
    text, *rest = _MARK.split(form["body"])
    labels, texts, marks = [mark.lower() for mark in rest[::2]], rest[1::2], form["marks"].split("/")
    if labels != marks:
        raise InputError(
            f"{where}: the options are marked {', '.join(labels) or 'not at all'}, and their format is"
            f" {'/'.join(marks)}; a question or an option must not hold such a mark itself"
        )
    key = record.get("answer")
    extra = kept(record, ("id", "instruction", "input", "output", "answer"))
    return _Choice(
        text.strip(),
        labels,
        [option.strip() for option in texts],
        None if key is None else fields.string(key, where, "answer"),
        extra,
    )


def _listed(record: dict[str, Any], where: str) -> _Choice:
    """Read a question with its choices beside it, or both in one object, whose question is the ``stem``."""
    holder, field = record, "question"
    extra = kept(record, ("id", "question", "choices", "answerKey"))
    if isinstance(record.get("question"), dict):
        holder, field = record["question"], "stem"
        extra = {**kept(holder, ("stem", "choices")), **extra}
    choices = holder.get("choices")
    if isinstance(choices, dict):
        texts = fields.items(choices.get("text"), where, "choices.text", fields.string)
        labels = fields.items(choices.get("label"), where, "choices.label", fields.string)
    else:
        rows = fields.items(choices, where, "choices", object_of)
        texts = [fields.string(row.get("text"), where, "choices.text") for row in rows]
        labels = [fields.string(row.get("label"), where, "choices.label") for row in rows]
    if len(labels) != len(texts):
        raise InputError(f"{where}: there are {len(texts)} choices and {len(labels)} labels; give each a label")
    key = record.get("answerKey")
    return _Choice(
        fields.string(holder.get(field), where, field).strip(),
        labels,
        [option.strip() for option in texts],
        None if key is None else fields.string(key, where, "answerKey"),
        extra,
    )


def _options(choice: _Choice, where: str, repeated: Repeated) -> tuple[str, ...]:
    """Return the texts of the options, each of them once."""
    if not choice.texts or not all(choice.texts):
        raise InputError(f"{where}: {'an option is empty' if choice.texts else 'no options'}; give each option a text")
    options = tuple(dict.fromkeys(choice.texts))
    if len(options) < len(choice.texts) and repeated == "refuse":
        twice = next(text for i, text in enumerate(choice.texts) if text in choice.texts[:i])
        raise InputError(
            f"{where}: {twice!r} is an option more than once; correct it, or set repeated: merge to have it once"
        )
    return options


def _gold(choice: _Choice, where: str) -> tuple[str] | None:
    """Return the text of the gold option, or None without a gold option."""
    if choice.key is None:
        return None
    if choice.labels.count(choice.key) != 1:
        raise InputError(
            f"{where}: the gold option {choice.key!r} must be one of the options, which are {', '.join(choice.labels)}"
        )
    return (choice.texts[choice.labels.index(choice.key)],)


@attrs.define
class OpenBookQA(MultipleChoice):
    """OpenBookQA, elementary science, with four options (Mihaylov et al. 2018, aclanthology.org/D18-1260)."""

    data_set: ClassVar[str] = "openbookqa"
    stem: ClassVar[str] = "openbookqa"


@attrs.define
class CommonsenseQA(MultipleChoice):
    """CommonsenseQA, questions about a concept of ConceptNet with five options (Talmor et al. 2019, arXiv:1811.00937).

    Attributes:
        split: train, dev or test, if path is a folder; test is published without gold answers.
    """

    data_set: ClassVar[str] = "commonsenseqa"
    stem: ClassVar[str] = "csqa"
    names: ClassVar[tuple[str, ...]] = (
        "{split}_rand_split.jsonl",
        "{stem}_{split}_rand_split.jsonl",
        "{split}_rand_split_no_answers.jsonl",
    )

    split: Split = attrs.field(default="dev", validator=one_of(_SPLITS))


@attrs.define
class PIQA(MultipleChoice):
    """PIQA, everyday aims with two ways to reach them (Bisk et al. 2020, arXiv:1911.11641)."""

    data_set: ClassVar[str] = "piqa"
    stem: ClassVar[str] = "piqa"


@attrs.define
class SocialIQA(MultipleChoice):
    """SocialIQA, questions with three options about situations among people (Sap et al. 2019, arXiv:1904.09728)."""

    data_set: ClassVar[str] = "socialiqa"
    stem: ClassVar[str] = "social_i_qa"
