"""Headings and property names of layout and bookkeeping: how a node is drawn, and where and when a row was written.

Programs write both beside the facts of a graph. As facts they answer no question and hide real facts, so that they are
left out, and reported, unless ``keep`` names them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from srtk_plugin_local.snapshot.headings import normal

# Value of the setting ``keep`` by which nothing is left out as layout or bookkeeping.
KEEP_ALL = "all"

LAYOUT = "layout"
BOOKKEEPING = "bookkeeping"

_PLACES = ("x", "y", "z")
_COLOURS = ("r", "g", "b")
# Headings of coordinates and colours, which may as well be a quantity: they count together, and as numbers alone.
_LETTERS = (*_PLACES, *_COLOURS, "a")

_SIZES = ("size", "width", "height", "radius", "thickness", "opacity", "alpha")
_LOOKS = ("color", "colour", "shape", "fill", "stroke", "style", "position", "pos", "rgb", "rgba")
# Ordinary words: a product has a size and a colour, too. In tables they count beside coordinates or colours alone.
_DRAWN = ("size", "color", "colour", "rgb", "rgba", "pos", "opacity")

_LAYOUT_WORDS = frozenset(
    (
        *("shape type", "node shape", "node size", "node color", "node colour", "label size", "label color"),
        *("label colour", "edge color", "edge colour", "edge width", "line width", "line color", "line colour"),
        *("line style", "pen width", "penwidth", "fill color", "fill colour", "fillcolor", "border color"),
        *("border colour", "border width", "stroke width", "stroke color", "arrow shape", "arrow size", "arrowhead"),
        *("z order", "z index", "node graphics", "edge graphics", "nodegraphics", "edgegraphics", "graphics"),
        *("node geometry", "edge geometry", "node style", "edge style", "node view state", "edge view state"),
        *("port graphics", "portgraphics", "node labels graphics", "x pos", "y pos", "pos x", "pos y", "x coord"),
        *("y coord", "x position", "y position", "layout x", "layout y", "visible"),
    )
)
_LAYOUT_STARTS = ("viz ", "font ", "fontsize", "fontname", "fontcolor")

_BOOKKEEPING_WORDS = frozenset(
    (
        *("created at", "updated at", "modified at", "deleted at", "inserted at", "ingested at", "indexed at"),
        *("last updated", "last modified", "last modified at", "created on", "updated on", "modified on"),
        *("file path", "filepath", "file name", "filename", "source file", "source path"),
        *("source id", "source ids", "source chunk", "source chunks", "chunk id", "chunk ids", "chunks", "doc id"),
        *("document id", "document ids", "doc ids", "full doc id", "text unit id", "text unit ids"),
        *("human readable id",),
        *("uuid", "guid", "row id", "rowid", "row number", "row nr", "line number", "record id", "hash", "checksum"),
        *("md5", "sha1", "sha256", "etag", "embedding", "embeddings", "vector", "truncate"),
        *("edge id", "suid", "selected"),
    )
)
_TARGETS = ("target id", "target", "dest id", "destination id")


def unwanted(heading: str) -> str | None:
    """Return whether a heading alone means layout or bookkeeping; None for an ordinary word or a single letter."""
    word = normal(heading)
    if word in _LAYOUT_WORDS or word == "viz" or word == "font" or word.startswith(_LAYOUT_STARTS):
        return LAYOUT
    return BOOKKEEPING if word in _BOOKKEEPING_WORDS else None


def unwanted_columns(
    headings: Iterable[str], numeric: Collection[str], keep: Sequence[str] = (), drawn: bool = False
) -> dict[str, str]:
    """Return which columns of a table, or properties of a graph, are layout or bookkeeping.

    Single letters (x, y, z; r, g, b, a) are layout if their values are numbers and two of them come together, or one
    beside another word of layout. Beside them ordinary words are layout too, such as width; alone they are facts.
    ``source_id`` is an end of an edge where there is a ``target_id``.

    Args:
        headings: The headings.
        numeric: Headings whose values are all numbers.
        keep: Names that are never layout or bookkeeping; ``all`` for every name.
        drawn: Whether a program for drawing graphs wrote them (GraphML, GEXF, networkx), so that size and colour are
            layout by themselves.

    Returns:
        ``layout`` or ``bookkeeping`` by heading, in the order of the headings.
    """
    words = {heading: normal(heading) for heading in headings}
    found = {heading: kind for heading in words if (kind := unwanted(heading))}
    if any(word in _TARGETS for word in words.values()):
        found = {heading: kind for heading, kind in found.items() if words[heading] != "source id"}
    found |= dict.fromkeys(_layout(words, set(numeric), drawn, LAYOUT in found.values()), LAYOUT)
    return {heading: found[heading] for heading in words if heading in found and not kept(heading, keep)}


def _layout(words: Mapping[str, str], numeric: set[str], drawn: bool, certain: bool) -> list[str]:
    """Return the headings that are layout beside other headings."""
    letters = {heading for heading, word in words.items() if word in _LETTERS and heading in numeric}
    strong = {words[heading] for heading in letters} - {"a"}
    looks = {heading for heading, word in words.items() if word in _LOOKS or (word in _SIZES and heading in numeric)}
    alone = {heading for heading in looks if drawn and words[heading] in _DRAWN}
    together = len(strong) > 1 or (bool(strong) and (certain or bool(alone)))
    return [*alone, *letters, *looks] if together else [*alone]


def kept(heading: str, keep: Sequence[str]) -> bool:
    """Return whether the setting ``keep`` names a heading."""
    return any(name in (KEEP_ALL, heading) or normal(name) == normal(heading) for name in keep)
