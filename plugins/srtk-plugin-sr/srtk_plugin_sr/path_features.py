"""Features of whole paths that know no graph, by which the path that a question means is chosen."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Hashable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.graph import Instance, NumberedInstances
from srtk_framework.roles import KnowledgeGraph, PathScorer
from srtk_framework.text import fold, spaced
from srtk_framework.values import RankedPath, Step
from srtk_plugin_sr.answer_kind import MARK, NUMBER, TIME, AnswerKind, answer_kind, end_kind, literal_kind, word_set
from srtk_plugin_sr.topic_support import passed, path_probabilities, topic_support

Floats = npt.NDArray[np.float64]

LABELLED = 3
"""Ends of each path whose labels are read."""
FEATURES = (
    "share",
    "first",
    "over prefix",
    "kind last",
    "end fits",
    "end clashes",
    "word support",
    "words shared",
    "order",
    "length nesting",
    "named",
    "noun last",
    "back same",
    "at topic",
    "only topic",
    "mass",
    "agreed",
    "joined most",
    "joined mean",
    "other topic",
    "value fits",
    "value wrong",
    "value lacks",
    "one of several",
    "two steps",
    "three steps",
)
"""Names of the features, in the order of their columns; the README of the package says what each of them is."""

# Logarithms of smaller probabilities would dominate.
_LEAST = 1e-6
_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*|¤")
_STOP = word_set(
    """
    a an the of in on at by for from to with within into is are was were be been am do does did has have had can could
    will would should may might which what who whom whose where when why how many much that this these those it its he
    she they his her their there and or not no any some all each every also as than then so name list give show find
    tell me us s i you your my we our
    """
)
_NESTING = word_set("of that which who whose whom where by s")
_SAME = word_set("same also other others another share shares shared sharing too both common else similar co")
_ENDINGS = ("ings", "ing", "ers", "ies", "ors", "ed", "er", "or", "es", "s", "e")


@attrs.frozen(eq=False)
class SearchedQuestion:
    """The paths that a search found for one question.

    Attributes:
        text: The question.
        marked: The question with a mark in the place of each topic's mention.
        topics: For each linked entity the number of its topic.
        paths: The paths, best first.
        read: Instances of the paths, by rank.
    """

    text: str
    marked: str
    topics: Mapping[str, int]
    paths: Sequence[RankedPath]
    read: Mapping[int, Sequence[Instance]]


@attrs.frozen(eq=False)
class QuestionWords:
    """The words of a question that a path can be compared with.

    Attributes:
        kind: The kind of answer that it expects.
        content: Words that carry meaning, without the mentions.
        places: For each of them, how many words it stands from the next mention.
        nesting: Number of words behind the first that join phrases, such as *of* and *that*.
        phrase: The text that stands for the kind; empty where it is not compared.
    """

    kind: AnswerKind
    content: tuple[str, ...]
    places: tuple[int, ...]
    nesting: int
    phrase: str

    @classmethod
    def of(cls, marked: str, by_kind: bool) -> QuestionWords:
        """Read the words of a question with marked mentions; without ``by_kind`` its kind has no phrase."""
        words = _WORD.findall(fold(re.sub("['’]s", " s ", marked)))
        marks = [place for place, word in enumerate(words) if word == MARK] or [len(words)]
        places: dict[str, int] = {}
        for place, word in enumerate(words):
            if word not in _STOP and word != MARK and not word.isdigit():
                places.setdefault(word, min(abs(place - mark) for mark in marks))
        nesting = sum(word in _NESTING for word in words[1:])
        kind = answer_kind(marked)
        return cls(kind, tuple(places), tuple(places.values()), nesting, kind.phrase if by_kind else "")

    @property
    def texts(self) -> list[str]:
        """The texts that are compared with steps: the phrase of the kind, if there is one, then the words."""
        return [*([self.phrase] if self.phrase else []), *self.content]


@attrs.frozen(eq=False)
class FeatureInput:
    """The input of the features of a question's paths.

    Attributes:
        question: The paths of the search.
        words: The words of the question.
        steps: The distinct steps of the paths.
        table: Scores of the steps, each as the first of a path, of shape [``words.texts``, steps].
        ends: By rank, the distinct ends of the path in order, as ids or as numbers.
        shown: By rank, the ids of the first of them.
        at: The topics, in the form of ``ends``.
        labels: Labels of relations and of the ends that are shown.
    """

    question: SearchedQuestion
    words: QuestionWords
    steps: Sequence[Step]
    table: Floats
    ends: Mapping[int, Sequence[Hashable]]
    shown: Mapping[int, Sequence[str]]
    at: Collection[Hashable]
    labels: Mapping[str, str]


def path_features(
    graph: KnowledgeGraph,
    scorer: PathScorer,
    questions: Sequence[SearchedQuestion],
    wanted: Collection[str] = FEATURES,
) -> list[Floats]:
    """Return the features of each question's paths, of shape [paths, ``len(FEATURES)``].

    Of features that are not wanted, those that the scorer would be asked for alone are 0.
    """
    return [features_of(one) for one in feature_inputs(graph, scorer, questions, wanted)]


def feature_inputs(
    graph: KnowledgeGraph, scorer: PathScorer, questions: Sequence[SearchedQuestion], wanted: Collection[str]
) -> list[FeatureInput]:
    """Read the input of the features, for all questions with a single call to the scorer and to the graph."""
    # A phrase of a length that no word has takes the encoder another pass.
    words = [QuestionWords.of(one.marked, "kind last" in wanted) for one in questions]
    steps = [list(dict.fromkeys(step for path in one.paths for step in path.steps)) for one in questions]
    asked = [(text, row) for own, row in zip(words, steps, strict=True) if row for text in own.texts]
    found = scorer.score([text for text, _ in asked], [()] * len(asked), [row for _, row in asked]) if asked else []
    scores = iter(found)
    tables = [
        np.array([next(scores) if row else () for _ in own.texts], dtype=np.float64).reshape(len(own.texts), len(row))
        for own, row in zip(words, steps, strict=True)
    ]
    ends, shown, topics = _ends(questions)
    needed = {step.relation for row in steps for step in row}
    needed.update(end for row in shown for own in row.values() for end in own)
    ids = sorted(needed)
    labels = dict(zip(ids, graph.labels(ids), strict=True)) if ids else {}
    return [
        FeatureInput(*row, *known, labels)
        for row, known in zip(
            zip(questions, words, steps, tables, strict=True), zip(ends, shown, topics, strict=True), strict=True
        )
    ]


def _ends(
    questions: Sequence[SearchedQuestion],
) -> tuple[list[dict[int, list[Any]]], list[dict[int, list[str]]], list[set[Any]]]:
    """Return, for each question, the distinct ends of its paths by rank, the ids of the first ones, and its topics.

    In a graph with arrays all but the ids are numbers.
    """
    arrays = None
    ends, first, topics = [], [], [set[Any](one.topics) for one in questions]
    for one in questions:
        own: dict[int, list[Any]] = {}
        shown = {}
        for rank, found in one.read.items():
            if isinstance(found, NumberedInstances):
                arrays, every = found.arrays, found.nodes[:, -1].tolist()
            else:
                every = [instance.end for instance in found]
            if every:
                own[rank] = list(dict.fromkeys(every))
                shown[rank] = list(dict.fromkeys(every[: 4 * LABELLED]))[:LABELLED]
        ends.append(own)
        first.append(shown)
    if arrays is not None:
        numbers = sorted({end for shown in first for own in shown.values() for end in own})
        id_of = dict(zip(numbers, arrays.ids(np.array(numbers, dtype=np.int64)), strict=True))
        first = [{rank: [id_of[end] for end in own] for rank, own in shown.items()} for shown in first]
        known = sorted({topic for own in topics for topic in own})
        number = dict(zip(known, arrays.numbers(known).tolist(), strict=True))
        topics = [{number[topic] for topic in own} for own in topics]
    return ends, first, topics


def features_of(given: FeatureInput) -> Floats:
    """Return the features of one question's paths."""
    none = dict.fromkeys(FEATURES, 0.0)
    rows = [none.copy() for _ in given.question.paths]
    paths = given.question.paths
    probabilities = path_probabilities(paths, range(len(paths)))
    _add_search(given, rows, probabilities)
    _add_words(given, rows)
    _add_relations(given, rows)
    _add_ends(given, rows, probabilities)
    _add_joins(given, rows, probabilities)
    return np.array([[*row.values()] for row in rows], dtype=np.float64).reshape(len(rows), len(FEATURES))


_Rows = Sequence[dict[str, float]]


def _add_search(given: FeatureInput, rows: _Rows, probabilities: Mapping[int, float]) -> None:
    """Add the features of the search: a path's probability, the score that its last step added, its length."""
    paths = given.question.paths
    scores = {(path.entity, path.steps): path.score for path in paths}
    for rank, (path, row) in enumerate(zip(paths, rows, strict=True)):
        row["share"] = math.log(max(probabilities[rank], _LEAST))
        row["first"] = float(rank == 0)
        row["two steps"] = float(len(path.steps) == 2)
        row["three steps"] = float(len(path.steps) >= 3)
        row["over prefix"] = path.score - scores.get((path.entity, path.steps[:-1]), path.score)


def _add_words(given: FeatureInput, rows: _Rows) -> None:
    """Add how the steps of each path fit the words of the question, by the scorer."""
    words = given.words
    column = {step: place for place, step in enumerate(given.steps)}
    table = _standard(given.table)
    expected, table = (table[0], table[1:]) if words.phrase and len(table) else (None, table)
    best = table.argmax(axis=0).tolist() if table.size else []
    support = table.max(axis=0).tolist() if table.size else []
    for path, row in zip(given.question.paths, rows, strict=True):
        at = [column[step] for step in path.steps]
        if at and expected is not None:
            row["kind last"] = float(expected[at[-1]])
        if at and best:
            chosen = [best[place] for place in at]
            places = [words.places[word] for word in chosen]
            row["word support"] = sum(support[place] for place in at) / len(at)
            row["words shared"] = float(len(at) - len(set(chosen)))
            # What stands next to the mention is the step that leaves the topic.
            row["order"] = float(sum(one > other for one, other in pairwise(places)))
        row["length nesting"] = max(0, len(at) - 1) * (words.nesting - 1.0)


def _add_relations(given: FeatureInput, rows: _Rows) -> None:
    """Add the features of the relations' names."""
    kind = given.words.kind
    said = {step: _content(given.labels[step.relation]) for step in given.steps}
    ends = {step: _end_kind(given.labels[step.relation], step.inverse) for step in given.steps}
    stems = {_stem(word) for word in given.words.content}
    noun = _stem(kind.noun.split()[-1]) if kind.noun else ""
    same = bool(_SAME & set(_WORD.findall(fold(given.question.text).replace("other half", ""))))
    for path, row in zip(given.question.paths, rows, strict=True):
        if not path.steps:
            continue
        last = path.steps[-1]
        row["named"] = sum(len(said[step] & stems) / max(1, len(said[step])) for step in path.steps) / len(path.steps)
        row["noun last"] = float(bool(noun) and noun in said[last])
        row["end fits"] = float(ends[last] is not None and ends[last] == kind.end)
        row["end clashes"] = float(ends[last] is not None and kind.end is not None and ends[last] != kind.end)
        row["back same"] = float(same and _goes_back(path.steps))


def _add_ends(given: FeatureInput, rows: _Rows, probabilities: Mapping[int, float]) -> None:
    """Add the features of the ends: their probability by all paths, and whether they are of the expected kind."""
    kind, ends = given.words.kind, given.ends
    mass: dict[Hashable, float] = {}
    for rank, own in ends.items():
        share = probabilities[rank]
        for end in own:
            mass[end] = mass.get(end, 0.0) + share
    value = kind.kind if kind.kind in (TIME, NUMBER) else None
    for rank, own in ends.items():
        row, shown = rows[rank], given.shown[rank]
        mean = sum(map(mass.__getitem__, own)) / len(own)
        row["mass"] = math.log(max(_LEAST, mean))
        row["agreed"] = mean - probabilities[rank]
        at_topic = sum(map(given.at.__contains__, own)) / len(own)
        # What shares something with a topic is found by a way back on which the topic lies itself.
        row["at topic"] = 0.0 if row["back same"] else at_topic
        row["only topic"] = float(at_topic == 1.0)
        row["one of several"] = float(len(own) == 1 and (kind.several or kind.counted))
        found = [literal_kind(given.labels[end]) for end in shown]
        if value is None:
            row["value wrong"] = (len(found) - found.count(None)) / len(shown)
        else:
            row["value fits"] = found.count(value) / len(shown)
            row["value lacks"] = found.count(None) / len(shown)


def _add_joins(given: FeatureInput, rows: _Rows, probabilities: Mapping[int, float]) -> None:
    """Add where the paths of other topics arrive on the instances of each path."""
    question = given.question
    if len(set(question.topics.values())) < 2:
        return
    support = topic_support(question.paths, question.read, probabilities, question.topics)
    for rank, found in question.read.items():
        path, row = question.paths[rank], rows[rank]
        topic = question.topics[path.entity]
        boosts = [support.boost(topic, passed(one, path)) for one in found]
        row["joined most"] = math.log(max(boosts, default=1.0))
        row["joined mean"] = math.log(sum(boosts) / len(boosts)) if boosts else 0.0
        row["other topic"] = float(any(question.topics.get(one.end, topic) != topic for one in found))


def _standard(table: Floats) -> Floats:
    """Scale each row to mean 0 and deviation 1; values that do not differ are 0."""
    if not table.size:
        return table
    deviation = table.std(axis=1, keepdims=True)
    flat = deviation <= 1e-9
    scaled: Floats = np.where(flat, 0.0, (table - table.mean(axis=1, keepdims=True)) / np.where(flat, 1.0, deviation))
    return scaled


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


# A graph has few relations.
@lru_cache(maxsize=1 << 14)
def _content(label: str) -> frozenset[str]:
    return frozenset(_stem(word) for word in _WORD.findall(fold(spaced(label))) if word not in _STOP)


@lru_cache(maxsize=1 << 14)
def _end_kind(label: str, inverse: bool) -> str | None:
    return end_kind(spaced(label), inverse)


def _goes_back(steps: Sequence[Step]) -> bool:
    """Return whether a step reverses the one before it."""
    pairs = pairwise(steps)
    return any(one.relation == other.relation and one.inverse != other.inverse for one, other in pairs)
