"""Run passes side by side, each by one thread, so that the number of threads decides nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

from srtk_framework.values import DriverError

T = TypeVar("T")
U = TypeVar("U")

_one_at_a_time = threading.Lock()
"""Torch's number of threads belongs to the process, so only one model computes at a time."""


class Workers:
    """The threads that compute one model's passes.

    Args:
        device: Of torch; passes are side by side on a CPU alone.
        threads: How many; by default as many as torch would use.
    """

    def __init__(self, device: Any, threads: int | None) -> None:
        import torch

        self._torch = torch
        self._cpu = device.type == "cpu"
        count = (threads or torch.get_num_threads()) if self._cpu else 1
        self._pool: ThreadPoolExecutor | None = None
        if count > 1:
            self._pool = ThreadPoolExecutor(count, initializer=torch.set_num_threads, initargs=(1,))

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()

    def map(self, compute: Callable[[T], U], passes: Sequence[T]) -> list[U]:
        """Compute all passes; results stand in their order."""
        with _one_at_a_time, self._one_thread_each():
            run: Any = self._pool.map if self._pool is not None and len(passes) > 1 else map
            return list(run(compute, passes))

    @contextmanager
    def _one_thread_each(self) -> Iterator[None]:
        """Compute every pass by one thread: how several share an addition changes its last bits."""
        if not self._cpu:
            yield
            return
        before = self._torch.get_num_threads()
        self._torch.set_num_threads(1)
        try:
            yield
        finally:
            self._torch.set_num_threads(before)


def device_and_dtype(device: str, dtype: str) -> tuple[str, str]:
    """Choose where and with which numbers to compute, where a setting is ``auto``.

    Raises:
        DriverError: If the device is not there.
    """
    import torch

    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    chosen = next(name for name, here in there.items() if here) if device == "auto" else device
    kind = chosen.split(":")[0]
    if not there.get(kind, False):
        raise DriverError(f"device {device!r} is not there; set device: auto, or one of {sorted(there)}")
    if dtype != "auto":
        return chosen, dtype
    return chosen, "bfloat16" if kind == "cuda" and torch.cuda.is_bf16_supported() else "float32"


def processor(device: str) -> str:
    """Name the kind of processor, which decides the last bits."""
    import torch

    return f"cpu-{torch.backends.cpu.get_cpu_capability()}" if device == "cpu" else device.split(":")[0]
