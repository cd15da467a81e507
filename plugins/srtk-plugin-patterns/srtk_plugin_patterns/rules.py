"""Rules of a graph: paths and constants that imply a relation, with how often each is right; kept as a folder."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any, Self

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.graph import TripleTable
from srtk_framework.records import beside, read_model, write_model
from srtk_plugin_patterns.twins import Twins, from_json, to_json

_FORMAT = "srtk-path-rules-2"
_FILE = "rules.json"
_AGAIN = "learn the rules again"
_FACTS = ("graph", "trained_on", "entities", "relations", "cut", "training", "twins")

UNSEEN = 5  # Wrong predictions that are added to those of each rule, so that a rule that was seen once is not certain.

LONGEST = 3  # Most steps of a rule's path, as AnyBURL's default has it for paths.

NOTHING = -1  # Stands for a step that a shorter path lacks, for the step of a rule without a body, and for any value.

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class _Columns:
    """Rules as columns, which a derived class names; each has ``support`` and ``body``."""

    @property
    def confidence(self) -> Floats:
        """Share of the predictions that are right, with 5 wrong ones added."""
        found: Floats = self.support / (self.body + UNSEEN)  # type: ignore[attr-defined]
        return found

    def __len__(self) -> int:
        return len(self.support)  # type: ignore[attr-defined]

    def __getitem__(self, rows: Any) -> Self:
        return type(self)(*(column[rows] for column in attrs.astuple(self, recurse=False)))  # type: ignore[arg-type]


@attrs.frozen(eq=False)
class PathRules(_Columns):
    """Rules r(X, Y) <- path; a rule is a row.

    A path visits no entity twice, so it never uses the triple that it implies.

    Attributes:
        relations: Numbers of the relations that are implied [n].
        steps: Step numbers of the paths, filled up with -1 [n, 3].
        support: Pairs of the relation that the path joins [n].
        body: Pairs that the path joins [n].
    """

    relations: Ints
    steps: Ints
    support: Ints
    body: Ints


@attrs.frozen(eq=False)
class ConstantRules(_Columns):
    """Rules with a constant c and a variable V at the ends of the relation; a rule is a row.

    The body is a step from V to a value d, to any entity but c, or nothing: then V occurs at its end of the relation.

    Attributes:
        relations: Numbers of the relations that are implied [n].
        at_subject: Whether the constant is the subject, r(c, V), rather than the object, r(V, c) [n].
        constants: Numbers of the constants [n].
        steps: Step numbers of the bodies; -1 for none [n].
        values: Numbers of the values; -1 for any [n].
        support: Entities V for which body and head hold [n].
        body: Entities V for which the body holds [n].
    """

    relations: Ints
    at_subject: npt.NDArray[np.bool_]
    constants: Ints
    steps: Ints
    values: Ints
    support: Ints
    body: Ints


_PATHS = tuple(field.name for field in attrs.fields(PathRules))
_CONSTANTS = tuple(field.name for field in attrs.fields(ConstantRules))


@attrs.frozen(eq=False)
class Rules:
    """The rules of a graph.

    Attributes:
        entities: Ids of the entities, sorted; a number in the rules is a place here.
        relations: Ids of the relations, sorted.
        paths: Rules with paths, by relation, then the most confident first.
        constants: Rules with constants, by relation and end, then the most confident first.
        graph: Hash of the graph's triples; see ``TripleTable.content_hash``.
        trained_on: Hash of the triples that they were learnt from: the graph's without the held-out facts.
        cut: Numbers of paths and rules not counted or not kept, by cause.
        training: Settings of the training.
        twins: Steps from which nothing was learnt about the same pair.
    """

    entities: tuple[str, ...]
    relations: tuple[str, ...]
    paths: PathRules
    constants: ConstantRules
    graph: str
    trained_on: str
    cut: Mapping[str, int] = attrs.field(factory=dict)
    training: Mapping[str, Any] = attrs.field(factory=dict)
    twins: Twins = attrs.field(factory=dict)

    def fingerprint(self) -> str:
        """Return a hash of the rules and their graph."""
        facts = json.dumps([self.entities, self.relations, self.graph, self.trained_on])
        digest = hashlib.sha256(facts.encode())
        for name, column in sorted(self._columns().items()):
            digest.update(name.encode())
            digest.update(np.ascontiguousarray(column, dtype="<i8").tobytes())
        return digest.hexdigest()[:16]

    def numbered(self, table: TripleTable) -> Rules:
        """Return the rules with the numbers of a table that has all of their entities and relations."""
        if (table.entities, table.relations) == (self.entities, self.relations):
            return self
        # The last place serves -1, which stays.
        ends = np.array([*map(table.entity_numbers.__getitem__, self.entities), NOTHING], dtype=np.int64)
        names = np.array([*map(table.relation_numbers.__getitem__, self.relations)], dtype=np.int64)
        steps = np.append((2 * names[:, None] + np.arange(2)).ravel(), NOTHING)
        paths, constants = self.paths, self.constants
        return attrs.evolve(
            self,
            entities=table.entities,
            relations=table.relations,
            paths=attrs.evolve(paths, relations=names[paths.relations], steps=steps[paths.steps]),
            constants=attrs.evolve(
                constants,
                relations=names[constants.relations],
                constants=ends[constants.constants],
                steps=steps[constants.steps],
                values=ends[constants.values],
            ),
        )

    def save(self, folder: FilePath) -> None:
        """Write ``rules.npz`` and ``rules.json``; equal rules give equal bytes."""
        columns = {name: np.ascontiguousarray(column, dtype="<i8") for name, column in self._columns().items()}
        data = io.BytesIO()
        np.savez_compressed(data, **columns)  # type: ignore[arg-type]
        facts = {"format": _FORMAT, **{name: getattr(self, name) for name in _FACTS}, "twins": to_json(self.twins)}
        write_model(folder / _FILE, facts, {"rules.npz": data.getvalue()})

    @classmethod
    def load(cls, folder: FilePath) -> Rules:
        """Read saved rules.

        Raises:
            DriverError: If a file is missing, damaged, or not of this form.
        """
        file = folder / _FILE

        def parse(facts: Any) -> Rules:
            if facts["format"] != _FORMAT:
                raise ValueError(f"its format is {facts['format']}, not {_FORMAT}")
            with np.load(beside(file, facts, "rules.npz", _AGAIN), allow_pickle=False) as data:
                columns = {name: data[name].astype(np.int64) for name in data.files}
            constants = {name: columns[f"constant_{name}"] for name in _CONSTANTS}
            constants["at_subject"] = constants["at_subject"].astype(bool)
            return cls(
                tuple(facts["entities"]),
                tuple(facts["relations"]),
                PathRules(*(columns[f"path_{name}"] for name in _PATHS)),
                ConstantRules(**constants),
                facts["graph"],
                facts["trained_on"],
                facts["cut"],
                facts["training"],
                from_json(facts["twins"]),
            )

        return read_model(file, "path-rules", parse, _AGAIN)

    def _columns(self) -> dict[str, npt.NDArray[Any]]:
        return {f"path_{name}": getattr(self.paths, name) for name in _PATHS} | {
            f"constant_{name}": getattr(self.constants, name) for name in _CONSTANTS
        }
