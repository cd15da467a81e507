"""The rows of a method as columns of numbers: a few bytes a question, so that a run of any length can be scored."""

from __future__ import annotations

import copy
from array import array
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from srtk_plugin_evaluation.answers import VALUES
from srtk_plugin_evaluation.columns import ANSWER_METRICS
from srtk_plugin_evaluation.completion import Completed
from srtk_plugin_evaluation.curves import Ranking
from srtk_plugin_evaluation.intervals import Computed
from srtk_plugin_evaluation.link_scores import Shares
from srtk_plugin_evaluation.numbers import Numbers
from srtk_plugin_evaluation.rows import Row
from srtk_plugin_evaluation.selective_answers import Answers, Judged
from srtk_plugin_evaluation.training_overlap import PATH, RELATIONS, TrainingOverlap

_Floats = npt.NDArray[np.float64]
_Ints = npt.NDArray[np.int64]


KIND = "kind"  # Field of question records by which a report is always sliced, where there is one.
MOST_GROUPS = 50  # Maximum number of groups of a slice; a field with more values does not define kinds of questions.

LINKS = ("none", "given", "linked", "mixed")  # Origins of links; the number of both is that of each, joined by "or".

_LOST = Judged(right=False, answered=False)  # A failed question counts as unanswered.


class RowTable:
    """What reports need of the rows of a method.

    Args:
        rows: The first rows.
        fields: Fields of the question records to slice by.
        overlap: Relations and paths in the training data, to slice by.

    Attributes:
        size: Number of questions.
        ranking: Ranks of the gold.
        answers: Answers, and how sure the method was.
        field_names: Fields of the records that have texts.
        linking: Shares of the links.
        completion: Place to the counts of its pattern; places without are left out.
    """

    def __init__(
        self, rows: Iterable[Row] = (), fields: Sequence[str] = (), overlap: TrainingOverlap | None = None
    ) -> None:
        self.size = self._whole = 0
        self.ranking = Ranking()
        self.answers = Answers()
        self.field_names: set[str] = set()
        self.linking = Shares()
        self.completion: dict[int, Completed] = {}
        self._fields, self._overlap = fields, overlap
        self._metrics: dict[str, Numbers] = {}
        self._failed, self._lost, self._links, self._walks, self._seconds = (Numbers() for _ in range(5))
        self._groups: dict[str, dict[str, array[int]]] = {}
        self._places: _Ints | None = None
        for row in rows:
            self.add(row)

    def add(self, row: Row) -> None:
        """Add the row of the next question."""
        place = self.size
        lost = row.failed and (row.metrics.get("answer_coverage") is not None or VALUES in row.fields)
        for name, value in row.metrics.items():
            if value is not None:
                self._metrics.setdefault(name, Numbers()).put(place, value)
        self._failed.put(place, row.failed)
        self._lost.put(place, lost)
        self._links.put(place, LINKS.index(row.links))
        self._walks.put(place, row.walks)
        if row.seconds is not None:
            self._seconds.put(place, row.seconds)
        self.ranking.add(row.ranks)
        self.answers.add(_LOST if row.judged is None and lost else row.judged)
        self.linking.add(row.linking)
        if row.completion is not None:
            self.completion[place] = row.completion
        self._group(place, row)
        self.size = self._whole = place + 1

    def _group(self, place: int, row: Row) -> None:
        """Note the groups of a question in each slice."""
        labels = {
            "hops": () if row.hops is None else (str(row.hops),),
            "topics": () if row.topics is None else (str(row.topics),),
            KIND: row.fields.get(KIND, ()),
        }
        if self._overlap is not None:
            labels[RELATIONS] = _one(self._overlap.relations_of(row))
            labels[PATH] = _one(self._overlap.path_of(row))
        labels |= {field: row.fields.get(field, ()) for field in self._fields}
        self.field_names.update(row.fields)
        for slice_, some in labels.items():
            groups = self._groups.setdefault(slice_, {})
            for label in some:
                # One group too many tells that a field is no kind of question; a chosen field is told how many it has.
                if label in groups or len(groups) <= MOST_GROUPS or slice_ in self._fields:
                    groups.setdefault(label, array("I")).append(place)

    def groups(self, slice_: str) -> dict[str, Sequence[int]]:
        """Return the groups of a slice: label to the places of its questions."""
        return dict(self._groups.get(slice_, {}))

    def take(self, places: Sequence[int]) -> RowTable:
        """Return the table of some questions of a whole table; its answers stay those of the whole."""
        part = copy.copy(self)
        part._places = np.asarray(places, dtype=np.int64)
        part.size = len(places)
        part.ranking = self.ranking.take(part._places)
        part.linking = self.linking.take(part._places)
        part.completion = {new: self.completion[old] for new, old in enumerate(places) if old in self.completion}
        return part

    @property
    def failed(self) -> int:
        """Number of questions that ended in an error."""
        return int(self._values(self._failed).sum())

    @property
    def walks(self) -> bool:
        """Whether the method returned paths."""
        return bool(self._values(self._walks).any())

    @property
    def links(self) -> _Floats:
        """Origin of the links of each question, as its place in ``LINKS``."""
        return self._values(self._links)

    @property
    def seconds(self) -> _Floats:
        """Seconds of each question."""
        return self._values(self._seconds)

    def has(self, metric: str) -> bool:
        """Return whether any question has a metric."""
        return metric in self._metrics and not bool(np.isnan(self._values(self._metrics[metric])).all())

    def column(self, metric: str) -> Computed:
        """Return a metric of each question; failed questions of a method with a reader have 0 for answer metrics."""
        return Computed(self.size, lambda: self._column(metric))

    def _column(self, metric: str) -> _Floats:
        found = self._values(self._metrics.get(metric, Numbers()))
        if metric in ANSWER_METRICS and not np.isnan(found).all():
            found[np.isnan(found) & (self._values(self._lost) == 1)] = 0.0
        return found

    def _values(self, numbers: Numbers) -> _Floats:
        whole = numbers.values(self._whole)
        return whole if self._places is None else whole[self._places]


def _one(label: str | None) -> tuple[str, ...]:
    return () if label is None else (label,)
