"""Inverted lists of short codes: vectors that may be near to a given vector, found without reading all of them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from srtk_plugin_index.indexes.entry_file import Numbers

# Rows at a time, since the mapped matrix may be larger than the memory.
_BLOCK = 1 << 16
# Fixed, so that the same entries give the same file.
_SEED = 0
# Most vectors that the lists and the codes are learnt from; a few dozen for each list are enough.
_SAMPLE = 100_000

Matrix = npt.NDArray[np.float32]


class InvertedLists:
    """Vectors in lists around learnt centres, each coded by 2 bits a dimension (IVF and PQ; Jegou et al. 2011).

    By faiss, whose codes of 4 bits are looked up in registers (Andre et al. 2015). The lists stay in memory, some d / 4
    bytes for each vector; the vectors do not.

    Args:
        path: The file that ``build`` wrote.
        allowed: int64, the rows that a search may find, sorted; None for all.
    """

    def __init__(self, path: Path, allowed: Numbers | None = None) -> None:
        import faiss

        self._index: Any = faiss.read_index(str(path))
        self._allowed = self._index.ntotal if allowed is None else len(allowed)
        self._selector: Any = None
        if allowed is not None:
            bits = np.zeros(self._index.ntotal, dtype=bool)
            bits[allowed] = True
            self._selector = faiss.IDSelectorBitmap(np.packbits(bits, bitorder="little"))

    @staticmethod
    def build(path: Path, rows: Matrix, order: Numbers, unit: bool) -> None:
        """Learn lists, as many as the square root of n, and codes from a sample, code all vectors, and write the file.

        Args:
            path: The file.
            rows: float32 [n, d], perhaps mapped; they are read in blocks.
            order: int64 [n], the rows in an order that is independent of the order of adding.
            unit: Whether lengths do not count.
        """
        import faiss

        count, width = rows.shape
        width += width % 2
        quantizer = faiss.IndexFlatIP(width)
        index = faiss.IndexIVFPQFastScan(
            quantizer, width, round(math.sqrt(count)), width // 2, 4, faiss.METRIC_INNER_PRODUCT
        )
        index.cp.seed = index.pq.cp.seed = _SEED
        sample = order[np.random.default_rng(_SEED).permutation(count)[:_SAMPLE]]
        # Sorted, so that a mapped file is read from front to back.
        index.train(_even(rows[np.sort(sample)], unit))
        for start in range(0, count, _BLOCK):
            index.add(_even(rows[start : start + _BLOCK], unit))
        faiss.write_index(index, str(path))

    def search(self, vector: Matrix, count: int, probes: int) -> Numbers:
        """Return the rows that may be nearest to a vector, sorted.

        Args:
            vector: float32 [d].
            count: Most rows.
            probes: Nearest lists to look into; more, where they have less than ``count`` rows.
        """
        import faiss

        asked = _even(vector[None], unit=True)
        count = min(count, self._allowed)
        while True:
            chosen = faiss.SearchParametersIVF(nprobe=min(probes, self._index.nlist), sel=self._selector)
            found = self._index.search(asked, max(1, count), params=chosen)[1][0]
            numbers: Numbers = np.sort(found[found >= 0])
            if len(numbers) >= count or probes >= self._index.nlist:
                return numbers
            probes *= 2


def _even(rows: Matrix, unit: bool) -> Matrix:
    """Return rows with an even number of columns, as codes of two dimensions need, at length 1 if ``unit``."""
    wide = np.zeros((len(rows), rows.shape[1] + rows.shape[1] % 2), dtype=np.float32)
    wide[:, : rows.shape[1]] = rows
    if unit:
        length = np.linalg.norm(wide, axis=1, keepdims=True)
        np.divide(wide, length, out=wide, where=length > 0)
    return wide
