"""Path patterns: for each relation the paths that join its pairs, with how often they do; kept as a folder."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any

import attrs

from srtk_framework.records import read_model, write_model
from srtk_framework.values import DriverError, Path, Step, at_least, between, close_matches
from srtk_plugin_patterns.twins import OVERLAP, Twins, from_json, to_json

FILE = "patterns.json"
_FORMAT = "srtk-path-patterns-2"
LONGEST = 7  # Most steps of a path, as in the data of Das et al. (AKBC 2016).


@attrs.frozen
class MiningSettings:
    """Settings of mining.

    Attributes:
        length: Most steps of a path, 1 to 7.
        hub: Most edges of one step by which a node is left; a node with more is not left by that step. Half of a path's
            steps are taken from each end, so that a hub may still lie in the middle. null for no bound.
        pairs: Most pairs of a relation from which its paths are mined, drawn by hashes; null for all.
        least: Least number of pairs that a kept path joins.
        most: Most paths kept for a relation; null for all.
        seed: Seed of the hashes.
        twins: Least overlap of a relation with its twins, inverses and near-duplicates, whose triples are held out with
            the triple of a pair; see ``find_twins``. null holds out none.
    """

    length: int = attrs.field(default=4, validator=between(1, LONGEST))
    hub: int | None = attrs.field(default=100, validator=at_least(1))
    pairs: int | None = attrs.field(default=None, validator=at_least(1))
    least: int = attrs.field(default=2, validator=at_least(1))
    most: int | None = attrs.field(default=1000, validator=at_least(1))
    seed: int = 0
    twins: float | None = attrs.field(default=OVERLAP, validator=between(above=0, most=1))


@attrs.frozen
class MinedPath:
    """A path that joins pairs of a relation.

    Attributes:
        steps: From the subject to the object.
        pairs: Pairs of the relation that it joins, each with its own triple held out.
        total: The same over all relations; a pair counts once for each of its relations.
    """

    steps: Path
    pairs: int
    total: int

    def __str__(self) -> str:
        return ", ".join(map(str, self.steps))


@attrs.frozen
class RelationPaths:
    """The paths of a relation.

    Attributes:
        relation: Id of the relation.
        facts: Its triples between entities.
        mined: Those from which paths were mined.
        paths: The paths, by the number of pairs that they join, then by length, then by steps.
    """

    relation: str
    facts: int
    mined: int
    paths: tuple[MinedPath, ...]

    def score1(self, path: MinedPath) -> float:
        """Return how exclusive a path is for the relation: its share of the pairs that the path joins."""
        return path.pairs / path.total

    def score2(self, path: MinedPath) -> float:
        """Return how productive a path is: the share of the relation's pairs that it joins."""
        return path.pairs / self.mined

    def smoothed1(self, path: MinedPath, relations: int) -> float:
        """Return Score1 with one more pair of each relation that the path joins (Laplace)."""
        return (path.pairs + 1) / (path.total + relations)

    def bound1(self, path: MinedPath, z: float = 1.96) -> float:
        """Return the lower end of Score1's confidence interval (Wilson 1927): low for a path that joins few pairs."""
        share, n = self.score1(path), path.total
        middle = share + z * z / (2 * n)
        wide = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
        return max((middle - wide) / (1 + z * z / n), 0.0)

    def best(self, count: int, productive: int = 20, bounded: bool = False) -> tuple[MinedPath, ...]:
        """Choose the most exclusive of the most productive paths.

        Args:
            count: Paths to choose.
            productive: Paths that the first step keeps, by Score2.
            bounded: Compare the lower bounds of Score1 rather than its values, so that a path that joins a single pair
                by chance loses.

        Returns:
            The most exclusive first; among equals the shorter first, then by steps.
        """
        exclusive = self.bound1 if bounded else self.score1
        kept = self.paths[:productive]
        return tuple(sorted(kept, key=lambda path: (-exclusive(path), len(path.steps), path.steps))[:count])


@attrs.frozen
class PathPatterns:
    """Patterns that were mined from a graph.

    Attributes:
        relations: Paths by relation; a relation without a pair to mine from is left out.
        settings: Settings of the mining.
        content: Hash of the graph's triples; see ``TripleTable.content_hash``.
        cut: Number of edges not walked, and of paths not kept, by name.
        twins: What was held out with the triple of a pair.
    """

    relations: Mapping[str, RelationPaths]
    settings: MiningSettings
    content: str
    cut: Mapping[str, int]
    twins: Twins = attrs.field(factory=dict)

    def of(self, relation: str) -> RelationPaths:
        """Return the paths of a relation.

        Raises:
            DriverError: If none were mined.
        """
        if relation not in self.relations:
            raise DriverError(
                f"no paths were mined for {relation!r}: it has no pair of two entities, or the graph lacks it."
                f"{close_matches(relation, sorted(self.relations))}"
            )
        return self.relations[relation]

    def save(self, folder: FilePath) -> None:
        """Write ``patterns.json``."""
        data = {
            "format": _FORMAT,
            "content": self.content,
            "settings": attrs.asdict(self.settings),
            "cut": dict(sorted(self.cut.items())),
            "twins": to_json(self.twins),
            "relations": {
                name: {
                    "facts": found.facts,
                    "mined": found.mined,
                    "paths": [[list(map(str, path.steps)), path.pairs, path.total] for path in found.paths],
                }
                for name, found in sorted(self.relations.items())
            },
        }
        write_model(folder / FILE, data)

    @classmethod
    def load(cls, folder: FilePath) -> PathPatterns:
        """Read saved patterns.

        Raises:
            DriverError: If the file is missing, damaged, or not of this form.
        """

        def parse(data: Any) -> PathPatterns:
            if data["format"] != _FORMAT:
                raise ValueError(f"its format is {data['format']!r}")
            return cls(
                {
                    name: RelationPaths(
                        name,
                        row["facts"],
                        row["mined"],
                        tuple(
                            MinedPath(tuple(map(Step.parse, steps)), pairs, total)
                            for steps, pairs, total in row["paths"]
                        ),
                    )
                    for name, row in data["relations"].items()
                },
                MiningSettings(**data["settings"]),
                data["content"],
                data["cut"],
                from_json(data["twins"]),
            )

        return read_model(folder / FILE, "srtk patterns mine", parse, "mine them again with `srtk patterns mine`")
