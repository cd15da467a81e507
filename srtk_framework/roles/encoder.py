"""The role of a text encoder."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from srtk_framework.roles.base import Role, hook

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class Encoder(Role):
    """Turns texts into vectors."""

    role = "encoder"

    @hook
    @abstractmethod
    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Encode each text as one row of a float32 matrix [n, d]; a text's row depends on the text alone."""
