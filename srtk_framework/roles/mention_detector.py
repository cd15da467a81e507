"""The role of a mention detector."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from srtk_framework.roles.answer_checks import check_falls, check_rows
from srtk_framework.roles.base import Role, by_value, hook
from srtk_framework.values import DriverError, Mention


def mentions_of_texts(answer: Any, arguments: Mapping[str, Any], driver: str) -> Any:
    """Refuse mentions outside of their text, mentions that come twice, and mentions out of order."""
    check_rows("detect", answer, Mention, "Mentions")
    for text, row in zip(arguments["texts"], answer, strict=True):
        if wrong := next((one for one in row if not 0 <= one.start < one.end <= len(text)), None):
            raise DriverError(
                f"detect returned the span {wrong.start} to {wrong.end} in a text of {len(text)} characters;"
                " return spans within the text"
            )
        check_falls("detect", [(one.start, one.end) for one in row], "return each span once, by start, then by end")
    return answer


class MentionDetector(Role):
    """Finds the spans of a text that may name an entity, without linking them."""

    role = "mention_detector"

    @hook(batch="texts", key=by_value, answer=mentions_of_texts)
    @abstractmethod
    def detect(self, texts: Sequence[str]) -> Sequence[Sequence[Mention]]:
        """Find the mentions of each text.

        Returns:
            Per text, mentions ordered by start, then by end. Each span comes once; spans may overlap, as a name inside
            a longer name does. They count characters of the original text, and neither start nor end with a blank.
        """
