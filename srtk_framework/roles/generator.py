"""The role of a text generator."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from srtk_framework.roles.base import Role, hook
from srtk_framework.text.folding import count_tokens
from srtk_framework.values import DriverError, Prompt, Reply


class Generator(Role):
    """Replies to prompts, as a language model does."""

    role = "generator"

    @hook
    @abstractmethod
    def generate(self, prompts: Sequence[Prompt]) -> Sequence[Reply]:
        """Reply to each prompt by itself.

        Returns:
            Per prompt a reply, or one whose ``error`` says why there is none: too long for the model, refused, over
            the budget. A DriverError is for what stops them all: no server, a wrong key.
        """

    @hook
    def rate(self, prompts: Sequence[Prompt]) -> Sequence[Sequence[float]]:
        """Rate the options of each prompt, one number each, higher is better; log-likelihoods for language models.

        Raises:
            DriverError: If the driver cannot (``rates`` is False).
        """
        raise DriverError("this generator does not rate options; let it choose by `generate`")

    @hook
    def rates(self) -> bool:
        """Tell whether ``rate`` works."""
        return False

    @hook
    def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        """Count the tokens of each text; an estimate by words and marks where the driver has no tokenizer."""
        return [count_tokens(text) for text in texts]
