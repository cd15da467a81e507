"""The ``fallback`` linker: the next linker links the texts without links so far, and texts that failed."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import attrs

from srtk_framework.roles import EntityLinker
from srtk_framework.values import DriverError, Link, LinkList, not_empty, share
from srtk_plugin_views.linkers.linker_calls import LinksOrError, all_failed, link_texts, name_of, with_failures

_log = logging.getLogger(__name__)


@attrs.define(eq=False)
class FallbackLinker(EntityLinker):
    """Link each text with the first linker that finds something in it.

    A linker that fails or times out is skipped, with a warning in the log and an entry in the trace. A text is an error
    if all linkers fail on it. Timeouts are settings of the inner linkers.

    Attributes:
        linkers: The linkers, most trusted first.
        min_score: Minimum score of a link; a linker with lower scores only has found nothing.
        required: Whether the failure of a linker ends the run.
    """

    linkers: Sequence[EntityLinker] = attrs.field(validator=not_empty("name at least one"))
    min_score: float = attrs.field(default=0.0, validator=share)
    required: bool = False

    def fingerprint(self) -> str:
        """Identify the linkers and their order."""
        inner = ", ".join(linker.fingerprint() for linker in self.linkers)
        return f"FallbackLinker([{inner}], {self.min_score}, {self.required})"

    def link(self, texts: Sequence[str]) -> list[LinkList]:
        """Link each text with the first linker that finds something."""
        return [links for _, links in self.answered(texts)]

    def suggest(self, texts: Sequence[str], limit: int) -> list[list[Link]]:
        """Return the suggestions of the first linker that has some."""
        found: list[list[Link]] = [[] for _ in texts]
        for linker in self.linkers:
            left = [place for place, row in enumerate(found) if not row]
            if left:
                for place, row in zip(left, linker.suggest([texts[place] for place in left], limit), strict=True):
                    found[place] = list(row)
        return found

    def answered(self, texts: Sequence[str]) -> list[tuple[str, LinkList]]:
        """Link texts as ``link`` does and name the linkers.

        Returns:
            For each text the name of the linker (empty if none found anything) and its links.
        """
        done: list[tuple[str, LinkList]] = [("", LinkList()) for _ in texts]
        results: list[list[LinksOrError]] = [[] for _ in texts]
        left = [place for place, text in enumerate(texts) if text.strip()]
        for number, linker in enumerate(self.linkers):
            found = 0
            found_by = link_texts(linker, [texts[place] for place in left], self.required, _log)
            for place, result in zip(left, found_by, strict=True):
                results[place].append(result)
                known = [] if isinstance(result, DriverError) else result
                links = [link for link in known if link.score >= self.min_score]
                found += bool(links)
                row = with_failures(self.linkers[: number + 1], results[place], links)
                done[place] = (name_of(linker) if links else "", row)
            if left:
                _log.info("the linker %s found links in %d of %d texts", name_of(linker), found, len(left))
            left = [place for place in left if not done[place][0]]
        for place in left:
            failures = [result for result in results[place] if isinstance(result, DriverError)]
            if len(failures) == len(self.linkers):
                raise all_failed(failures)
        return done
