"""The roles: one abstract class each, whose methods are the hook specifications."""

from __future__ import annotations

from srtk_framework.roles.base import PROJECT, Role, hook_names
from srtk_framework.roles.dataset import Dataset
from srtk_framework.roles.encoder import Encoder
from srtk_framework.roles.entity_linker import EntityLinker
from srtk_framework.roles.expander import Expander
from srtk_framework.roles.explainable import Explainable, HopChoice
from srtk_framework.roles.exporter import Exporter
from srtk_framework.roles.generator import Generator
from srtk_framework.roles.knowledge_graph import KnowledgeGraph
from srtk_framework.roles.mention_detector import MentionDetector
from srtk_framework.roles.path_scorer import PathScorer
from srtk_framework.roles.reader import Reader
from srtk_framework.roles.supervision import Supervision
from srtk_framework.roles.trainable import Course, Trainable

ROLES: dict[str, type[Role]] = {
    role.role: role
    for role in (
        KnowledgeGraph,
        MentionDetector,
        EntityLinker,
        PathScorer,
        Expander,
        Exporter,
        Encoder,
        Generator,
        Reader,
        Dataset,
        Supervision,
    )
}

__all__ = [
    "PROJECT",
    "ROLES",
    "Course",
    "Dataset",
    "Encoder",
    "EntityLinker",
    "Expander",
    "Explainable",
    "Exporter",
    "Generator",
    "HopChoice",
    "KnowledgeGraph",
    "MentionDetector",
    "PathScorer",
    "Reader",
    "Role",
    "Supervision",
    "Trainable",
    "hook_names",
]
