"""The role of a text encoder."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from srtk_framework.roles.answer_checks import shown
from srtk_framework.roles.base import Role, by_value, hook
from srtk_framework.values import DriverError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


def finite_matrix(answer: Any, arguments: Mapping[str, Any], driver: str) -> Any:
    """Refuse anything but a float32 matrix of finite numbers."""
    import numpy as np  # here, so that the command line starts without it

    if not isinstance(answer, np.ndarray) or answer.ndim != 2 or answer.dtype != np.float32:
        raise DriverError("encode must return a float32 matrix, with a row for each item")
    if not np.isfinite(answer).all():
        raise DriverError("encode returned numbers that are not finite")
    return answer


def a_folder(answer: Any, arguments: Mapping[str, Any], driver: str) -> Any:
    """Refuse a folder that is no ``Path``."""
    if answer is not None and not isinstance(answer, Path):
        raise DriverError(f"weights_folder returned {shown(answer)}; return a Path, or None")
    return answer


class Encoder(Role):
    """Turns texts into vectors."""

    role = "encoder"

    @hook(batch="texts", key=by_value, answer=finite_matrix)
    @abstractmethod
    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Encode each text as one row of a float32 matrix [n, d]; a text's row depends on the text alone."""

    @hook(answer=a_folder)
    def weights_folder(self) -> Path | None:
        """Return the folder of the weights in use, where a training leaves its record.

        None by default, and for weights in no folder, such as unsaved weights of a training.
        """
        return None
