"""Typed ports: what holds a driver of a role sees one of these, with plain methods, checked answers.

A port removes duplicates from the batch before the call, checks that the answer is aligned with it, and
turns whatever a driver raises into a ``DriverError`` that names the driver.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import attrs

from srtk_framework import roles
from srtk_framework.host.hooks import managed
from srtk_framework.host.observers import Observer
from srtk_framework.roles import Role
from srtk_framework.values import (
    COST_DIGITS,
    Answer,
    Budget,
    DriverError,
    FoundPaths,
    Frontier,
    HopState,
    Link,
    LinkList,
    Mention,
    Path,
    Pattern,
    Prompt,
    Qualifier,
    Question,
    RankedPath,
    Reply,
    Retrieval,
    Schema,
    SrtkError,
    Step,
    Subgraph,
    Triple,
    total,
    usage,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

T = TypeVar("T")


class Port:
    """What all ports share: the call through pluggy, and its checks."""

    def __init__(self, driver: Role, role: str, name: str, observers: Sequence[Observer] = ()) -> None:
        self.driver = driver
        self.name = name
        self._hook = managed(driver, role, name, observers).hook

    def open(self) -> None:
        """Do nothing: the session opens the driver itself."""

    def close(self) -> None:
        """Do nothing: the session closes the driver itself."""

    def open_driver(self) -> None:
        """Open the driver; whatever goes wrong gets its name."""
        self._named("be opened", self.driver.open)

    def close_driver(self) -> None:
        """Close the driver; whatever goes wrong gets its name."""
        self._named("be closed", self.driver.close)

    def _named(self, what: str, call: Callable[[], T]) -> T:
        """Call a driver, and turn whatever it raises into an error that names it."""
        try:
            return call()
        except DriverError as error:
            if error.driver:
                raise
            raise DriverError(str(error), self.name) from error
        except SrtkError:
            raise
        except Exception as error:
            raise DriverError(f"cannot {what}: {type(error).__name__}: {error}", self.name) from error

    def fingerprint(self) -> str:
        """Identify what the driver computes."""
        return self.driver.fingerprint()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.driver!r})"

    def _call(self, method: str, **arguments: Any) -> Any:
        answer = self._named(method, lambda: getattr(self._hook, method)(**arguments))
        if answer is None:
            raise DriverError(f"{method} returned None; it must return one item for each of the batch", self.name)
        return answer

    def _batch(self, method: str, size: int, **arguments: Any) -> Any:
        answer = self._call(method, **arguments)
        if len(answer) != size:
            raise DriverError(f"{method} got {size} items and returned {len(answer)}; they must match", self.name)
        return answer

    def _distinct(self, items: Sequence[T], ask: Callable[[list[T]], Any], key: Callable[[T], Hashable]) -> Any:
        """Ask about each distinct item once, and spread the answers over all."""
        places: dict[Hashable, int] = {}
        distinct: list[T] = []
        order = []
        for item in items:
            place = places.setdefault(key(item), len(distinct))
            if place == len(distinct):
                distinct.append(item)
            order.append(place)
        answer = ask(distinct)
        if len(distinct) == len(items):
            return answer
        if hasattr(answer, "dtype"):  # a matrix takes a list of rows
            return answer[order]
        return [answer[place] for place in order]


def _same(item: Any) -> Hashable:
    return item  # type: ignore[no-any-return]


class KnowledgeGraphPort(Port, roles.KnowledgeGraph):
    """A graph behind pluggy."""

    def frontiers(self, node_sets: Sequence[Sequence[str]]) -> Sequence[Frontier]:
        return self._batch("frontiers", len(node_sets), node_sets=node_sets)  # type: ignore[no-any-return]

    def steps(self, frontiers: Sequence[Frontier], inverse: bool) -> Sequence[Sequence[Step]]:
        return self._distinct(  # type: ignore[no-any-return]
            frontiers, lambda some: self._batch("steps", len(some), frontiers=some, inverse=inverse), id
        )

    def follow(self, frontiers: Sequence[Frontier], steps: Sequence[Step], limit: int | None) -> Sequence[Frontier]:
        return self._pairs("follow", frontiers, steps, limit)  # type: ignore[no-any-return]

    def triples(
        self, frontiers: Sequence[Frontier], steps: Sequence[Step], limit: int | None
    ) -> Sequence[Sequence[Triple]]:
        return self._pairs("triples", frontiers, steps, limit)  # type: ignore[no-any-return]

    def _pairs(self, method: str, frontiers: Sequence[Frontier], steps: Sequence[Step], limit: int | None) -> Any:
        if len(frontiers) != len(steps):
            raise DriverError(f"{method} was asked about {len(frontiers)} frontiers and {len(steps)} steps", self.name)
        return self._distinct(
            list(zip(frontiers, steps, strict=True)),
            lambda some: self._batch(
                method, len(some), frontiers=[pair[0] for pair in some], steps=[pair[1] for pair in some], limit=limit
            ),
            lambda pair: (id(pair[0]), pair[1]),
        )

    def match(self, patterns: Sequence[Pattern]) -> Sequence[Sequence[Triple]]:
        return self._distinct(  # type: ignore[no-any-return]
            patterns, lambda some: self._batch("match", len(some), patterns=some), _same
        )

    def neighbourhood(self, frontiers: Sequence[Frontier], hops: int, budget: Budget) -> Sequence[Sequence[Triple]]:
        return self._distinct(  # type: ignore[no-any-return]
            frontiers,
            lambda some: self._batch("neighbourhood", len(some), frontiers=some, hops=hops, budget=budget),
            id,
        )

    def paths(
        self,
        starts: Sequence[Sequence[str]],
        ends: Sequence[Sequence[str]],
        hops: int,
        budget: Budget,
        shortest: bool,
        inverse: bool,
    ) -> Sequence[FoundPaths]:
        if len(starts) != len(ends):
            raise DriverError(f"paths was asked about {len(starts)} sets of starts and {len(ends)} of ends", self.name)
        shared = {"hops": hops, "budget": budget, "shortest": shortest, "inverse": inverse}
        return self._distinct(  # type: ignore[no-any-return]
            list(zip(map(tuple, starts), map(tuple, ends), strict=True)),
            lambda some: self._batch(
                "paths", len(some), starts=[pair[0] for pair in some], ends=[pair[1] for pair in some], **shared
            ),
            _same,
        )

    def labels(self, ids: Sequence[str]) -> Sequence[str]:
        return self._distinct(ids, lambda some: self._batch("labels", len(some), ids=some), _same)  # type: ignore[no-any-return]

    def find(self, names: Sequence[str]) -> Sequence[Sequence[str]]:
        return self._distinct(names, lambda some: self._batch("find", len(some), names=some), _same)  # type: ignore[no-any-return]

    def degrees(self, ids: Sequence[str]) -> Sequence[int]:
        return self._distinct(ids, lambda some: self._batch("degrees", len(some), ids=some), _same)  # type: ignore[no-any-return]

    def qualifiers(self, triples: Sequence[Triple]) -> Sequence[Sequence[Qualifier]]:
        return self._distinct(  # type: ignore[no-any-return]
            triples, lambda some: self._batch("qualifiers", len(some), triples=some), _same
        )

    def schema(self) -> Schema:
        return self._call("schema")  # type: ignore[no-any-return]

    def source(self) -> str:
        return self._call("source")  # type: ignore[no-any-return]


class MentionDetectorPort(Port, roles.MentionDetector):
    """A mention detector behind pluggy."""

    def detect(self, texts: Sequence[str]) -> Sequence[Sequence[Mention]]:
        return self._distinct(  # type: ignore[no-any-return]
            texts, lambda some: self._batch("detect", len(some), texts=some), _same
        )


class EntityLinkerPort(Port, roles.EntityLinker):
    """A linker behind pluggy; writes its name into the links that do not say who found them."""

    def link(self, texts: Sequence[str]) -> Sequence[Sequence[Link]]:
        rows = self._distinct(texts, lambda some: self._batch("link", len(some), texts=some), _same)
        return [self._signed(row) for row in rows]

    def _signed(self, row: Any) -> Any:
        if not isinstance(row, list | tuple) or not all(isinstance(link, Link) for link in row):
            return row  # broken, which the conformance tests tell
        links = [link if link.by else attrs.evolve(link, by=self.name) for link in row]
        return LinkList.of(links, row) if isinstance(row, LinkList) else links


class PathScorerPort(Port, roles.PathScorer):
    """A path scorer behind pluggy."""

    def score(
        self, questions: Sequence[str], paths: Sequence[Path], candidates: Sequence[Sequence[Step]]
    ) -> Sequence[Sequence[float]]:
        if not len(questions) == len(paths) == len(candidates):
            raise DriverError("score was asked about lists of different lengths", self.name)
        answer = self._batch("score", len(paths), questions=questions, paths=paths, candidates=candidates)
        for scores, steps in zip(answer, candidates, strict=True):
            if len(scores) != len(steps):
                raise DriverError(f"score got {len(steps)} candidates and returned {len(scores)} scores", self.name)
        return answer  # type: ignore[no-any-return]

    def scores_end(self) -> bool:
        return bool(self._call("scores_end"))


class ExpanderPort(Port, roles.Expander):
    """An expander behind pluggy; hop-wise drivers are run by the core's loop, hook by hook."""

    def expand(self, questions: Sequence[Question]) -> Sequence[Subgraph]:
        if getattr(type(self.driver), "expand") is roles.Expander.expand:  # noqa: B009 - the driver is any Role here
            from srtk_framework.graph.hop_loop import run_hops

            budget = getattr(self.driver, "budget", None)
            return run_hops(self, questions, budget.seconds if isinstance(budget, Budget) else None)
        return self._batch("expand", len(questions), questions=questions)  # type: ignore[no-any-return]

    def start(self, questions: Sequence[Question]) -> Sequence[HopState]:
        return self._batch("start", len(questions), questions=questions)  # type: ignore[no-any-return]

    def step(self, states: Sequence[HopState]) -> Sequence[HopState]:
        return self._batch("step", len(states), states=states)  # type: ignore[no-any-return]

    def result(self, states: Sequence[HopState]) -> Sequence[Subgraph]:
        return self._batch("result", len(states), states=states)  # type: ignore[no-any-return]


class ExporterPort(Port, roles.Exporter):
    """An exporter behind pluggy."""

    def write(self, retrievals: Sequence[Retrieval]) -> int:
        written = int(self._call("write", retrievals=retrievals))
        if written != len(retrievals):
            raise DriverError(f"write got {len(retrievals)} retrievals and wrote {written}", self.name)
        return written

    def abort(self) -> bool:
        return bool(self._call("abort"))


class EncoderPort(Port, roles.Encoder):
    """An encoder behind pluggy."""

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        return self._distinct(texts, self._matrix, _same)  # type: ignore[no-any-return]

    def _matrix(self, texts: list[str]) -> npt.NDArray[np.float32]:
        import numpy as np

        matrix = self._batch("encode", len(texts), texts=texts)
        if getattr(matrix, "ndim", 0) != 2 or matrix.dtype != np.float32:
            raise DriverError("encode must return a float32 matrix [texts, dimensions]", self.name)
        if not np.isfinite(matrix).all():
            raise DriverError("encode returned numbers that are not finite", self.name)
        return matrix  # type: ignore[no-any-return]


class GeneratorPort(Port, roles.Generator):
    """A generator behind pluggy; counts what its replies took.

    Attributes:
        spent: The sums of ``dialogue.usage`` since the start, ``cached`` replies among them, and what was ``paid``.
    """

    def __init__(self, driver: Role, role: str, name: str, observers: Sequence[Observer] = ()) -> None:
        super().__init__(driver, role, name, observers)
        self.spent: dict[str, Any] = {**total([]), "cached": 0, "paid": 0.0}
        self._lock = threading.Lock()

    def generate(self, prompts: Sequence[Prompt]) -> Sequence[Reply]:
        replies: Sequence[Reply] = self._batch("generate", len(prompts), prompts=prompts)
        paid = usage(reply for reply in replies if not reply.cached)
        with self._lock:
            whole = total([self.spent, usage(replies)])
            cached = self.spent["cached"] + len(replies) - paid["calls"]
            self.spent = {**whole, "cached": cached, "paid": round(self.spent["paid"] + paid["cost"], COST_DIGITS)}
        return replies

    def rate(self, prompts: Sequence[Prompt]) -> Sequence[Sequence[float]]:
        import numpy as np

        rows = self._batch("rate", len(prompts), prompts=prompts)
        for prompt, row in zip(prompts, rows, strict=True):
            if len(row) != len(prompt.options):
                raise DriverError(f"rate got {len(prompt.options)} options and returned {len(row)} numbers", self.name)
            if not np.isfinite(row).all():
                raise DriverError("rate returned numbers that are not finite", self.name)
        return rows  # type: ignore[no-any-return]

    def rates(self) -> bool:
        return bool(self._call("rates"))

    def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        return self._distinct(  # type: ignore[no-any-return]
            texts, lambda some: self._batch("count_tokens", len(some), texts=some), _same
        )


class ReaderPort(Port, roles.Reader):
    """A reader behind pluggy."""

    def read(self, questions: Sequence[Question], subgraphs: Sequence[Subgraph]) -> Sequence[Answer]:
        if len(questions) != len(subgraphs):
            raise DriverError(f"read was asked {len(questions)} questions about {len(subgraphs)} subgraphs", self.name)
        return self._batch(  # type: ignore[no-any-return]
            "read", len(questions), questions=questions, subgraphs=subgraphs
        )

    def refuses(self) -> bool:
        return bool(self._call("refuses"))


class DatasetPort(Port, roles.Dataset):
    """A dataset behind pluggy."""

    def read(self) -> Iterable[Question]:
        questions = iter(self._call("read"))
        while (question := self._named("read on", lambda: next(questions, None))) is not None:
            yield question


class SupervisionPort(Port, roles.Supervision):
    """A supervision behind pluggy."""

    def supervise(self, questions: Sequence[Question]) -> Sequence[Sequence[RankedPath]]:
        return self._batch("supervise", len(questions), questions=questions)  # type: ignore[no-any-return]


PORTS: dict[str, Callable[..., Any]] = {
    "knowledge_graph": KnowledgeGraphPort,
    "mention_detector": MentionDetectorPort,
    "entity_linker": EntityLinkerPort,
    "path_scorer": PathScorerPort,
    "expander": ExpanderPort,
    "exporter": ExporterPort,
    "encoder": EncoderPort,
    "generator": GeneratorPort,
    "reader": ReaderPort,
    "dataset": DatasetPort,
    "supervision": SupervisionPort,
}


def port(driver: Role, role: str, name: str, observers: Sequence[Observer] = ()) -> Any:
    """Put a driver behind the port of its role."""
    return PORTS[role](driver, role, name, observers)
