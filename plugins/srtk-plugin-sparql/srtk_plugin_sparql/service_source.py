"""The source of a linker that asks a web service: its record, its cache, and questions asked side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from srtk_framework.web import RequestError
from srtk_plugin_sparql.record import Recorder, Replay
from srtk_plugin_sparql.sources import CachedSource, RememberedSource, Source
from srtk_plugin_sparql.terms import Rows


def service_source(
    client: Callable[[], Source], record: str | None, replay: str | None, cache: str | None, cache_days: float
) -> RememberedSource:
    """Put a client behind its cache, its record and a memory; a replay needs no client.

    Args:
        client: Makes the client.
        record: Folder to which answers are written, or None.
        replay: Folder of answers in place of the service, or None.
        cache: File of the cache, or None.
        cache_days: Age in days at which an answer is asked for again.
    """
    if replay is not None:
        return RememberedSource(Replay(Path(replay)))
    source = client()
    if cache is not None:
        source = CachedSource(source, Path(cache), "", cache_days)
    return RememberedSource(source if record is None else Recorder(source, Path(record), source.endpoint))


def ask_all(source: Source, queries: Sequence[str], workers: int) -> list[Rows]:
    """Ask all, some at the same time; the first failure stops what has not begun.

    Raises:
        RequestError: If a query has no answer.
    """
    if workers < 2 or len(queries) < 2:
        return [source.select(query, False) for query in queries]
    with ThreadPoolExecutor(workers) as pool:
        asked = [pool.submit(source.select, query, False) for query in queries]
        try:
            return [future.result() for future in asked]
        except RequestError:
            for future in asked:
                future.cancel()
            raise
