"""The role of a subgraph encoder."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from srtk_framework.roles.base import Role, by_value, hook
from srtk_framework.roles.encoder import a_folder, finite_matrix
from srtk_framework.values import Triple

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class SubgraphEncoder(Role):
    """Turns subgraphs into vectors.

    A subgraph is a set of triples around a centre: their order and their repetitions change nothing.
    """

    role = "subgraph_encoder"

    @hook(batch=("subgraphs", "centres"), key=(tuple, by_value), answer=finite_matrix)
    @abstractmethod
    def encode(self, subgraphs: Sequence[Sequence[Triple]], centres: Sequence[str]) -> npt.NDArray[np.float32]:
        """Encode each subgraph as one row of a float32 matrix [n, d]; a row depends on its subgraph and centre alone.

        Args:
            subgraphs: The triples of each subgraph; a subgraph without any is its centre.
            centres: For each subgraph the id of the entity in its centre, which need not be in a triple.
        """

    @hook(answer=a_folder)
    def weights_folder(self) -> Path | None:
        """Return the folder of the weights in use, where a training leaves its record.

        None by default, and for weights in no folder, such as unsaved weights of a training.
        """
        return None
