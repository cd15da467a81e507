"""Conformance of subgraph encoders: a float32 matrix whose rows depend on their subgraph and centre alone."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
import pytest

from srtk_framework.roles import SubgraphEncoder
from srtk_framework.testing.batches import Probe, Probes
from srtk_framework.testing.encoder import MatrixConformance
from srtk_framework.testing.sample import SAMPLE
from srtk_framework.values import DriverError, Literal, Triple

Item = tuple[tuple[Triple, ...], str]


class SubgraphEncoderConformance(MatrixConformance):
    """Checks a SubgraphEncoder; rows are compared bit by bit."""

    role = SubgraphEncoder

    @pytest.fixture
    def triples(self) -> list[Triple]:
        """Return triples of the graph between entities, from which subgraphs are made."""
        return sorted({triple for triple in SAMPLE.triples if not isinstance(triple.object, Literal)})

    @pytest.fixture
    def subgraphs(self, triples: list[Triple]) -> list[Item]:
        """Return different subgraphs of one to nine triples, each with its centre."""
        sizes = (1 + number % 9 for number in range(len(triples)))
        cut = [(tuple(triples[at : at + size]), triples[at].subject) for at, size in enumerate(sizes)]
        return list(dict.fromkeys(cut))[:72]

    @pytest.fixture
    def probes(self, subgraphs: list[Item]) -> Probes:
        """Call ``encode`` with ``subgraphs``."""
        facts, centre = subgraphs[2]
        related = [(facts, facts[-1].object), (facts[:1], centre), (facts[1:], centre)]
        return lambda driver: [Probe("encode", driver.encode, subgraphs, related=related)]

    def use(self, driver: Any) -> None:
        """Encode a subgraph."""
        driver.encode([[Triple("riga", "capital_of", "latvia")]], ["riga"])

    def test_different_subgraphs_get_different_rows(self, driver: Any, triples: list[Triple]) -> None:
        """Two triples of one relation, without a common entity, have different rows."""
        one, other = next(
            (one, other)
            for at, one in enumerate(triples)
            for other in triples[at + 1 :]
            if one.relation == other.relation and not {one.subject, one.object} & {other.subject, other.object}
        )
        rows = [driver.encode([[triple]], [triple.subject]) for triple in (one, other)]
        assert not np.array_equal(*rows), f"{one} and {other} have the same row"

    def test_relations_count(self, driver: Any, triples: list[Triple]) -> None:
        """A triple with another relation has another row."""
        one = triples[0]
        other = one._replace(relation=next(t.relation for t in triples if t.relation != one.relation))
        rows = [driver.encode([[triple]], [one.subject]) for triple in (one, other)]
        assert not np.array_equal(*rows), f"{one} and {other} have the same row"

    def test_a_subgraph_is_a_set(self, driver: Any, subgraphs: list[Item]) -> None:
        """The order of the triples and their repetitions change no bit of the row."""
        facts, centre = max(subgraphs, key=lambda item: len(item[0]))
        one, turned, twice = (driver.encode([some], [centre]) for some in (facts, facts[::-1], (*facts, *facts)))
        assert np.array_equal(one, turned), "the row depends on the order of the triples"
        assert np.array_equal(one, twice), "the row depends on how often a triple is given"

    def test_a_centre_without_triples_has_a_row(self, driver: Any, subgraphs: list[Item]) -> None:
        """An empty subgraph has a finite row."""
        matrix = driver.encode([()], [subgraphs[0][1]])
        assert matrix.shape[0] == 1, f"an empty subgraph has {matrix.shape[0]} rows"
        assert np.isfinite(matrix).all(), "the row of an empty subgraph is not finite"

    def test_a_centre_outside_of_its_triples_has_a_row(self, driver: Any, subgraphs: list[Item]) -> None:
        """A centre that is in no triple of its subgraph is no error."""
        facts, _ = subgraphs[0]
        assert np.isfinite(driver.encode([facts], ["no such entity"])).all(), "the row is not finite"

    def test_what_the_graph_lacks_is_encoded(self, driver: Any) -> None:
        """Ids that no graph has, literals, quotes and other scripts have finite rows."""
        strange = [
            Triple("no such entity", "no such relation", 'Who said "hello" to <b>her</b> & \\?'),
            Triple("日本国", "\u202ertl\u202c", Literal('"1998-01-02"^^xsd:date')),
        ]
        assert np.isfinite(driver.encode([strange], ["日本国"])).all(), "the row of unknown ids is not finite"

    def test_a_large_subgraph_has_a_row(self, driver: Any) -> None:
        """A subgraph of 3,000 triples around one hub has a finite row."""
        facts = [Triple("hub", f"relation {number % 7}", f"leaf {number}") for number in range(3000)]
        assert np.isfinite(driver.encode([facts], ["hub"])).all(), "the row of a large subgraph is not finite"


@attrs.define(eq=False)
class ToySubgraphEncoder(SubgraphEncoder):
    """Count the triples in hashed columns, those that touch the centre twice; rows have length 1.

    Attributes:
        dimensions: Number of columns.
    """

    dimensions: int = 256

    def open(self) -> None:
        """Refuse settings that describe no matrix."""
        if self.dimensions < 1:
            raise DriverError("dimensions must be 1 or more")

    def encode(self, subgraphs: Sequence[Sequence[Triple]], centres: Sequence[str]) -> npt.NDArray[np.float32]:
        """Hash the centre and each distinct triple to a column."""
        matrix = np.zeros((len(centres), self.dimensions), dtype=np.float32)
        for row, facts, centre in zip(matrix, subgraphs, centres, strict=True):
            row[self._column(centre)] += 1
            for triple in set(facts):
                row[self._column("\t".join(triple))] += 2 if centre in (triple.subject, triple.object) else 1
            row /= np.sqrt(np.sum(row * row))
        return matrix

    def _column(self, text: str) -> int:
        return zlib.crc32(text.encode("utf-8", "replace")) % self.dimensions


class ToySubgraphEncoderCase(SubgraphEncoderConformance):
    """The toy encoder keeps the contract of a subgraph encoder."""

    name = "toy"

    @pytest.fixture
    def driver(self) -> Iterator[ToySubgraphEncoder]:
        """Open an encoder."""
        encoder = ToySubgraphEncoder()
        encoder.open()
        yield encoder
        encoder.close()

    @pytest.fixture
    def faulty(self) -> ToySubgraphEncoder:
        """Return an encoder without columns."""
        return ToySubgraphEncoder(dimensions=0)

    def test_subgraphs_with_common_triples_are_near_each_other(self, driver: ToySubgraphEncoder) -> None:
        """Two subgraphs that share a triple are closer than two that share none."""
        born, lives = Triple("ann", "born_in", "riga"), Triple("ann", "lives_in", "oslo")
        other = Triple("bob", "works_for", "acme")
        whole, part, apart = driver.encode([[born, lives], [born], [other]], ["ann", "ann", "bob"])
        assert whole @ part > whole @ apart


SUMMARY = "A subgraph encoder by hashed triples"

RECIPE = """\
subgraph_encoder: {use: toy, dimensions: 256}
"""
