"""Redirects and disambiguation pages, and the pages that they lead to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from srtk_plugin_sparql.names import Names
from srtk_plugin_sparql.step_reader import MEMORY, StepReader

from srtk_framework.values import Step
from srtk_plugin_dbpedia.vocabulary import DISAMBIGUATES, REDIRECTS


class Redirects:
    """Redirects and disambiguation pages, each read once.

    The reader reads these two relations only.
    """

    def __init__(self, reader: StepReader, languages: Sequence[str], scan: bool) -> None:
        self._reader = reader
        self._names = Names(reader, languages, scan)
        self._scan = scan
        self._redirects = Step(reader.ids.short(REDIRECTS))
        self._disambiguates = Step(reader.ids.short(DISAMBIGUATES))
        self._targets: dict[str, str] = {}
        self._any: bool | None = None

    def targets(self, ids: Iterable[str]) -> dict[str, str]:
        """Return the final target of each id; the id itself if it is no redirect or part of a cycle."""
        every = list(dict.fromkeys(ids))
        if len(self._targets) + len(every) > MEMORY:
            self._targets.clear()
        self._reader.forget()
        trails = {id_: [id_] for id_ in every if id_ not in self._targets}
        while trails:
            ahead = self._next({trail[-1] for trail in trails.values()}, self._redirects)
            for id_, trail in list(trails.items()):
                onward = ahead[trail[-1]][:1]
                if onward and onward[0] not in trail:
                    trail.append(onward[0])
                    continue
                self._targets[id_] = id_ if onward else trail[-1]
                del trails[id_]
        return {id_: self._targets[id_] for id_ in every}

    def meanings(self, ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Return the pages that each disambiguation page lists, with redirects replaced; none for other pages."""
        self._reader.forget()
        offered = self._next(set(ids), self._disambiguates)
        targets = self.targets(sorted({end for ends in offered.values() for end in ends}))
        return {id_: tuple(sorted({targets[end] for end in ends})) for id_, ends in offered.items()}

    def find(self, names: Sequence[str]) -> list[list[str]]:
        """Find the redirects and disambiguation pages with each name, and the pages that they lead to."""
        if self._scan and self._any is None:
            self._any = bool(self._reader.whole(self._reader.queries.all_nodes(), "?n"))
        return [[] for _ in names] if self._any is False else self._names.find(names)

    def _next(self, ids: Iterable[str], step: Step) -> Mapping[str, tuple[str, ...]]:
        found = self._reader.neighbours([(id_, step) for id_ in sorted(ids)])
        return {id_: near.ends for (id_, _), near in found.items()}
