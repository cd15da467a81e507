"""A plugin framework for semantic subgraph retrieval: questions in, small scored subgraphs out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from srtk_framework.host.versions import __version__

if TYPE_CHECKING:
    from srtk_framework.run.session import open_session as open

__all__ = ["__version__", "open"]


def __getattr__(name: str) -> Any:
    """Import the session only when it is wanted: ``import srtk_framework`` stays instant."""
    if name == "open":
        from srtk_framework.run.session import open_session

        return open_session
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
