"""What the client of one endpoint asks, how often, and how much at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest
from srtk_plugin_sparql.client import SparqlClient
from srtk_plugin_sparql.limits import SparqlLimits

from srtk_framework.values import DriverError
from srtk_framework.web import DeadlineError, UnavailableError

QUICK: dict[str, Any] = {"wait": 0.01, "wait_most": 0.02, "attempts": 3, "deadline": 5.0}
ONE = "SELECT ?s WHERE { ?s ?p ?o } ORDER BY ?s LIMIT 1"


@contextmanager
def client(url: str, engine: str = "oxigraph", **limits: Any) -> Iterator[SparqlClient]:
    with closing(SparqlClient(url, engine, SparqlLimits(**{**QUICK, **limits}), "srtk-test/1 (test)")) as made:
        yield made


def test_a_query_that_can_be_divided_is_not_asked_again_when_it_takes_too_long(proxy: Any) -> None:
    proxy.always = "504"
    with client(proxy.url) as made:
        for divisible, asked in ((True, 1), (False, 3)):
            proxy.seen.clear()
            with pytest.raises(DeadlineError):
                made.select(ONE, divisible=divisible)
            assert len(proxy.seen) == asked


def test_a_query_that_can_be_divided_is_asked_again_after_other_faults(proxy: Any) -> None:
    proxy.always = "502"
    with client(proxy.url) as made:
        with pytest.raises(UnavailableError):
            made.select(ONE, divisible=True)
        assert len(proxy.seen) == 3
        proxy.always = None
        assert len(made.select(ONE, divisible=True)) == 1


@pytest.mark.parametrize(
    ("engine", "limits", "most"), [("blazegraph", {}, 1), ("oxigraph", {}, 4), ("oxigraph", {"at_once": 2}, 2)]
)
def test_as_many_queries_are_in_flight_as_the_limits_or_else_the_engine_allow(
    proxy: Any, engine: str, limits: dict[str, int], most: int
) -> None:
    proxy.slow = 0.2
    with client(proxy.url, engine, **limits) as made:
        threads = [threading.Thread(target=made.select, args=(ONE, False)) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert proxy.most == most
    assert [query for _, query in proxy.seen].count(ONE) == 6


def test_the_address_is_shown_without_login_and_the_client_names_itself(proxy: Any) -> None:
    with client(proxy.url.replace("http://", "http://me:secret@")) as made:
        assert made.endpoint == proxy.url
        made.select(ONE, divisible=False)
    assert proxy.agents == {"srtk-test/1 (test)"}
    assert [query for _, query in proxy.seen].count(ONE) == 1


def test_an_engine_that_is_not_known_is_refused(proxy: Any) -> None:
    with pytest.raises(DriverError, match=r"engine 'oxygraph' is not known; .*oxigraph"), client(proxy.url, "oxygraph"):
        pass
