"""The ``fallback`` linker: the next linker where the ones before find nothing, or fail."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import attrs

from srtk_framework.roles import EntityLinker
from srtk_framework.values import DriverError, LinkList
from srtk_plugin_local.linker_views.linker_calls import Answer, all_failed, ask, name_of, told

_log = logging.getLogger(__name__)


@attrs.define(eq=False)
class FallbackLinker(EntityLinker):
    """Ask linkers one after the other; each text is answered by the first that finds something in it.

    A linker that fails or times out is passed over, which is logged as a warning and told in the trace; a text for
    which all fail is an error. How long a linker may take is its own setting.

    Attributes:
        linkers: Linkers, most trusted first.
        min_score: Links with a lower score are as good as none.
        required: Whether the failure of a linker ends the run.
    """

    linkers: Sequence[EntityLinker]
    min_score: float = 0.0
    required: bool = False

    def __attrs_post_init__(self) -> None:
        if not self.linkers:
            raise ValueError("linkers is empty; name at least one")
        if not 0 <= self.min_score <= 1:
            raise ValueError(f"min_score must be from 0 to 1, not {self.min_score}")

    def fingerprint(self) -> str:
        """Identify the linkers and their order."""
        inner = ", ".join(linker.fingerprint() for linker in self.linkers)
        return f"FallbackLinker([{inner}], {self.min_score}, {self.required})"

    def link(self, texts: Sequence[str]) -> list[LinkList]:
        """Link each text by the first linker that finds something."""
        return [links for _, links in self.answered(texts)]

    def answered(self, texts: Sequence[str]) -> list[tuple[str, LinkList]]:
        """Link as ``link`` does, and say who answered.

        Returns:
            Per text the name of the linker, empty where none found anything, and its links.
        """
        done: list[tuple[str, LinkList]] = [("", LinkList()) for _ in texts]
        asked: list[list[Answer]] = [[] for _ in texts]
        left = [place for place, text in enumerate(texts) if text.strip()]
        for number, linker in enumerate(self.linkers):
            found = 0
            answers = ask(linker, [texts[place] for place in left], self.required, _log)
            for place, answer in zip(left, answers, strict=True):
                asked[place].append(answer)
                known = [] if isinstance(answer, DriverError) else answer
                links = [link for link in known if link.score >= self.min_score]
                found += bool(links)
                done[place] = (name_of(linker) if links else "", told(self.linkers[: number + 1], asked[place], links))
            if left:
                _log.info("the linker %s answered %d of %d texts", name_of(linker), found, len(left))
            left = [place for place in left if not done[place][0]]
        for place in left:
            failures = [answer for answer in asked[place] if isinstance(answer, DriverError)]
            if len(failures) == len(self.linkers):
                raise all_failed(failures)
        return done
