"""A plugin framework for semantic subgraph retrieval: questions in, small scored subgraphs out.

Plugins and programs that embed the framework import from here. A name is imported from its room when it is first
used, so that ``import srtk_framework`` itself loads nothing. Each room (``srtk_framework.graph``,
``srtk_framework.text``, ...) has more names in its ``__all__``; all other names are private.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from srtk_framework.graph import (
        facts,
        find_paths,
        finish,
        follow_within,
        path_order,
    )
    from srtk_framework.host import (
        Call,
        Observer,
        __version__,
    )
    from srtk_framework.recipe import (
        Stage,
        hookimpl,
    )
    from srtk_framework.roles import (
        Completer,
        Corpus,
        Dataset,
        Encoder,
        EntityLinker,
        Executor,
        Expander,
        Explainable,
        Exporter,
        Generator,
        HopChoice,
        Index,
        KnowledgeGraph,
        MaskFiller,
        MentionDetector,
        PathScorer,
        Reader,
        Role,
        SearchSettings,
        SubgraphEncoder,
        Supervision,
        Trainable,
        TrainingTask,
        not_open,
    )
    from srtk_framework.run import (
        Graph,
        Result,
        Retriever,
        Run,
        Runner,
        Session,
        ask,
    )
    from srtk_framework.run import (
        open_session as open,
    )
    from srtk_framework.values import (
        END,
        NIL,
        Answer,
        Budget,
        BusyError,
        DriverError,
        Entry,
        FoundPaths,
        Frontier,
        Hit,
        HopState,
        InputError,
        LateError,
        Link,
        LinkList,
        Literal,
        MaskedText,
        Mention,
        Message,
        NodeSet,
        Path,
        Pattern,
        PluginError,
        Prompt,
        Qualifier,
        Question,
        Ragged,
        RankedPath,
        RecipeError,
        Reply,
        Retrieval,
        RunError,
        Sample,
        Schema,
        SettingsError,
        SnapshotError,
        SrtkError,
        Step,
        Subgraph,
        TokenScore,
        TrainingExample,
        Triple,
        above,
        at_least,
        between,
        deprecated,
        each,
        finite,
        keys_of,
        not_empty,
        one_of,
        positive,
        rounded,
        share,
    )

# Where public names are looked for, in the order in which rooms import each other: no room is loaded in vain. ``run``,
# the highest room, comes early, since it imports a name of its own only when that is used.
_ROOMS = ("values", "run", "graph", "roles", "host", "recipe")

__all__ = [
    "END",
    "NIL",
    "Answer",
    "Budget",
    "BusyError",
    "Call",
    "Completer",
    "Corpus",
    "Dataset",
    "DriverError",
    "Encoder",
    "EntityLinker",
    "Entry",
    "Executor",
    "Expander",
    "Explainable",
    "Exporter",
    "FoundPaths",
    "Frontier",
    "Generator",
    "Graph",
    "Hit",
    "HopChoice",
    "HopState",
    "Index",
    "InputError",
    "KnowledgeGraph",
    "LateError",
    "Link",
    "LinkList",
    "Literal",
    "MaskFiller",
    "MaskedText",
    "Mention",
    "MentionDetector",
    "Message",
    "NodeSet",
    "Observer",
    "Path",
    "PathScorer",
    "Pattern",
    "PluginError",
    "Prompt",
    "Qualifier",
    "Question",
    "Ragged",
    "RankedPath",
    "Reader",
    "RecipeError",
    "Reply",
    "Result",
    "Retrieval",
    "Retriever",
    "Role",
    "Run",
    "RunError",
    "Runner",
    "Sample",
    "Schema",
    "SearchSettings",
    "Session",
    "SettingsError",
    "SnapshotError",
    "SrtkError",
    "Stage",
    "Step",
    "Subgraph",
    "SubgraphEncoder",
    "Supervision",
    "TokenScore",
    "Trainable",
    "TrainingExample",
    "TrainingTask",
    "Triple",
    "__version__",
    "above",
    "ask",
    "at_least",
    "between",
    "deprecated",
    "each",
    "facts",
    "find_paths",
    "finish",
    "finite",
    "follow_within",
    "hookimpl",
    "keys_of",
    "not_empty",
    "not_open",
    "one_of",
    "open",
    "path_order",
    "positive",
    "rounded",
    "share",
]


if not TYPE_CHECKING:  # a type checker would take any name for a public one

    def __getattr__(name: str) -> Any:
        """Import a public name from its room when it is first used."""
        inside = "open_session" if name == "open" else name  # the room keeps the built-in of that name
        rooms = (import_module(f"{__name__}.{room}") for room in _ROOMS if name in __all__)
        for room in rooms:
            if inside in room.__all__:
                globals()[name] = value = getattr(room, inside)
                return value
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names, and those imported so far."""
    return sorted({*globals(), *__all__})
