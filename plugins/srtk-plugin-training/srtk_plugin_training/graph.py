"""Training on the facts of a graph, with some of them held out for validation."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import attrs
import numpy as np
from srtk_plugin_evaluation.link_prediction import FactEnds, link_prediction, ranks_of
from srtk_plugin_evaluation.rank_metrics import TiedRanks

from srtk_framework.graph import TripleTable
from srtk_framework.records import place
from srtk_framework.roles import Completer, KnowledgeGraph
from srtk_framework.run import Session, elsewhere
from srtk_framework.values import RunError, Triple
from srtk_plugin_training.material import (
    NO_SETS,
    NO_TEXTS,
    Context,
    Examples,
    Given,
    Material,
    TrainingData,
    held_by,
    no_questions,
)

HELD_OUT = "held_out.tsv"  # File of the facts held out in the folder of a training.

STATE = "state"  # Subfolder for the driver as it is during a validation, which the places of an executor read.

VALIDATED = 1000  # Most facts held out that one validation ranks; those of the smallest hashes.


@attrs.frozen
class GraphMaterial(Material):
    """The facts of the driver's graph: its triples between entities.

    Attributes:
        graph: The graph that the driver reads.
        share: Share of the facts to hold out, or None.
    """

    graph: KnowledgeGraph
    share: float | None
    described = "facts of the graph"
    names: ClassVar[Mapping[str, str]] = {"held_out": "the facts held out"}
    refuses: ClassVar[Mapping[str, str]] = {**NO_TEXTS, **NO_SETS, **no_questions("its graph", "facts")}
    pipeline_tag = "graph-ml"
    hashed = "the facts held out"

    card = "Trained on {facts:,} facts of {relations:,} relations; {held_out:,} others were held out."

    @property
    def summary(self) -> str:  # type: ignore[override]
        """Line on the training for the terminal."""
        return "{facts:,} facts" + ("" if self.share is None else "; {held_out:,} were held out")

    @classmethod
    def of(cls, given: Given) -> GraphMaterial | None:
        """Build the material that a recipe names."""
        block = given.block
        graph = next((one for one in held_by(given.driver.driver) if isinstance(one, KnowledgeGraph)), None)
        if graph is None:
            given.wrong(block.where, f"the {block.role} {block.use!r} learns from its graph, but it has none")
            return None
        return cls(graph, given.train.share)

    def read(self, context: Context) -> TrainingData:
        """List the facts of the graph, and draw those to hold out."""
        table = TripleTable.of(self.graph)
        held = () if self.share is None else held_out_facts(table, self.share, context.seed)
        if self.share is not None and not held:
            raise RunError(
                f"no fact of {self.graph.source()} is held out: a share of {self.share:g} of its"
                f" {len(table.triples):,} facts is less than one, or each is the only fact of an entity; give a larger"
                " share, or omit `held_out:`"
            )
        digest = hashlib.sha256("\n".join(map(repr, held)).encode("utf-8", "surrogatepass")).hexdigest()
        counts = {"facts": len(table.triples) - len(held), "held_out": len(held), "relations": len(table.relations)}
        return TrainingData({"held_out": digest}, counts, held_out=held)

    def examples(self, data: TrainingData, context: Context, goes_on: bool) -> Examples:
        """Write down the facts held out; a driver that learns from a graph needs no examples."""
        if not data.counts["facts"]:
            raise RunError(f"{self.graph.source()} has no fact between two entities to learn from")
        lines = ("\t".join(triple) + "\n" for triple in data.held_out)
        (context.folder / HELD_OUT).write_text("".join(lines), encoding="utf-8", newline="\n")
        return Examples()

    def validation(self, data: TrainingData, context: Context) -> Callable[[], Mapping[str, float]] | None:
        """Return how the driver ranks the facts held out; None without any, or for a driver that completes nothing.

        The recipe's executor ranks parts of them, by what the driver saves then.
        """
        if not data.held_out or not isinstance(context.driver.driver, Completer):
            return None
        driver: Any = context.driver.driver
        ranked = sorted(data.held_out, key=lambda fact: (_hash(fact, context.seed), fact))[:VALIDATED]
        table = TripleTable.of(self.graph)
        there = elsewhere(context.session, _ranked)
        if there is None:
            return lambda: link_prediction(driver, table, ranked)
        state = context.folder.resolve() / STATE

        def spread(parts: Iterable[FactEnds]) -> Iterator[TiedRanks]:
            shutil.rmtree(state, ignore_errors=True)  # of a process that was killed
            driver.save(state)
            try:
                yield from there(_Part(state, driver.fingerprint(), part) for part in parts)
            finally:
                shutil.rmtree(state, ignore_errors=True)

        return lambda: link_prediction(driver, table, ranked, spread)


@attrs.frozen
class _Part:
    """A part of the facts to rank in a place of the executor.

    Attributes:
        state: Folder of what the completer has saved.
        fingerprint: Of the completer.
        ends: The facts.
    """

    state: Path
    fingerprint: str
    ends: FactEnds


# Facts of the completer's graph, by the session of this place.
_TABLES: WeakKeyDictionary[Session, TripleTable] = WeakKeyDictionary()


def _ranked(session: Session, part: _Part) -> TiedRanks:
    """Rank a part of the facts by the completer of another process."""
    driver: Any = session.composer.of_role(Completer.role).driver
    if driver.fingerprint() != part.fingerprint:
        try:
            driver.load(part.state)
        except OSError as error:
            raise RunError(f"an executor's place cannot read the completer: {error}; share its folder") from error
        if driver.fingerprint() != part.fingerprint:
            raise RunError(
                f"{type(driver).__name__} is another one after `save` and `load`, so no other process can validate it;"
                " train without `executor:`"
            )
    if session not in _TABLES:
        _TABLES[session] = TripleTable.of(next(one for one in held_by(driver) if isinstance(one, KnowledgeGraph)))
    return ranks_of(driver, _TABLES[session], part.ends)


def held_out_facts(table: TripleTable, share: float, seed: int) -> tuple[Triple, ...]:
    """Draw facts of a graph by their hashes, from each relation in proportion to its facts.

    Every entity keeps a fact: the last fact of an entity is passed over for the next of the relation. A relation whose
    facts are all the last of an entity gives fewer.

    Args:
        table: All facts.
        share: Share to draw; the number is rounded down over all relations.
        seed: Seed of the hashes.

    Returns:
        The facts, sorted.
    """
    degrees = np.bincount(table.triples[:, [0, 2]].ravel(), minlength=len(table.entities))
    # A fact from an entity to itself is one fact of it.
    loops = table.triples[table.triples[:, 0] == table.triples[:, 2], 0]
    degrees -= np.bincount(loops, minlength=len(table.entities))
    held: list[Triple] = []
    before = 0
    for number in range(len(table.relations)):
        rows = table.of_relation(number)
        # Quotas of consecutive relations add up to the share of all their facts.
        quota = int((before + len(rows)) * share) - int(before * share)
        before += len(rows)
        if not quota:
            continue
        facts = table.named(rows)
        for at in sorted(range(len(facts)), key=lambda i, facts=facts: (_hash(facts[i], seed), i)):  # type: ignore[misc]
            subject, _, object_ = rows[at]
            if degrees[subject] > 1 and degrees[object_] > 1:
                degrees[subject] -= 1
                degrees[object_] -= subject != object_
                held.append(facts[at])
                quota -= 1
                if not quota:
                    break
    return tuple(sorted(held))


def _hash(fact: Triple, seed: int) -> float:
    return place("\t".join(fact), seed)
