"""Values passed between drivers: immutable, ordered, independent of how a graph stores them."""

from __future__ import annotations

from srtk_framework.values.batches import answered, batched
from srtk_framework.values.budget import Budget
from srtk_framework.values.chat import Message, Prompt, Reply, total, usage, use_of
from srtk_framework.values.deprecation import Deprecation, deprecated, deprecation_of
from srtk_framework.values.entries import EntityMention, Entry, Hit
from srtk_framework.values.errors import (
    BusyError,
    DriverError,
    InputError,
    LateError,
    PluginError,
    RecipeError,
    RunError,
    SettingsError,
    SnapshotError,
    SrtkError,
    close_matches,
    shortened,
)
from srtk_framework.values.frontiers import Frontier, NodeSet, Ragged
from srtk_framework.values.hop_state import HopState
from srtk_framework.values.masked_texts import MaskedText, TokenScore
from srtk_framework.values.orders import best_first, completion_order, hit_order, link_order
from srtk_framework.values.origins import Completion, Evidence, Origin, confidence, written_confidence
from srtk_framework.values.protocols import EdgeArrays, GraphLike
from srtk_framework.values.questions import ABSENT_LINKS, LINKED_BY, NIL, Link, LinkList, Mention, Question
from srtk_framework.values.schema import Schema
from srtk_framework.values.scores import SCORE_DIGITS, rounded
from srtk_framework.values.screen import console, escaped, guarded, on_one_line, unguarded
from srtk_framework.values.secrets import MASK, note_secrets, redacted, redacted_data, secrets_in, without_logins
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
from srtk_framework.values.trust import refusal
from srtk_framework.values.validators import (
    above,
    at_least,
    between,
    each,
    finite,
    keys_of,
    not_empty,
    one_of,
    positive,
    share,
)
from srtk_framework.values.workers import part_of_run, work_beside

__all__ = [
    "ABSENT_LINKS",
    "CERTAINTIES",
    "END",
    "LINKED_BY",
    "MASK",
    "NIL",
    "SCORE_DIGITS",
    "Alternative",
    "Answer",
    "Budget",
    "BusyError",
    "Completion",
    "Deprecation",
    "DriverError",
    "EdgeArrays",
    "EntityMention",
    "Entry",
    "Evidence",
    "FoundPaths",
    "Frontier",
    "GraphLike",
    "Hit",
    "HopState",
    "InputError",
    "Join",
    "LateError",
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
    "RecipeError",
    "Reply",
    "Retrieval",
    "RunError",
    "Sample",
    "Schema",
    "Search",
    "SettingsError",
    "SnapshotError",
    "SrtkError",
    "Step",
    "Subgraph",
    "TokenScore",
    "TrainingExample",
    "Triple",
    "above",
    "answered",
    "at_least",
    "batched",
    "best_first",
    "between",
    "close_matches",
    "completion_order",
    "confidence",
    "console",
    "deprecated",
    "deprecation_of",
    "each",
    "escaped",
    "finite",
    "guarded",
    "hit_order",
    "keys_of",
    "link_order",
    "not_empty",
    "note_secrets",
    "on_one_line",
    "one_of",
    "open_end",
    "part_of_run",
    "positive",
    "redacted",
    "redacted_data",
    "refusal",
    "rounded",
    "secrets_in",
    "share",
    "shortened",
    "total",
    "unguarded",
    "usage",
    "use_of",
    "without_logins",
    "work_beside",
    "written_confidence",
]
