"""The ``fallback`` linker: the next linker where the ones before find nothing, or fail."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import attrs

from srtk_framework.errors import DriverError
from srtk_framework.specs import EntityLinker
from srtk_framework.types import Link
from srtk_plugin_local.linking.asking import all_failed, ask, name_of

_log = logging.getLogger(__name__)


@attrs.define(eq=False)
class FallbackLinker(EntityLinker):
    """Ask linkers one after the other; each text is answered by the first that finds something in it.

    A linker that fails or times out is passed over, which is logged as a warning; a text for which all fail is an
    error. How long a linker may take is its own setting.

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

    def fingerprint(self) -> str:
        """Identify the linkers and their order."""
        inner = ", ".join(linker.fingerprint() for linker in self.linkers)
        return f"FallbackLinker([{inner}], {self.min_score}, {self.required})"

    def link(self, texts: Sequence[str]) -> list[list[Link]]:
        """Link each text by the first linker that finds something."""
        return [links for _, links in self.answered(texts)]

    def answered(self, texts: Sequence[str]) -> list[tuple[str, list[Link]]]:
        """Link as ``link`` does, and say who answered.

        Returns:
            Per text the name of the linker, empty where none found anything, and its links.
        """
        done: list[tuple[str, list[Link]]] = [("", []) for _ in texts]
        failures: list[list[DriverError]] = [[] for _ in texts]
        left = [place for place, text in enumerate(texts) if text.strip()]
        for linker in self.linkers:
            found = 0
            answers = ask(linker, [texts[place] for place in left], self.required, _log)
            for place, answer in zip(left, answers, strict=True):
                if isinstance(answer, DriverError):
                    failures[place].append(answer)
                    continue
                links = [link for link in answer if link.score >= self.min_score]
                if links:
                    found += 1
                    done[place] = (name_of(linker), links)
            if left:
                _log.info("the linker %s answered %d of %d texts", name_of(linker), found, len(left))
            left = [place for place in left if not done[place][0]]
        for place in left:
            if len(failures[place]) == len(self.linkers):
                raise all_failed(failures[place])
        return done
