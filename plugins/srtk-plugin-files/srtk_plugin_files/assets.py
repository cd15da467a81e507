"""The files of the pages, and a script joined from them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources

DRAWING = ("layout", "elements", "pane", "tips")
"""Scripts that draw a subgraph, for a page that has ``summary``: most triples drawn, ``url`` and ``names``."""
_PANE = ("terms", "facts", "sieve", "diagram", "movement", "tables", "copies")


def asset(name: str) -> str:
    """Return a file of the pages."""
    return (resources.files("srtk_plugin_files") / "page" / name).read_text(encoding="utf-8")


def script(parts: Sequence[str], inside: Sequence[str] = ()) -> str:
    """Join scripts inside one function, with an inner function for a pane, which keeps names local.

    Args:
        parts: The scripts; one of them is the pane.
        inside: Further scripts in the function of the pane.
    """
    pane = "\n".join([*(asset(f"{name}.js") for name in _PANE), *inside])
    return '"use strict";\n(() => {\n' + "\n".join(parts).replace("{{parts}}", pane) + "})();\n"
