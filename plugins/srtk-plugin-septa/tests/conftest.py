"""A country graph, and what keeps trainings small."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from srtk_plugin_local.memory import MemoryGraph

FACTS = [
    ("riga", "capitalOf", "latvia"),
    ("tallinn", "capitalOf", "estonia"),
    ("ann", "bornIn", "riga"),
    ("bob", "bornIn", "riga"),
    ("ann", "worksIn", "tallinn"),
    ("latvia", "borders", "estonia"),
]


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    torch = pytest.importorskip("torch")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def countries() -> MemoryGraph:
    labels = {id_: id_.title() for fact in FACTS for id_ in (fact[0], fact[2])}
    made = MemoryGraph(triples=FACTS, labels=labels)
    made.open()
    return made
