"""Roles: one abstract class per file, whose methods are the hook specifications.

Every module of this package that defines a ``Role`` with a name adds that role; there is no list to extend.
"""

from __future__ import annotations

import importlib
import pkgutil

from srtk_framework.roles.base import Role, by_identity, by_value, hook, not_open
from srtk_framework.roles.completer import Completer
from srtk_framework.roles.corpus import Corpus
from srtk_framework.roles.dataset import Dataset
from srtk_framework.roles.encoder import Encoder
from srtk_framework.roles.entity_linker import EntityLinker
from srtk_framework.roles.executor import Executor, spread
from srtk_framework.roles.expander import Expander
from srtk_framework.roles.explainable import Explainable, HopChoice
from srtk_framework.roles.exporter import Exporter
from srtk_framework.roles.generator import Generator
from srtk_framework.roles.graph_view import GraphView
from srtk_framework.roles.index import Index
from srtk_framework.roles.knowledge_graph import KnowledgeGraph
from srtk_framework.roles.mask_filler import MaskFiller
from srtk_framework.roles.mention_detector import MentionDetector
from srtk_framework.roles.path_scorer import PathScorer
from srtk_framework.roles.preflight import absent, no_url, unwritable
from srtk_framework.roles.reader import Reader
from srtk_framework.roles.search_settings import BACKGROUND, PLAIN, SearchSettings
from srtk_framework.roles.subgraph_encoder import SubgraphEncoder
from srtk_framework.roles.supervision import Supervision
from srtk_framework.roles.trainable import GraphExamples, Trainable, TrainingPreflight, TrainingTask

__all__ = [
    "BACKGROUND",
    "PLAIN",
    "ROLES",
    "Completer",
    "Corpus",
    "Dataset",
    "Encoder",
    "EntityLinker",
    "Executor",
    "Expander",
    "Explainable",
    "Exporter",
    "Generator",
    "GraphExamples",
    "GraphView",
    "HopChoice",
    "Index",
    "KnowledgeGraph",
    "MaskFiller",
    "MentionDetector",
    "PathScorer",
    "Reader",
    "Role",
    "SearchSettings",
    "SubgraphEncoder",
    "Supervision",
    "Trainable",
    "TrainingPreflight",
    "TrainingTask",
    "absent",
    "by_identity",
    "by_value",
    "hook",
    "no_url",
    "not_open",
    "spread",
    "unwritable",
]


def _roles_of_this_package() -> dict[str, type[Role]]:
    """Import every module of the package and collect the roles that they define, by name."""
    modules = [importlib.import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__)]
    defined = {
        value.role: value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, Role)
        and value.__module__ == module.__name__
        and vars(value).get("role")
    }
    return dict(sorted(defined.items()))


ROLES = _roles_of_this_package()
"""The framework's own roles by name; other distributions add theirs (``srtk_framework.host.role_class``)."""

globals().update({role.__name__: role for role in ROLES.values()})
