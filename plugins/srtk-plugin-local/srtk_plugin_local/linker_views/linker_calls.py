"""Asks a linker so that its failure spoils no other's answer, and says what failed."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence

from srtk_framework.roles import EntityLinker
from srtk_framework.values import DriverError, Link, LinkList, RunError

Answer = Sequence[Link] | DriverError
"""The links of one text, or why there are none."""


def name_of(linker: EntityLinker) -> str:
    """Return the name of a linker as ``use`` writes it, or that of its class."""
    return str(getattr(linker, "name", "") or type(linker).__name__)


def ask(linker: EntityLinker, texts: Sequence[str], required: bool, log: logging.Logger) -> list[Answer]:
    """Link texts; where the batch fails, one by one, so that one bad text spoils no other.

    Args:
        linker: An opened linker.
        texts: What to link.
        required: Whether a failure ends the run.
        log: Is told of failures, once for each call and cause.

    Raises:
        RunError: If a text fails although the linker is required.
    """
    if not texts:
        return []
    try:
        return list(linker.link(texts))
    except DriverError as error:
        answers: list[Answer] = [error] if len(texts) == 1 else [_ask_one(linker, text) for text in texts]
    failed = [answer for answer in answers if isinstance(answer, DriverError)]
    name = name_of(linker)
    if failed and required:
        raise RunError(f"the linker {name} failed, and the recipe says `required: true`: {failed[0]}") from failed[0]
    if failed:
        log.warning("the linker %s failed for %d of %d texts: %s", name, len(failed), len(texts), failed[0])
    return answers


def _ask_one(linker: EntityLinker, text: str) -> Answer:
    try:
        return linker.link([text])[0]
    except DriverError as error:
        return error


def told(linkers: Sequence[EntityLinker], answers: Sequence[Answer], links: Iterable[Link]) -> LinkList:
    """Make the links of one text, with which of the linkers asked failed, and what the others told.

    Args:
        linkers: Those that were asked.
        answers: One of each.
        links: What was made of the answers.
    """
    row = LinkList.of(links, *(answer for answer in answers if not isinstance(answer, DriverError)))
    for linker, answer in zip(linkers, answers, strict=True):
        if isinstance(answer, DriverError):
            row.failed[name_of(linker)] = str(answer)
    return row


def all_failed(failures: Sequence[DriverError]) -> DriverError:
    """Make one error of those of all linkers."""
    told = "; ".join(dict.fromkeys(str(failure) for failure in failures))
    error = DriverError(f"none of the linkers could be asked: {told}")
    error.__cause__ = failures[0]
    return error


def by_place(link: Link) -> tuple[int, float, str, int]:
    """Order links by start, then falling score, then entity."""
    return -1 if link.start is None else link.start, -link.score, link.entity, link.end or 0
