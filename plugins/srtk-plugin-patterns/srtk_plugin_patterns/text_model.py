"""Model of the completer ``text-search``: paths of relations, and the kind of query for each relation and end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from srtk_framework.values import Path, Step
from srtk_plugin_patterns.path_patterns import PathPatterns
from srtk_plugin_patterns.text_queries import VARIANTS, Variant
from srtk_plugin_patterns.twins import Twins, from_json, to_json


@attrs.frozen
class TextModel:
    """Paths and kinds of queries.

    Attributes:
        paths: By relation, from subject to object, best first.
        variants: By relation and end, as the step from the known entity; the kind that finds most there.
        twins: Steps that no path begins or ends with.
    """

    paths: Mapping[str, Sequence[Path]] = attrs.field(factory=dict)
    variants: Mapping[Step, Variant] = attrs.field(factory=dict)
    twins: Twins = attrs.field(factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "paths": {
                relation: [list(map(str, path)) for path in paths] for relation, paths in sorted(self.paths.items())
            },
            "variants": [[str(step), variant] for step, variant in sorted(self.variants.items())],
            "twins": to_json(self.twins),
        }

    @classmethod
    def from_json(cls, data: Any) -> TextModel:
        """Read the result of ``to_json``.

        Raises:
            KeyError, TypeError or ValueError: For anything else.
        """
        variants: dict[Step, Variant] = {}
        for step, variant in data["variants"]:
            variants[Step.parse(step)] = VARIANTS[VARIANTS.index(variant)]
        paths = {
            relation: [tuple(Step.parse(step) for step in path) for path in paths]
            for relation, paths in data["paths"].items()
        }
        return cls(paths, variants, from_json(data["twins"]))


def chosen_paths(patterns: PathPatterns, count: int, productive: int) -> dict[str, list[Path]]:
    """Choose the paths of each relation: of the most productive, the most exclusive by the bound of Score1.

    A path of one step has no inner node that a query could name; it is chosen only where there is no longer path. No
    path that begins or ends with a twin is chosen: its inner node may be the entity that a query asks for.
    """
    chosen = {}
    for relation, found in patterns.relations.items():
        twins = {twin.step for twin in patterns.twins.get(relation, ())}
        left = tuple(path for path in found.paths if twins.isdisjoint((path.steps[0], path.steps[-1])))
        longer = tuple(path for path in left if len(path.steps) > 1)
        best = attrs.evolve(found, paths=longer or left).best(count, productive, bounded=True)
        chosen[relation] = [path.steps for path in best]
    return chosen


def reversed_path(path: Path) -> Path:
    """Walk a path from its other end."""
    return tuple(Step(step.relation, not step.inverse) for step in reversed(path))
