"""The conformance kit: one test class for each role, which an author subclasses to test a driver.

Needs the extra ``testing``. A test file has, for each driver, a class with the name of the entry point and the fixture
``driver``, which returns it opened::

    class TestMyGraph(KnowledgeGraphConformance):
        name = "mine"

        @pytest.fixture
        def driver(self, sample):
            graph = MyGraph(triples=sample.triples, labels=sample.labels)
            graph.open()
            yield graph
            graph.close()

The module ``testing.<role>`` has, for each role, ``<Role>Conformance``, the small working driver ``Toy<Role>``, and
``Toy<Role>Case``, which tests it; this package passes on the first two.
"""

import pkgutil
from typing import Any

import pytest

pytest.register_assert_rewrite(*(module.name for module in pkgutil.iter_modules(__path__, f"{__name__}.")))

from srtk_framework.roles import ROLES  # noqa: E402
from srtk_framework.testing.base import Conformance, conformance_of, kit_of  # noqa: E402
from srtk_framework.testing.batches import BatchConformance, Probe  # noqa: E402
from srtk_framework.testing.ntriples import to_ntriples  # noqa: E402
from srtk_framework.testing.oracle import OracleGraph  # noqa: E402
from srtk_framework.testing.oxigraph import served  # noqa: E402
from srtk_framework.testing.registered import (  # noqa: E402
    covered_drivers,
    declared_drivers,
    registered_drivers,
)
from srtk_framework.testing.sample import SAMPLE, Sample  # noqa: E402
from srtk_framework.testing.scripted import ScriptedGenerator, misnumbered, picks  # noqa: E402

__all__ = [
    "SAMPLE",
    "BatchConformance",
    "Conformance",
    "OracleGraph",
    "Probe",
    "Sample",
    "ScriptedGenerator",
    "conformance_of",
    "covered_drivers",
    "declared_drivers",
    "misnumbered",
    "picks",
    "registered_drivers",
    "served",
    "to_ntriples",
]

_OF_ROLES = {
    f"{prefix}{role.__name__}{suffix}": role
    for role in ROLES.values()
    for prefix, suffix in (("", "Conformance"), ("Toy", ""))
}
"""Names that the modules of the roles define, found there when they are first used."""


def __getattr__(name: str) -> Any:
    if name not in _OF_ROLES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(kit_of(_OF_ROLES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_OF_ROLES})
