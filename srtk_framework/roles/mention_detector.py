"""The role of a mention detector."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from srtk_framework.roles.base import Role, by_value, hook
from srtk_framework.values import Mention


class MentionDetector(Role):
    """Finds the spans of a text that may name an entity, without linking them."""

    role = "mention_detector"

    @hook(batch="texts", key=by_value)
    @abstractmethod
    def detect(self, texts: Sequence[str]) -> Sequence[Sequence[Mention]]:
        """Find the mentions of each text.

        Returns:
            Per text, mentions ordered by start, then by end. Each span comes once; spans may overlap, as a name inside
            a longer name does. They count characters of the original text, and neither start nor end with a blank.
        """
