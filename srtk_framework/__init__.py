"""A plugin framework for semantic subgraph retrieval: questions in, small scored subgraphs out.

What authors of plugins and programs that embed the framework need is importable from here. A name is imported from its
room when it is first used, so that ``import srtk_framework`` itself loads nothing. Each room (``srtk_framework.graph``,
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
    from srtk_framework.roles import (
        Dataset,
        Encoder,
        EntityLinker,
        Expander,
        Explainable,
        Exporter,
        Generator,
        HopChoice,
        KnowledgeGraph,
        MentionDetector,
        PathScorer,
        Reader,
        Role,
        Supervision,
        Trainable,
        TrainingTask,
    )
    from srtk_framework.run import (
        Graph,
        Outcome,
        Result,
        Retriever,
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
        DriverError,
        FoundPaths,
        Frontier,
        HopState,
        InputError,
        Link,
        LinkList,
        Literal,
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
        SnapshotError,
        SrtkError,
        Step,
        Subgraph,
        TrainingExample,
        Triple,
        rounded,
    )

_ROOMS = {
    "graph": (
        "facts",
        "find_paths",
        "finish",
        "follow_within",
        "path_order",
    ),
    "host": (
        "Call",
        "Observer",
        "__version__",
    ),
    "roles": (
        "TrainingTask",
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
    ),
    "run": (
        "Graph",
        "Outcome",
        "Result",
        "Retriever",
        "Runner",
        "Session",
        "ask",
        "open",
    ),
    "values": (
        "END",
        "NIL",
        "Answer",
        "Budget",
        "DriverError",
        "FoundPaths",
        "Frontier",
        "HopState",
        "InputError",
        "TrainingExample",
        "Link",
        "LinkList",
        "Literal",
        "Mention",
        "Message",
        "NodeSet",
        "Path",
        "Pattern",
        "PluginError",
        "Prompt",
        "Qualifier",
        "Question",
        "Ragged",
        "RankedPath",
        "RecipeError",
        "Reply",
        "Retrieval",
        "RunError",
        "Sample",
        "Schema",
        "SnapshotError",
        "SrtkError",
        "Step",
        "Subgraph",
        "Triple",
        "rounded",
    ),
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}

__all__ = [
    "END",
    "NIL",
    "Answer",
    "Budget",
    "Call",
    "Dataset",
    "DriverError",
    "Encoder",
    "EntityLinker",
    "Expander",
    "Explainable",
    "Exporter",
    "FoundPaths",
    "Frontier",
    "Generator",
    "Graph",
    "HopChoice",
    "HopState",
    "InputError",
    "KnowledgeGraph",
    "Link",
    "LinkList",
    "Literal",
    "Mention",
    "MentionDetector",
    "Message",
    "NodeSet",
    "Observer",
    "Outcome",
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
    "RunError",
    "Runner",
    "Sample",
    "Schema",
    "Session",
    "SnapshotError",
    "SrtkError",
    "Step",
    "Subgraph",
    "Supervision",
    "Trainable",
    "TrainingExample",
    "TrainingTask",
    "Triple",
    "__version__",
    "ask",
    "facts",
    "find_paths",
    "finish",
    "follow_within",
    "open",
    "path_order",
    "rounded",
]


if not TYPE_CHECKING:  # a type checker would take any name for a public one

    def __getattr__(name: str) -> Any:
        """Import a public name from its room when it is first used."""
        if name not in _ROOM_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        room = import_module(f"{__name__}.{_ROOM_OF[name]}")
        # The room keeps the built-in of that name.
        value = getattr(room, "open_session" if name == "open" else name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """List the public names, and what was imported so far."""
    return sorted({*globals(), *__all__})
