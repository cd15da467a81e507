"""Values passed between drivers: immutable, ordered, independent of how a graph stores them."""

from __future__ import annotations

from srtk_framework.values.batches import batched
from srtk_framework.values.budget import Budget
from srtk_framework.values.chat import COST_DIGITS, Message, Prompt, Reply, total, usage
from srtk_framework.values.entries import EntityMention, Entry, Hit
from srtk_framework.values.errors import (
    DriverError,
    InputError,
    PluginError,
    RecipeError,
    RunError,
    SnapshotError,
    SrtkError,
    close_matches,
    shortened,
)
from srtk_framework.values.frontiers import Frontier, NodeSet, Ragged
from srtk_framework.values.hop_state import HopState
from srtk_framework.values.masked_texts import MaskedText, TokenScore
from srtk_framework.values.origins import (
    EVIDENCE_KINDS,
    Completion,
    Evidence,
    Origin,
    confidence,
    written_confidence,
)
from srtk_framework.values.protocols import GeneratorLike, GraphLike, HopWise, ReaderLike
from srtk_framework.values.questions import LINKED_BY, NIL, Link, LinkList, Mention, Question
from srtk_framework.values.schema import Schema
from srtk_framework.values.scores import SCORE_DIGITS, rounded
from srtk_framework.values.secrets import (
    MASK,
    is_secret_name,
    note_secrets,
    redacted,
    redacted_arguments,
    redacted_data,
    redacted_override,
    secrets_in,
    secrets_in_arguments,
    without_logins,
)
from srtk_framework.values.subgraphs import (
    CERTAINTIES,
    Alternative,
    Answer,
    FoundPaths,
    Join,
    Neighbourhood,
    RankedPath,
    RatedTriples,
    Retrieval,
    Search,
    Subgraph,
)
from srtk_framework.values.training_data import Sample, TrainingExample
from srtk_framework.values.triples import END, Literal, Path, Pattern, Qualifier, Step, Triple, open_end

__all__ = [
    "CERTAINTIES",
    "COST_DIGITS",
    "END",
    "EVIDENCE_KINDS",
    "LINKED_BY",
    "MASK",
    "NIL",
    "SCORE_DIGITS",
    "Alternative",
    "Answer",
    "Budget",
    "Completion",
    "DriverError",
    "EntityMention",
    "Entry",
    "Evidence",
    "FoundPaths",
    "Frontier",
    "GeneratorLike",
    "GraphLike",
    "Hit",
    "HopState",
    "HopWise",
    "InputError",
    "Join",
    "Link",
    "LinkList",
    "Literal",
    "MaskedText",
    "Mention",
    "Message",
    "Neighbourhood",
    "NodeSet",
    "Origin",
    "Path",
    "Pattern",
    "PluginError",
    "Prompt",
    "Qualifier",
    "Question",
    "Ragged",
    "RankedPath",
    "RatedTriples",
    "ReaderLike",
    "RecipeError",
    "Reply",
    "Retrieval",
    "RunError",
    "Sample",
    "Schema",
    "Search",
    "SnapshotError",
    "SrtkError",
    "Step",
    "Subgraph",
    "TokenScore",
    "TrainingExample",
    "Triple",
    "batched",
    "close_matches",
    "confidence",
    "is_secret_name",
    "note_secrets",
    "open_end",
    "redacted",
    "redacted_arguments",
    "redacted_data",
    "redacted_override",
    "rounded",
    "secrets_in",
    "secrets_in_arguments",
    "shortened",
    "total",
    "usage",
    "without_logins",
    "written_confidence",
]
