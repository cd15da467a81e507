"""Calls of inner linkers whose failures are isolated by text and recorded."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence

from srtk_framework.roles import EntityLinker
from srtk_framework.values import DriverError, Link, LinkList, RunError

LinksOrError = Sequence[Link] | DriverError
"""The links of one text, or the error of the linker."""


def name_of(linker: EntityLinker) -> str:
    """Return the driver name of a linker, else the name of its class."""
    return str(getattr(linker, "name", "") or type(linker).__name__)


def link_texts(linker: EntityLinker, texts: Sequence[str], required: bool, log: logging.Logger) -> list[LinksOrError]:
    """Link texts in one batch; if the batch fails, one by one, so that one bad text fails alone.

    Args:
        linker: An open linker.
        texts: Texts to link.
        required: Whether a failure ends the run.
        log: Receives one warning for a call with failures.

    Raises:
        RunError: If a text fails although the linker is required.
    """
    if not texts:
        return []
    try:
        return list(linker.link(texts))
    except DriverError as error:
        results: list[LinksOrError] = [error] if len(texts) == 1 else [_link_one(linker, text) for text in texts]
    failed = [result for result in results if isinstance(result, DriverError)]
    name = name_of(linker)
    if failed and required:
        raise RunError(f"the linker {name} failed, and the recipe says `required: true`: {failed[0]}") from failed[0]
    if failed:
        log.warning("the linker %s failed for %d of %d texts: %s", name, len(failed), len(texts), failed[0])
    return results


def _link_one(linker: EntityLinker, text: str) -> LinksOrError:
    try:
        return linker.link([text])[0]
    except DriverError as error:
        return error


def with_failures(linkers: Sequence[EntityLinker], results: Sequence[LinksOrError], links: Iterable[Link]) -> LinkList:
    """Return the links of one text with the failures of its linkers.

    Args:
        linkers: Linkers that were called.
        results: Result of each linker.
        links: Links chosen from the results.
    """
    row = LinkList.of(links, *(result for result in results if not isinstance(result, DriverError)))
    for linker, result in zip(linkers, results, strict=True):
        if isinstance(result, DriverError):
            row.failed[name_of(linker)] = str(result)
    return row


def all_failed(failures: Sequence[DriverError]) -> DriverError:
    """Combine the errors of all linkers."""
    reasons = "; ".join(dict.fromkeys(str(failure) for failure in failures))
    error = DriverError(f"all linkers failed: {reasons}")
    error.__cause__ = failures[0]
    return error


def by_place(link: Link) -> tuple[int, float, str, int]:
    """Sort key of links: start, then descending score, then entity."""
    return -1 if link.start is None else link.start, -link.score, link.entity, link.end or 0
