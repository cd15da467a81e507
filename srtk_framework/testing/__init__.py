"""The conformance kit: one test class for each role, which an author subclasses to test a driver.

Needs the extra ``testing``. A test file has, for each driver, a class with the name of the entry point and
the fixture ``driver``, which returns it opened::

    class TestMyGraph(KnowledgeGraphConformance):
        name = "mine"

        @pytest.fixture
        def driver(self, sample):
            graph = MyGraph(triples=sample.triples, labels=sample.labels)
            graph.open()
            yield graph
            graph.close()
"""

import pytest

_MODULES = (
    "base",
    "batches",
    "dataset",
    "encoder",
    "entity_linker",
    "expander",
    "exporter",
    "generator",
    "knowledge_graph",
    "mention_detector",
    "path_scorer",
    "reader",
    "supervision",
)
pytest.register_assert_rewrite(*(f"{__name__}.{module}" for module in _MODULES))

from srtk_framework.testing.base import HEAVY, Conformance, checks_of  # noqa: E402
from srtk_framework.testing.batches import BatchConformance, Probe, Probes  # noqa: E402
from srtk_framework.testing.dataset import DatasetConformance  # noqa: E402
from srtk_framework.testing.encoder import EncoderConformance  # noqa: E402
from srtk_framework.testing.entity_linker import EntityLinkerConformance  # noqa: E402
from srtk_framework.testing.expander import ExpanderConformance  # noqa: E402
from srtk_framework.testing.exporter import ExporterConformance  # noqa: E402
from srtk_framework.testing.generator import GeneratorConformance  # noqa: E402
from srtk_framework.testing.knowledge_graph import KnowledgeGraphConformance  # noqa: E402
from srtk_framework.testing.mention_detector import MentionDetectorConformance  # noqa: E402
from srtk_framework.testing.ntriples import to_ntriples  # noqa: E402
from srtk_framework.testing.oracle import OracleGraph  # noqa: E402
from srtk_framework.testing.oxigraph import served  # noqa: E402
from srtk_framework.testing.path_scorer import PathScorerConformance  # noqa: E402
from srtk_framework.testing.reader import ReaderConformance  # noqa: E402
from srtk_framework.testing.registered import (  # noqa: E402
    RegisteredDriver,
    covered_drivers,
    declared_drivers,
    registered_drivers,
)
from srtk_framework.testing.sample import SAMPLE, Sample  # noqa: E402
from srtk_framework.testing.scorers import OverlapScorer, UniformScorer  # noqa: E402
from srtk_framework.testing.scripted import ScriptedGenerator, misnumbered, picks  # noqa: E402
from srtk_framework.testing.supervision import SupervisionConformance  # noqa: E402

CONFORMANCE: dict[str, type[Conformance]] = {
    kit.role.role: kit
    for kit in (
        KnowledgeGraphConformance,
        MentionDetectorConformance,
        EntityLinkerConformance,
        PathScorerConformance,
        ExpanderConformance,
        ExporterConformance,
        EncoderConformance,
        GeneratorConformance,
        ReaderConformance,
        DatasetConformance,
        SupervisionConformance,
    )
}
"""Role, as in recipes, to its conformance class."""

__all__ = [
    "CONFORMANCE",
    "HEAVY",
    "SAMPLE",
    "BatchConformance",
    "Conformance",
    "DatasetConformance",
    "EncoderConformance",
    "EntityLinkerConformance",
    "ExpanderConformance",
    "ExporterConformance",
    "GeneratorConformance",
    "KnowledgeGraphConformance",
    "MentionDetectorConformance",
    "OracleGraph",
    "OverlapScorer",
    "PathScorerConformance",
    "Probe",
    "Probes",
    "ReaderConformance",
    "RegisteredDriver",
    "Sample",
    "ScriptedGenerator",
    "SupervisionConformance",
    "UniformScorer",
    "checks_of",
    "covered_drivers",
    "declared_drivers",
    "misnumbered",
    "picks",
    "registered_drivers",
    "served",
    "to_ntriples",
]
