"""The executor of a Ray cluster: actors, which Ray places, restarts and asks again."""

from __future__ import annotations

import functools
import logging
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import attrs

from srtk_framework.roles import Executor, not_open, spread
from srtk_framework.values import DriverError, positive

TRIES = 3
"""Actors that may die at one batch before the run ends."""

_SECONDS = 60
"""Seconds that a cluster may take to place the first actor before the reason is looked for."""

_LOOK = 0.2  # Seconds between two looks whether the executor closes.


@attrs.define(eq=False)
class RayExecutor(Executor):
    """Computes in actors of a Ray cluster, each with its own drivers.

    The machines need the same packages, and the files of the recipe under the same names. Secrets are read from their
    own environment.

    Attributes:
        address: Address of a running cluster, as ``ray.init`` takes it, such as ``auto`` or ``ray://head:10001``; null
            for a cluster on this machine, which lives as long as the run.
        workers: Number of actors; null for one per processor of the cluster.
    """

    address: str | None = None
    workers: int | None = attrs.field(default=None, validator=positive)
    _actors: list[_Actor] = attrs.field(init=False, factory=list, repr=False)
    _joined: bool = attrs.field(init=False, default=False, repr=False)

    def open(self) -> None:
        """Join the cluster, or start one, and have the actors placed."""
        # Ray reports its use to its makers otherwise.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        import ray

        if not ray.is_initialized():
            local: dict[str, Any] = {} if self.address else {"num_cpus": self.workers, "include_dashboard": False}
            try:
                ray.init(self.address, logging_level=logging.ERROR, log_to_driver=False, **local)
            except (ConnectionError, RuntimeError, ValueError) as error:
                raise DriverError(f"no Ray cluster at {self.address or 'this machine'}: {error}") from error
            self._joined = True
        count = self.workers or int(ray.cluster_resources().get("CPU", 1))  # type: ignore[no-untyped-call]
        actor = ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=TRIES - 1)(_Place)
        self._actors = [_Actor(actor.remote()) for _ in range(count)]
        if not ray.wait([self._actors[0].handle.call.remote(_nothing, None)], timeout=_SECONDS)[0]:
            self.close()
            raise DriverError(f"the cluster has placed no actor within {_SECONDS} s; look at its free processors")

    def close(self) -> None:
        """End the actors, and leave the cluster."""
        import ray

        for actor in self._actors:
            actor.ended = True
        for actor in self._actors:
            with actor.lock:
                ray.kill(actor.handle)
        self._actors = []
        if self._joined:
            ray.shutdown()
            self._joined = False

    def places(self) -> int:
        """Return the number of actors."""
        return len(self._actors) or 1

    def map(self, task: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        """Call the task in the actors."""
        if not self._actors:
            raise not_open(self)
        return spread([functools.partial(actor, task) for actor in self._actors], items)


class _Place:
    """A process of the cluster."""

    def call(self, task: Callable[[Any], Any], item: Any) -> Any:
        return task(item)


def _nothing(_: None) -> None:
    return None


@attrs.define(eq=False)
class _Actor:
    """Asks an actor, and leaves it where the executor closes meanwhile: no result comes then, and no error.

    Attributes:
        handle: Ray's handle of the actor.
        ended: Whether the executor closes.
        lock: Held while the actor has an item.
    """

    handle: Any
    ended: bool = False
    lock: threading.Lock = attrs.field(factory=threading.Lock)

    def __call__(self, task: Callable[[Any], Any], item: Any) -> Any:
        import ray

        with self.lock:
            if self.ended:
                raise DriverError("the executor was closed")
            found = self.handle.call.remote(task, item)
            while not ray.wait([found], timeout=_LOOK)[0]:
                if self.ended:
                    raise DriverError("the executor was closed")
            try:
                return ray.get(found)
            except ray.exceptions.RayTaskError as error:
                raise error.cause from None  # without the traceback of the cluster in its text
            except ray.exceptions.RayActorError as error:
                raise DriverError(f"{TRIES} actors died at the same batch; they may lack memory: {error}") from error
