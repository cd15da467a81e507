"""The reads of one hop run concurrently, and the result does not depend on that."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from srtk_framework.testing.scripted import picks
from srtk_framework.values import Link, Question

COUNT = 300
"""More nodes than fit into one query."""


@contextmanager
def meeting(bench: Any, url: str, wanted: int) -> Iterator[Any]:
    """Run a proxy that holds requests back until ``wanted`` of them are in flight at once."""

    class Meeting(bench("misbehaving").Proxy):
        under_way = most = 0

        def draw(self) -> None:
            with self.lock:
                self.under_way += 1
                self.most = max(self.most, self.under_way)
                if self.most >= wanted:
                    met.set()
            assert met.wait(60), f"there were never {wanted} requests under way at once"
            with self.lock:
                self.under_way -= 1

    met = threading.Event()
    with bench("serving").running(Meeting(url, 0.0, 0, 0.0)) as proxy:
        yield proxy


@pytest.mark.parametrize(("workers", "wanted"), [(1, 1), (8, 2)])
def test_reads_of_a_hop_overlap_and_change_nothing(bench, memory, sparql, walk, workers, wanted):
    from srtk_plugin_sparql.limits import SparqlLimits

    rows = [
        row
        for i in range(COUNT)
        for row in ((f"film {i}", "director", f"woman {i}"), (f"film {i}", "year", str(i)), (f"woman {i}", "sex", "f"))
    ]
    questions = [Question(str(i), "Who?", (Link(f"film {i}"),)) for i in range(COUNT)]

    def found(graph: Any) -> Any:
        expander = walk(graph, [("follow", picks("sex", "director"))], stop="depth", max_iterations=2)
        return [(one.triples, one.scores, one.paths, one.trace) for one in expander.expand(questions)]

    near = found(memory(rows))
    assert all(len(triples) == 2 for triples, *_ in near)
    with ExitStack() as stack:
        proxies = []

        def through(url: str) -> str:
            proxies.append(stack.enter_context(meeting(bench, url, wanted)))
            return str(proxies[0].url)

        assert found(sparql(rows, through=through, limits=SparqlLimits(at_once=workers))) == near
        assert (proxies[0].most > 1) == (workers > 1)
