"""Device of a model: its choice, and threads that compute forward passes with results that do not depend on them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

from srtk_framework.values import DriverError

T = TypeVar("T")
U = TypeVar("U")

_one_model_at_a_time = threading.Lock()
"""Torch's number of threads is a setting of the process, so only one model computes at a time."""


class PassPool:
    """Pool of threads that compute a model's forward passes in parallel.

    Each pass is computed by one thread, so that its result does not depend on the number of threads. Passes run in
    parallel on a CPU only.
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
        """Compute all passes, and return their results in order."""
        with _one_model_at_a_time, self._one_thread_each():
            run: Any = self._pool.map if self._pool is not None and len(passes) > 1 else map
            return list(run(compute, passes))

    @contextmanager
    def _one_thread_each(self) -> Iterator[None]:
        """Limit torch to one thread for each pass: how threads share an addition changes its last bits."""
        if not self._cpu:
            yield
            return
        before = self._torch.get_num_threads()
        self._torch.set_num_threads(1)
        try:
            yield
        finally:
            self._torch.set_num_threads(before)


@contextmanager
def enough_memory(what: str) -> Iterator[None]:
    """Raise a DriverError where the device has not enough memory for so many rows."""
    import torch

    try:
        yield
    except torch.OutOfMemoryError as error:
        raise DriverError(f"the device has not enough memory for {what} at once; lower batch_size") from error


def device_and_dtype(device: str, dtype: str) -> tuple[str, str]:
    """Return names of device and number type, with ``auto`` replaced by the best there is."""
    import torch

    available = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    chosen = next(name for name, exists in available.items() if exists) if device == "auto" else device
    kind = chosen.split(":")[0]
    if not available.get(kind, False):
        raise DriverError(f"device {device!r} does not exist here; set device: auto, or one of {sorted(available)}")
    if dtype != "auto":
        return chosen, dtype
    return chosen, "bfloat16" if kind == "cuda" and torch.cuda.is_bf16_supported() else "float32"


def processor(device: str) -> str:
    """Return the kind of processor, on which the last bits of a result depend."""
    import torch

    return f"cpu-{torch.backends.cpu.get_cpu_capability()}" if device == "cpu" else device.split(":")[0]
