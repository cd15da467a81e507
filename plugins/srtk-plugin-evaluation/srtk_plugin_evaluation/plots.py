"""Plots of metrics against subgraph size, and of reliability, with a line per method, as reproducible SVG and PNG."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from srtk_framework.values import on_one_line
from srtk_plugin_evaluation.columns import TITLES

INSTALL = "no plots: matplotlib is not installed; run: pip install 'srtk-framework[plot]'"

# Colours of Okabe and Ito (2008), distinct for any colour vision; black is replaced by the colour of the text.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", None, "#8a8a8a")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")  # Markers and dashes tell lines apart without colour.
_DASHES = ("-", (0, (5, 1.5)), (0, (1, 1.2)), (0, (5, 1.5, 1, 1.5)))
_LONGEST = 60  # A longer name would make its legend entry wider than the figure.
_BACK, _INK, _FAINT = "#ffffff", "#1f2328", "#d0d7de"
"""Colours of paper, text and grid lines."""
# The same colours on a page, which follow its colour scheme.
ON_PAGE = {_BACK: "none", _INK: "currentColor", _FAINT: "var(--faint)"}

# Points by size: mean number of triples, mean of the metric, and the ends of its interval.
_Curve = Sequence[tuple[float, float, float, float]]


def can_plot() -> bool:
    """Return whether matplotlib is installed, without importing it."""
    return find_spec("matplotlib") is not None


def points(at: Mapping[str, Any], metric: str) -> dict[str, list[tuple[float, float, float, float]]]:
    """Return the curve of each method with the metric; values of K beyond its size add no point."""
    found: dict[str, list[tuple[float, float, float, float]]] = {}
    for method, metrics in at["methods"].items():
        for cut in [*map(str, at["sizes"]), "all"] if metric in metrics else []:
            estimate, size = metrics[metric][cut], metrics["triples"][cut]["mean"]
            ends = ("mean", "mean") if estimate["low"] is None else ("low", "high")  # No interval has no height.
            point = (size, estimate["mean"], estimate[ends[0]], estimate[ends[1]])
            curve = found.setdefault(method, [])
            if not curve or size > curve[-1][0]:
                curve.append(point)
    return found


def draw(at: Mapping[str, Any], metric: str, kind: str = "svg", *, letters: bool = False) -> bytes:
    """Draw a metric against the mean number of triples.

    Args:
        at: Result of ``curves``.
        metric: Metric, such as ``answer_recall``.
        kind: ``svg`` or ``png``.
        letters: Keep text as text in SVG, in the reader's font, in place of outlines of letters.
    """
    curves = points(at, metric)

    def fill(axes: Any) -> list[Any]:
        handles = [_line(axes, number, curve) for number, curve in enumerate(curves.values())]
        _scale(axes, curves.values())
        axes.set_xlabel("mean number of triples (logarithmic)")
        axes.set_ylabel(TITLES[metric])
        return handles

    return _framed(list(curves), fill, kind, letters)


def draw_reliability(
    methods: Mapping[str, Sequence[Mapping[str, Any]]],
    kind: str = "svg",
    *,
    letters: bool = False,
) -> bytes:
    """Draw the share of right predictions against the mean confidence of their bin; the diagonal is calibrated.

    Args:
        methods: Method to its table by ``calibration.reliability``; methods without predictions have no line.
        kind: ``svg`` or ``png``.
        letters: Keep text as text in SVG, in the reader's font, in place of outlines of letters.
    """
    drawn = {name: rows for name, rows in methods.items() if rows}

    def fill(axes: Any) -> list[Any]:
        axes.plot([0, 1], [0, 1], color=_FAINT, linewidth=1.2)
        handles = []
        for number, rows in enumerate(drawn.values()):
            (line,) = axes.plot(
                [row["confidence"] for row in rows],
                [row["right"] for row in rows],
                **_style(number),
                linewidth=1.8,
            )
            handles.append(line)
        axes.set_xlim(0, 1)
        _shares(axes)
        axes.set_xlabel("mean confidence")
        axes.set_ylabel("share of right predictions")
        return handles

    return _framed(list(drawn), fill, kind, letters)


def _framed(methods: Sequence[str], fill: Callable[[Any], list[Any]], kind: str, letters: bool) -> bytes:
    """Draw axes with a legend of the methods below them.

    Args:
        methods: Names in the legend.
        fill: Draws on the axes; returns a handle per method.
        kind: ``svg`` or ``png``.
        letters: Keep text as text.
    """
    from matplotlib import rc_context, rcdefaults, rcParams
    from matplotlib.figure import Figure

    look: Any = {
        "svg.hashsalt": "srtk",
        "svg.fonttype": "none" if letters else "path",
        "font.family": "DejaVu Sans",
        "font.size": 10,
        "text.color": _INK,
        "axes.labelcolor": _INK,
        "axes.edgecolor": _INK,
        "xtick.color": _INK,
        "ytick.color": _INK,
        "path.simplify": False,
        "text.parse_math": False,
    }
    names = [_printable(name) for name in methods]
    # The width of a legend entry, in inches, follows from the longest name.
    columns = max(1, min(len(names), int(6.5 / (0.75 + 0.09 * max(map(len, names), default=0)))))
    rows = -(-len(names) // columns)
    with rc_context():
        # The user's matplotlib settings must not affect the bytes.
        rcdefaults()
        rcParams.update(look)
        # The legend has its own space below the axes, which grows with the number of methods.
        below = 0.65 + 0.24 * rows
        height = 3.6 + below
        figure = Figure(figsize=(7.2, height), facecolor=_BACK)
        axes = figure.add_axes((0.09, below / height, 0.88, 3.3 / height), facecolor=_BACK)
        handles = fill(axes)
        figure.legend(
            handles,
            names,
            loc="lower left",
            bbox_to_anchor=(0.08, 0.0),
            ncols=columns,
            frameon=False,
            handlelength=3.2,
        )
        out = io.BytesIO()
        metadata: dict[str, Any] = {"Date": None} if kind == "svg" else {"Software": None}
        figure.savefig(out, format=kind, dpi=160, metadata=metadata, facecolor=_BACK)
    return out.getvalue()


def _line(axes: Any, number: int, curve: _Curve) -> Any:
    sizes, means, lows, highs = (list(part) for part in zip(*curve, strict=True))
    sizes = [max(size, 0.1) for size in sizes]
    style = _style(number)
    colour = style["color"]
    (line,) = axes.plot(sizes, means, **style, linewidth=1.8)
    if len(curve) > 1:
        axes.fill_between(sizes, lows, highs, color=colour, alpha=0.18, linewidth=0)
    else:
        axes.vlines(sizes, lows, highs, color=colour, alpha=0.5, linewidth=4)
    return line


def _style(number: int) -> dict[str, Any]:
    """Return colour, dash and marker of the line of a method."""
    return {
        "color": _COLOURS[number % len(_COLOURS)] or _INK,
        "linestyle": _DASHES[number // len(_COLOURS) % len(_DASHES)],
        "marker": _MARKERS[number % len(_MARKERS)],
        "markersize": 6,
    }


def _scale(axes: Any, curves: Any) -> None:
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    sizes = [max(point[0], 0.1) for curve in curves for point in curve] or [1.0]
    low, high = min(sizes) / 1.15, max(sizes) * 1.15
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    ticks = [step * 10**power for power in range(-1, 6) for step in (1, 2, 5)]
    axes.xaxis.set_major_locator(FixedLocator([tick for tick in ticks if low <= tick <= high]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    _shares(axes)


def _shares(axes: Any) -> None:
    """Scale the vertical axis for shares, with a grid."""
    from matplotlib.ticker import FixedLocator

    axes.set_ylim(0, 1.02)
    axes.yaxis.set_major_locator(FixedLocator([0, 0.2, 0.4, 0.6, 0.8, 1]))
    axes.grid(color=_FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _printable(name: str) -> str:
    """Shorten a name, and protect a leading underscore, which would hide it in legends."""
    name = on_one_line(name)
    short = name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"
    return ("\u200a" if short.startswith("_") else "") + short
