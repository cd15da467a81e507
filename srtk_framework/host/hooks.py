"""Hook calls through pluggy: one manager per driver, with the run's observers attached."""

from __future__ import annotations

import functools
import types
from collections.abc import Mapping, Sequence
from typing import Any

import pluggy

from srtk_framework.host.observers import Call, Observer, leave_out
from srtk_framework.roles import Role
from srtk_framework.roles.base import PROJECT, hook_names, own_method


class _Manager(pluggy.PluginManager):
    """A manager that accepts plain methods as hook implementations, so that plugins need no decorator."""

    def parse_hookimpl_opts(self, plugin: object, name: str) -> Any:
        if name.startswith("_"):
            return None
        return {
            "wrapper": False,
            "hookwrapper": False,
            "optionalhook": False,
            "tryfirst": False,
            "trylast": False,
            "specname": None,
        }


def managed(driver: Role, role: type[Role], name: str, observers: Sequence[Observer] = ()) -> pluggy.PluginManager:
    """Register a driver's hooks and let the observers watch each call.

    The bound methods are registered, not the driver: pluggy compares plugins, and drivers may hold arrays.
    """
    manager = _Manager(PROJECT)
    manager.add_hookspecs(role)
    hooks = types.SimpleNamespace(**{hook: own_method(driver, hook) for hook in hook_names(role)})
    manager.register(hooks, name)
    manager.check_pending()
    if observers:
        _watch(manager, role.role, name, tuple(observers))
    return manager


def _watch(manager: pluggy.PluginManager, role: str, name: str, observers: Sequence[Observer]) -> None:
    # Hooks are called thousands of times a question, so only observers that listen are called.
    starts = [(one, one.before) for one in observers if type(one).before is not Observer.before]
    ends = [(one, one.after) for one in reversed(observers) if type(one).after is not Observer.after]

    def drop(observer: Observer, hook: str, error: Exception) -> None:
        starts[:] = [pair for pair in starts if pair[0] is not observer]
        ends[:] = [pair for pair in ends if pair[0] is not observer]
        leave_out(observer, hook, error)

    # The same few sizes come again and again, so that most calls make no object.
    @functools.lru_cache(maxsize=1024)
    def call_of(method: str, size: int) -> Call:
        return Call(role, name, method, size)

    def before(method: str, implementations: Sequence[object], arguments: Mapping[str, Any]) -> None:
        call = call_of(method, _size(arguments))
        for observer, start in starts:
            try:
                start(call)
            except Exception as error:  # noqa: BLE001 - an observer's error is its own
                drop(observer, "before", error)

    def after(
        outcome: pluggy.Result[Any], method: str, implementations: Sequence[object], arguments: Mapping[str, Any]
    ) -> None:
        call = call_of(method, _size(arguments))
        for observer, end in ends:
            try:
                end(call, outcome.exception)
            except Exception as error:  # noqa: BLE001 - an observer's error is its own
                drop(observer, "after", error)

    manager.add_hookcall_monitoring(before, after)


def _size(arguments: Mapping[str, Any]) -> int:
    """Return the size of a call's batch; 1 without a batch."""
    for batch in arguments.values():
        return len(batch) if hasattr(batch, "__len__") else 1
    return 0
