"""Subgraph encoders that each break one rule of SubgraphEncoder."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from kit.checked import opened
from kit.rules import Fault, batch_faults, changed, kept_under, publish
from srtk_framework.testing.subgraph_encoder import SubgraphEncoderConformance, ToySubgraphEncoder
from srtk_framework.values import Literal

GOOD = ToySubgraphEncoder


class Checked(SubgraphEncoderConformance):
    """Tests one of the encoders."""

    under_test: ClassVar[type[ToySubgraphEncoder]] = GOOD

    @pytest.fixture
    def driver(self) -> ToySubgraphEncoder:
        """Open it."""
        return opened(self.under_test())


def _double(self: Any, call: Any, subgraphs: Any, centres: Any) -> Any:
    return call(subgraphs, centres).astype(np.float64)


def _no_columns(self: Any, call: Any, subgraphs: Any, centres: Any) -> Any:
    return call(subgraphs, centres) if len(centres) else np.zeros((0, 0), dtype=np.float32)


def _one_row(self: Any, call: Any, subgraphs: Any, centres: Any) -> Any:
    return call(subgraphs or [()], centres or ["riga"])


def _infinite(self: Any, call: Any, subgraphs: Any, centres: Any) -> Any:
    matrix = call(subgraphs, centres)
    matrix[[len(facts) == 4 for facts in subgraphs], 0] = np.inf
    return matrix


def _without_ends(self: Any, call: Any, subgraphs: Any, centres: Any) -> Any:
    return call(
        [[triple._replace(subject="", object="") for triple in facts] for facts in subgraphs], [""] * len(centres)
    )


def _without_relations(self: Any, call: Any, subgraphs: Any, centres: Any) -> Any:
    return call([[triple._replace(relation="") for triple in facts] for facts in subgraphs], centres)


def _weighs_the_first(self: Any, call: Any, subgraphs: Any, centres: Any) -> Any:
    first = call([facts[:1] for facts in subgraphs], centres)
    return call(subgraphs, centres) + first


def _weighs_the_number(self: Any, call: Any, subgraphs: Any, centres: Any) -> Any:
    counts = np.array([len(facts) for facts in subgraphs], dtype=np.float32)
    return call(subgraphs, centres) + counts[:, None]


def _refuses(refused: Any) -> Any:
    def method(self: Any, call: Any, subgraphs: Any, centres: Any) -> Any:
        if any(refused(facts, centre) for facts, centre in zip(subgraphs, centres, strict=True)):
            raise ValueError("this subgraph is not encoded")
        return call(subgraphs, centres)

    return method


def _outside(facts: Any, centre: Any) -> bool:
    return centre == "no such entity" and bool(facts)


FAULTS: list[Fault] = [
    changed(
        GOOD, "test_no_answer_depends_on_what_was_asked_before", encode=kept_under(lambda facts, centre: facts[:1])
    ),
    *(f for f in batch_faults(GOOD, "encode", width=2) if f.check != "test_an_empty_batch_gets_an_empty_answer"),
    changed(GOOD, "test_an_empty_batch_gets_an_empty_answer", encode=_one_row),
    changed(GOOD, "test_the_result_is_a_float32_matrix", encode=_double),
    changed(GOOD, "test_an_empty_batch_has_as_many_columns_as_any", encode=_no_columns),
    changed(GOOD, "test_rows_are_finite", encode=_infinite),
    changed(GOOD, "test_different_subgraphs_get_different_rows", encode=_without_ends),
    changed(GOOD, "test_relations_count", encode=_without_relations),
    changed(GOOD, "test_a_subgraph_is_a_set", encode=_weighs_the_first),
    changed(GOOD, "test_a_subgraph_is_a_set", encode=_weighs_the_number),
    changed(GOOD, "test_a_centre_without_triples_has_a_row", encode=_refuses(lambda facts, centre: not facts)),
    changed(GOOD, "test_a_centre_outside_of_its_triples_has_a_row", encode=_refuses(_outside)),
    changed(
        GOOD,
        "test_what_the_graph_lacks_is_encoded",
        encode=_refuses(lambda facts, centre: any(isinstance(triple.object, Literal) for triple in facts)),
    ),
    changed(GOOD, "test_a_large_subgraph_has_a_row", encode=_refuses(lambda facts, centre: len(facts) > 2000)),
    changed(GOOD, "test_the_folder_of_the_weights_is_there", weights_folder=lambda self, call: Path("nowhere")),
]
publish(__name__, globals(), FAULTS)
