"""Checks shared by all conformance classes: class, entry point, settings and life cycle."""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import inspect
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from types import ModuleType
from typing import Any, ClassVar

import attrs
import pytest

from srtk_framework.host.discovery import check_class, group
from srtk_framework.host.docstrings import meanings
from srtk_framework.roles import Role, Trainable
from srtk_framework.testing.second_process import answers_elsewhere, as_json
from srtk_framework.testing.values import same
from srtk_framework.values import SrtkError

# Modules that the module of a driver may import only inside ``open`` or a function.
HEAVY = ("torch", "transformers", "SPARQLWrapper", "duckdb", "pyoxigraph", "polars", "scipy", "spacy")

Answers = Callable[[Any], Any]
"""Calls an opened driver and returns its answers in plain form."""

CLOSE = 1e-5  # Maximum difference of numbers between threads and processes

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")
_KIT = __name__.rpartition(".")[0]


class Conformance:
    """Base class of all conformance classes; authors subclass the class of their role instead.

    A subclass sets ``name`` and overrides the fixture ``driver``. It may add tests. A check that the
    driver cannot pass is overridden and marked ``@pytest.mark.xfail(reason="...", strict=True)``; any
    other way to drop a check is a TypeError.

    Attributes:
        role: The role of the driver.
        name: Name of the driver's entry point, as ``use:`` writes it.
    """

    role: ClassVar[type[Role]]
    name: ClassVar[str] = ""

    def __init_subclass__(cls, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        for check in sorted(checks_of(cls)):
            _refuse_dropped_check(cls, check)

    @pytest.fixture
    def driver(self) -> Any:
        """Return an opened driver; every test class overrides this fixture."""
        pytest.fail(f"{type(self).__name__} must override the fixture `driver` to return an opened driver")

    @pytest.fixture
    def faulty(self) -> Any:
        """Return a driver, not opened, that cannot work, such as one over a missing file; None if there is none."""
        return None

    @pytest.fixture
    def changed(self) -> Any:
        """Return an opened driver with the settings of ``driver`` over changed data; None for a driver without data."""
        return None

    @pytest.fixture
    def answers(self) -> Answers:
        """Return a function that calls an opened driver and returns its answers; defined by the class of the role."""
        pytest.fail("a conformance class must give the fixture `answers`")

    @contextlib.contextmanager
    def copy_of(self, driver: Any, **changes: Any) -> Iterator[Any]:
        """Open a second driver with the same settings, and close it afterwards."""
        copy = attrs.evolve(driver, **changes)
        try:
            copy.open()
            yield copy
        finally:
            copy.close()

    def test_the_module_loads_nothing_heavy(self, driver: Any) -> None:
        """Importing the driver's module imports no model library, database or SPARQL client."""
        module = type(driver).__module__
        loaded = loaded_by(module)
        assert not loaded, f"importing {module} loads {', '.join(loaded)}; import that inside open() or a function"

    def test_the_entry_point_leads_to_the_driver(self, driver: Any) -> None:
        """The class is registered in the entry-point group of its role, under the ``name`` of the test class."""
        wanted = group(self.role.role)
        assert self.name, f'{type(self).__name__} must set `name`, the entry point in "{wanted}" that it tests'
        found = importlib.metadata.entry_points(group=wanted, name=self.name)
        assert found, f"no installed distribution has an entry point {self.name!r} in {wanted}"
        values = sorted({entry.value for entry in found})
        assert len(values) == 1, f"{self.name!r} in {wanted} is registered more than once: {', '.join(values)}"
        loaded = next(iter(found)).load()
        assert loaded is type(driver), f"{self.name!r} in {wanted} leads to {loaded}, but {type(driver)} is tested"

    def test_the_class_keeps_the_contract_of_its_role(self, driver: Any) -> None:
        """Base class, field types, hook names and hook arguments follow the role."""
        check_class(type(driver), self.role.role, type(driver).__qualname__)

    def test_every_setting_is_documented(self, driver: Any) -> None:
        """The docstring of the class or of a base class has a line for each field under ``Attributes:``."""
        documented = meanings(type(driver))
        fields = [field.alias for field in attrs.fields(type(driver)) if field.init]
        missing = [name for name in fields if name not in documented]
        assert not missing, f"{type(driver).__name__} must document {missing} in its docstring, under `Attributes:`"

    def test_a_trainable_driver_says_what_it_learns_from(self, driver: Any) -> None:
        """A class with ``fit`` has ``save``, ``load`` and ``learns``, which chooses how a recipe trains it."""
        if not hasattr(driver, "fit"):
            pytest.skip("the driver cannot be trained")
        name = type(driver).__name__
        assert isinstance(driver, Trainable), f"{name} has fit, but not all of save, load and fingerprint"
        assert getattr(driver, "learns", ""), f"{name} has fit; set its attribute `learns` to paths, links or graph"

    def test_a_driver_that_was_never_opened_may_be_closed(self, driver: Any) -> None:
        """A session closes every driver, also after ``open`` failed."""
        attrs.evolve(driver).close()

    def test_the_fingerprint_is_stable(self, driver: Any) -> None:
        """Drivers with equal settings have equal fingerprints, without memory addresses."""
        mine = driver.fingerprint()
        assert isinstance(mine, str), f"fingerprint returned {type(mine).__name__}, not str"
        assert mine, "fingerprint returned an empty text"
        assert not _ADDRESS.search(mine), f"fingerprint {mine!r} holds a memory address"
        assert driver.fingerprint() == mine, "fingerprint gives another text when it is asked again"
        with self.copy_of(driver) as copy:
            assert copy.fingerprint() == mine, "a second driver with the same settings has another fingerprint"

    def test_other_data_have_another_fingerprint(self, driver: Any, changed: Any) -> None:
        """A fingerprint includes the data, so that no run resumes on data that have changed."""
        if changed is None:
            pytest.skip("no fixture `changed` gives a driver over other data")
        with contextlib.closing(changed):
            assert changed.fingerprint() != driver.fingerprint(), (
                f"the data changed and the fingerprint is still {driver.fingerprint()!r}; add a hash of the data to it"
            )

    def test_a_closed_driver_can_be_opened_again(self, driver: Any, answers: Answers) -> None:
        """A driver that was closed and opened again answers like a new driver."""
        with self.copy_of(driver) as fresh:
            wanted = answers(fresh)
        with self.copy_of(driver) as again:
            again.close()
            again.open()
            assert same(answers(again), wanted, CLOSE), "after close and open, the driver answers otherwise"

    def test_another_thread_may_ask(self, driver: Any, answers: Answers) -> None:
        """A driver that was opened in one thread answers in another."""
        with ThreadPoolExecutor(1) as pool:
            pool.submit(answers, driver).result()

    def test_another_process_gets_the_same_answers(
        self, driver: Any, answers: Answers, request: pytest.FixtureRequest
    ) -> None:
        """No answer depends on ``hash()`` or the order of a set, which change with ``PYTHONHASHSEED``."""
        here = as_json(answers(driver))
        there = answers_elsewhere(request, here)
        assert same(there, here, CLOSE), (
            "a process with another PYTHONHASHSEED gets other answers; sort what comes out of a set:"
            f" {_first(here, there)}"
        )

    def test_a_failure_is_a_driver_error(self, faulty: Any) -> None:
        """A driver that cannot work raises an error of the framework with a message."""
        if faulty is None:
            pytest.skip("no fixture `faulty` gives a driver that cannot work")
        caught: BaseException | None = None
        try:
            with contextlib.closing(faulty):
                faulty.open()
                self.use(faulty)
        except Exception as error:  # noqa: BLE001 - whatever it is, the check says what it should be
            caught = error
        assert caught is not None, "the driver of the fixture `faulty` works; raise a DriverError in open or in a hook"
        kind = type(caught).__name__
        assert isinstance(caught, SrtkError), f"{kind}: {caught}; raise a DriverError with the remedy in its place"
        assert str(caught).strip(), f"{kind} was raised without a message"

    def use(self, driver: Any) -> None:
        """Call the driver in some plain way; used on the fixture ``faulty``."""
        raise NotImplementedError


def _first(one: Any, other: Any) -> str:
    """Show the first two answers that differ, shortened."""
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return next((_first(a, b) for a, b in zip(one, other, strict=True) if not same(a, b, CLOSE)), "")
    return f"{one!r:.200} and {other!r:.200}"


def checks_of(cls: type) -> dict[str, Any]:
    """Return the checks that the kit's own base classes of a class define, by name."""
    return {
        name: value
        for base in reversed(cls.__mro__)
        if _is_kit(base)
        for name, value in vars(base).items()
        if name.startswith("test_")
    }


def _is_kit(cls: type) -> bool:
    """Return whether a class defines checks: a class of this package, or one named by a third party's role."""
    return cls.__module__.startswith(f"{_KIT}.") or "role" in vars(cls)


def kit_of(role: type[Role]) -> ModuleType:
    """Import the module that has the conformance class of a role.

    It is ``srtk_framework.testing.<role>``, or the module that the attribute ``kit`` of the role names.
    """
    return importlib.import_module(getattr(role, "kit", "") or f"{_KIT}.{role.role}")


def conformance_of(role: type[Role]) -> type[Conformance]:
    """Return the conformance class of a role, ``<Role>Conformance`` in its module."""
    module, name = kit_of(role), f"{role.__name__}Conformance"
    found = getattr(module, name, None)
    if found is None:
        raise LookupError(f"{module.__name__} has no class {name}, which the role {role.role!r} needs")
    return found  # type: ignore[no-any-return]


def _refuse_dropped_check(cls: type, check: str) -> None:
    """Raise TypeError if a class replaces a check without an expected failure and its reason."""
    if _is_kit(cls):
        return
    kits = checks_of(cls)[check]
    if any(mark.name == "xfail" for mark in getattr(kits, "pytestmark", ())):
        raise TypeError(f"{cls.__qualname__} marks the kit's own {check}; override it by a method and mark that")
    mine = inspect.getattr_static(cls, check)
    if mine is kits:
        return
    marks = [mark for mark in getattr(mine, "pytestmark", ()) if mark.name == "xfail"]
    if not any(mark.kwargs.get("reason", "").strip() and mark.kwargs.get("strict") is True for mark in marks):
        raise TypeError(
            f"{cls.__qualname__} drops {check}; a check that cannot pass is overridden with"
            ' @pytest.mark.xfail(reason="...", strict=True)'
        )


@cache
def loaded_by(module: str) -> tuple[str, ...]:
    """List the heavy modules that a fresh Python has loaded after importing a module."""
    code = f"import sys, json, {module}; print(json.dumps([m for m in {HEAVY!r} if m in sys.modules]))"
    path = os.pathsep.join(entry for entry in sys.path if entry)
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"a fresh Python cannot import {module}: {done.stderr.strip()}"
    return tuple(json.loads(done.stdout.splitlines()[-1]))
