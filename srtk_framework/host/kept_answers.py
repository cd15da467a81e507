"""Answers of the drivers of a session during one batch, so that no part of it is paid for twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import attrs

from srtk_framework.roles.base import HookContract
from srtk_framework.values import DriverError
from srtk_framework.values.errors import BatchError

Ask = Callable[[dict[str, Any]], Any]
"""Asks a driver, given the arguments of a hook by name."""


@attrs.frozen
class _Call:
    """A call that was answered.

    Attributes:
        asked: The port, the hook, and the arguments that the batch shares.
        keys: Functions that identify the items of each batch argument.
        columns: The batch arguments.
        answers: The answer or error of each item.
        matrix: Whether the answer is a matrix.
    """

    asked: tuple[Any, str, tuple[Any, ...]]
    keys: tuple[Callable[[Any], Hashable], ...]
    columns: tuple[Sequence[Any], ...]
    answers: Sequence[Any]
    matrix: bool


@attrs.define
class KeptAnswers:
    """Keeps the answers of drivers while a batch is worked on.

    Where an expander, a linker or a reader raises for a whole batch, the batch is divided and its parts are asked
    again. Earlier answers of the drivers inside are taken from here: a model is not asked twice, no request is
    sent twice, and a reply that was paid for is not bought again.

    Attributes:
        keeps: Whether answers are kept now.
        replays: Whether kept answers are given now.
    """

    keeps: bool = attrs.field(default=False, init=False)
    replays: bool = attrs.field(default=False, init=False)
    _calls: list[_Call] = attrs.field(factory=list, init=False, repr=False)
    _known: dict[Any, dict[Hashable, list[Any]]] = attrs.field(factory=dict, init=False, repr=False)
    _matrices: set[Any] = attrs.field(factory=set, init=False, repr=False)

    @contextmanager
    def batch(self, size: int) -> Iterator[None]:
        """Keep answers until the batch is done; a batch of one item cannot be divided, and keeps none."""
        self.keeps = size > 1
        try:
            yield
        finally:
            self.keeps = False
            self._calls, self._known, self._matrices = [], {}, set()

    @contextmanager
    def replay(self) -> Iterator[None]:
        """Give the kept answers, and ask for the others only."""
        before, self.replays = self.replays, self.keeps
        try:
            yield
        finally:
            self.replays = before

    def keep(
        self, port: Any, hook: str, contract: HookContract, arguments: Mapping[str, Any], answers: Any, matrix: bool
    ) -> None:
        """Keep the answers of one call; called from several threads."""
        # The caller may change its lists later.
        columns = tuple([list(arguments[one]) for one in contract.batch])
        self._calls.append(_Call(_asked(port, hook, contract, arguments), _keys(contract), columns, answers, matrix))

    def asked(self, port: Any, hook: str, contract: HookContract, arguments: dict[str, Any], ask: Ask) -> Any:
        """Answer a call from the kept answers, and ask for the rest.

        Raises:
            BatchError: If the kept answer of an item is an error.
        """
        self._read()
        columns = [arguments[one] for one in contract.batch]
        try:
            asked = _asked(port, hook, contract, arguments)
            known = self._known.get(asked, {})
            keys = _keys(contract)
            rows = [tuple(key(item) for key, item in zip(keys, row, strict=True)) for row in zip(*columns, strict=True)]
            found = _found(known, rows, once=not contract.keys)
        except TypeError:  # what cannot be hashed is not kept
            return ask(arguments)
        missing = [i for i in range(len(rows)) if i not in found]
        if not found:
            return ask(arguments)
        if missing:
            part = {name: [arguments[name][i] for i in missing] for name in contract.batch}
            try:
                answers = ask({**arguments, **part})
            except BatchError as error:
                answers = error.answers
            found.update(zip(missing, answers, strict=True))
        whole = [found[i] for i in range(len(rows))]
        failed = next((one for one in whole if isinstance(one, DriverError)), None)
        if failed is not None:
            raise BatchError(failed.args[0], failed.driver, whole)
        if asked in self._matrices:
            import numpy as np  # here, so that the command line starts without it

            return np.stack(whole)
        return whole

    def _read(self) -> None:
        """Sort the calls that were kept since by their items."""
        calls, self._calls = self._calls, []
        for call in calls:
            try:
                known = self._known.setdefault(call.asked, {})
                rows = zip(*call.columns, strict=True)
                for row, answer in zip(rows, call.answers, strict=True):
                    key = tuple(key(item) for key, item in zip(call.keys, row, strict=True))
                    # The items stay, since some are known by their identity.
                    known.setdefault(key, []).append((answer, row))
            except TypeError:
                continue
            if call.matrix:
                self._matrices.add(call.asked)


def _asked(port: Any, hook: str, contract: HookContract, arguments: Mapping[str, Any]) -> tuple[Any, ...]:
    return id(port), hook, tuple(value for name, value in arguments.items() if name not in contract.batch)


def _keys(contract: HookContract) -> tuple[Callable[[Any], Hashable], ...]:
    return contract.keys or (_plain,) * len(contract.batch)


def _plain(item: Any) -> Hashable:
    """Return a value that identifies an item of a hook without keys."""
    if hasattr(item, "tobytes"):
        return item.tobytes(), item.shape
    return tuple(item) if isinstance(item, list) else item


def _found(known: Mapping[Hashable, list[Any]], rows: Sequence[Hashable], once: bool) -> dict[int, Any]:
    """Return the kept answers by the place of their items; with ``once``, items that are equal have one each."""
    found = {}
    used: Counter[Hashable] = Counter()
    for i, row in enumerate(rows):
        kept = known.get(row, ())
        place = used[row] if once else 0
        if place < len(kept):
            found[i] = kept[place][0]
            used[row] += 1
    return found
