"""Settings for all tests: no network, one thread, the same examples on every machine, and time enough for slow ones."""

import gc
import os
from collections.abc import Generator, Iterator
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import pytest
from hypothesis import HealthCheck, settings

from srtk_framework.values import secrets

pytest_plugins = ("kit.toys",)
"""Fixtures of toy drivers, for the tests of the core and of the plugins that act on a whole run."""

SLOW = 3000
"""Seconds after which a slow test counts as hanging: trainings take minutes where others use the machine too."""


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """Leave the collection of tests to no garbage collector: what it makes lives on, and is walked each time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give slow tests more time than others, where they do not name their own."""
    for item in items:
        if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(SLOW))


@pytest.fixture(autouse=True)
def no_secret_of_another_test() -> Iterator[None]:
    """Forget the secrets that a test notes: the whole process would take them out of the fingerprints of later runs."""
    known = set(secrets._known)
    yield
    secrets._known.intersection_update(known)


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable() -> Generator[None, Any, Any]:
    """Escape lone surrogates in what is reported of a test: xdist cannot send them, and would end the whole run."""
    return _encodable((yield))


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {_encodable(key): _encodable(inner) for key, inner in value.items()}
    return type(value)(map(_encodable, value)) if isinstance(value, list | tuple) else value


# A busy machine must not fail a property: examples have no deadline, and are the same in every run.
settings.register_profile("srtk", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("srtk")
