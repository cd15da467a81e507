"""How the broken drivers are made: subclasses of a good one, with one method changed."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import attrs
import numpy as np

from srtk_framework.testing.values import plain

Change = Callable[..., Any]
"""Takes the driver, the good method, and its arguments; returns the broken answer."""


class Fault(NamedTuple):
    """A broken driver and the one check that shall catch it."""

    check: str
    driver: type[Any]


def changed(base: type[Any], check: str, **methods: Change) -> Fault:
    """Make a subclass whose methods are changed."""
    body = {name: _method(getattr(base, name), change) for name, change in methods.items()}
    return Fault(check, type(f"Breaks{check.title().replace('_', '')}", (base,), {**body, "__module__": __name__}))


def replaced(base: type[Any], check: str, **members: Any) -> Fault:
    """Make a subclass whose members are replaced as they stand."""
    return Fault(check, type(f"Breaks{check.title().replace('_', '')}", (base,), {**members, "__module__": __name__}))


def _method(original: Any, change: Change) -> Any:
    @functools.wraps(original)
    def method(self: Any, *arguments: Any) -> Any:
        return change(self, functools.partial(original, self), *arguments)

    return method


def publish(module: str, names: dict[str, Any], faults: Iterable[Fault]) -> None:
    """Make the classes importable from a module, as entry points ask for."""
    for number, fault in enumerate(faults):
        fault.driver.__name__ = fault.driver.__qualname__ = f"Broken{number}"
        fault.driver.__module__ = module
        names[fault.driver.__name__] = fault.driver


def batch_faults(base: type[Any], method: str, width: int = 1) -> list[Fault]:
    """Break each law of batches in one method, whose first ``width`` arguments go side by side."""

    def by(check: str, change: Change) -> Fault:
        def small_batches(self: Any, call: Any, *arguments: Any) -> Any:
            # Very large ones have a check of their own.
            return change(self, call, *arguments) if len(arguments[0]) < 1000 else call(*arguments)

        return changed(base, check, **{method: small_batches})

    def keys(arguments: Sequence[Any]) -> list[str]:
        return [repr(plain(item)) for item in zip(*arguments[:width], strict=True)]

    def chosen(arguments: Sequence[Any], order: Sequence[int]) -> list[Any]:
        return [[column[i] for i in order] for column in arguments[:width]] + list(arguments[width:])

    def short(self: Any, call: Any, *arguments: Any) -> Any:
        return call(*arguments)[:64]

    def sorts(self: Any, call: Any, *arguments: Any) -> Any:
        found = keys(arguments)
        return call(*chosen(arguments, sorted(range(len(found)), key=found.__getitem__)))

    def merges(self: Any, call: Any, *arguments: Any) -> Any:
        first = {key: i for i, key in reversed(list(enumerate(keys(arguments))))}
        return call(*chosen(arguments, sorted(first.values())))

    def stumbles(self: Any, call: Any, *arguments: Any) -> Any:
        return call(*arguments) if arguments[0] else [None]

    def leaks(self: Any, call: Any, *arguments: Any) -> Any:
        found = keys(arguments)
        answer = call(*arguments)
        if len(set(found)) > 1:
            for i in [i for i, key in enumerate(found) if key == min(found)]:
                answer[i] = answer[found.index(max(found))]
        return answer

    def takes(self: Any, call: Any, *arguments: Any) -> Any:
        answer = call(*arguments)
        for column in arguments[:width]:
            if isinstance(column, list):
                column.reverse()
        return answer

    def remembers(self: Any, call: Any, *arguments: Any) -> Any:
        answer = call(*arguments)
        now = keys(arguments)
        if now and vars(self).get("_before") == now:
            answer[0] = answer[-1]
        self._before = now
        return answer

    def differs(self: Any, call: Any, *arguments: Any) -> Any:
        answer = call(*arguments)
        if not vars(self).get("first", False) and len(answer):
            answer[0] = answer[-1]
        return answer

    return [
        by("test_a_large_batch_gets_one_answer_for_each_item", short),
        by("test_the_order_of_a_batch_is_the_order_of_its_answers", sorts),
        by("test_duplicates_in_a_batch_get_equal_answers", merges),
        by("test_an_empty_batch_gets_an_empty_answer", stumbles),
        by("test_a_batch_is_answered_as_its_items_one_by_one", leaks),
        by("test_a_call_leaves_its_input_untouched", takes),
        by("test_the_same_call_gives_the_same_answer_twice", remembers),
        by("test_a_second_instance_answers_the_same", differs),
    ]


def kept_under(key: Callable[..., Any]) -> Change:
    """Make a change that keeps each answer under a part of what was asked, and gives it again.

    Args:
        key: Takes the arguments of one item and returns the part.
    """

    def method(self: Any, call: Any, *columns: Any) -> Any:
        memory = vars(self).setdefault("memory", {})
        answer = call(*columns)
        if not len(answer):
            return answer
        items = zip(*columns, strict=True)
        kept = [memory.setdefault(repr(key(*item)), mine) for item, mine in zip(items, answer, strict=True)]
        return np.stack(kept) if isinstance(answer, np.ndarray) else kept

    return method


def life_faults(base: type[Any], hook: str) -> list[Fault]:
    """Break what a driver owes after it was opened: to open again, and to answer in any thread."""

    def open_once(self: Any, call: Any) -> None:
        if vars(self).get("was_open"):
            raise RuntimeError("this driver was opened before")
        self.was_open = True
        call()

    def open_here(self: Any, call: Any) -> None:
        call()
        self.thread = threading.get_ident()

    def only_here(self: Any, call: Any, *arguments: Any) -> Any:
        if vars(self).get("thread", threading.get_ident()) != threading.get_ident():
            raise RuntimeError("objects created in a thread can only be used in that same thread")
        return call(*arguments)

    return [
        changed(base, "test_a_closed_driver_can_be_opened_again", open=open_once),
        changed(base, "test_another_thread_may_ask", open=open_here, **{hook: only_here}),
    ]


def class_faults(base: type[Any], hook: str) -> list[Fault]:
    """Break each check of class, settings and life cycle."""

    def spoilt(self: Any, *arguments: Any, limit: int = 3) -> Any:
        return getattr(base, hook)(self, *arguments)

    def opened(self: Any, call: Any) -> None:
        call()
        self.is_open = True

    def closed(self: Any, call: Any) -> None:
        assert self.is_open
        call()

    undocumented = attrs.define(eq=False, slots=False)(
        type("Undocumented", (base,), {"__annotations__": {"extra": int}, "extra": 1})
    )
    lines = f"{inspect.getdoc(base)}\n    extra: Of a type that is nowhere."
    unresolved = attrs.define(eq=False, slots=False)(
        type("Unresolved", (base,), {"__annotations__": {"extra": "NoSuchType"}, "extra": 1, "__doc__": lines})
    )
    silent = type("Silent", (base,), dict.fromkeys(("fit", "save", "load"), lambda self, *_: {}))
    unsaved = type("Unsaved", (base,), {"fit": lambda self, *_: {}, "learns": "graph"})
    return [
        Fault("test_a_trainable_driver_says_what_it_learns_from", silent),
        Fault("test_a_trainable_driver_says_what_it_learns_from", unsaved),
        replaced(base, "test_the_entry_point_leads_to_the_driver"),
        replaced(base, "test_the_class_keeps_the_contract_of_its_role", **{hook: spoilt}),
        Fault("test_the_class_keeps_the_contract_of_its_role", unresolved),
        Fault("test_every_setting_is_documented", undocumented),
        changed(base, "test_a_driver_that_was_never_opened_may_be_closed", open=opened, close=closed),
        changed(base, "test_the_fingerprint_is_stable", fingerprint=lambda self, call: f"{call()} at {id(self):#x}"),
    ]
