"""Report of a comparison in a folder: ``comparison.json``, plots, and a self-contained HTML page."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from srtk_framework.records import write_json
from srtk_framework.values import RunError, escaped
from srtk_plugin_evaluation.columns import CURVES, SIZES, SLICED, TITLES
from srtk_plugin_evaluation.completion_tables import SHORT as COMPLETION
from srtk_plugin_evaluation.completion_tables import SLICED as COMPLETION_SLICED
from srtk_plugin_evaluation.curves import WHOLE
from srtk_plugin_evaluation.inline_svg import inline_svg
from srtk_plugin_evaluation.intervals import Estimate
from srtk_plugin_evaluation.link_tables import SHORT as LINKS
from srtk_plugin_evaluation.plots import ON_PAGE, can_plot, draw, draw_reliability, points
from srtk_plugin_evaluation.tables import SELECTIVE

Pictures = Mapping[str, str]  # Metric to its ``svg`` element.

WHOLE_SET = ("", "")  # Key of the plots for all questions, in place of a slice and its group.

COMPLETED = ("", "completion")  # Key of the reliability diagram.

MOST_DRAWN = 6  # Maximum number of groups of a slice with plots; larger slices have tables only.


def write_report(report: Mapping[str, Any], folder: Path, title: str = "Comparison of methods") -> list[Path]:
    """Write the report of ``compare``, with plots (SVG and PNG) if matplotlib is installed.

    Args:
        report: Result of ``compare``.
        folder: Folder of the files; created if missing.
        title: Heading of the page.

    Returns:
        The files written.

    Raises:
        RunError: If a file cannot be written.
    """
    files: dict[str, bytes] = {}
    pictures = {WHOLE_SET: _drawn(report.get("at"), "all")}
    for metric in pictures[WHOLE_SET]:
        files[f"{metric}.svg"] = draw(report["at"], metric)
        files[f"{metric}.png"] = draw(report["at"], metric, "png")
    for number, (name, groups) in enumerate(report.get("slices", {}).items()):
        if len(groups) <= MOST_DRAWN:
            pictures |= {
                (name, label): _drawn(group.get("at"), f"s{number}-{place}")
                for place, (label, group) in enumerate(groups.items())
            }
    completion = report.get("completion")
    if completion and can_plot() and any(completion["reliability"].values()):
        files["reliability.svg"] = draw_reliability(completion["reliability"])
        files["reliability.png"] = draw_reliability(completion["reliability"], "png")
        pictures[COMPLETED] = {"reliability": _reliable(completion["reliability"])}
    files["report.html"] = page(report, pictures, title).encode("utf-8", "replace")
    write_json(folder / "comparison.json", report)
    for name, data in files.items():
        try:
            (folder / name).write_bytes(data)
        except OSError as error:
            raise RunError(f"{folder / name} cannot be written: {error}; choose another folder") from error
    return [folder / "comparison.json", *(folder / name for name in files)]


def _drawn(at: Mapping[str, Any] | None, prefix: str) -> Pictures:
    """Draw every metric of a comparison at equal numbers of triples; empty without matplotlib."""
    if not at or not can_plot():
        return {}
    drawn = {m: curves for m in CURVES if (curves := points(at, m))}
    return {
        m: inline_svg(draw(at, m, letters=True), f"{prefix}-{m}-", _described(m, curves), ON_PAGE)
        for m, curves in drawn.items()
    }


def _reliable(methods: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Draw the reliability of methods, described by its figures."""
    rows = "; ".join(
        f"{name}: " + ", ".join(f"{row['right']:.2f} right at confidence {row['confidence']:.2f}" for row in some)
        for name, some in methods.items()
        if some
    )
    return inline_svg(
        draw_reliability(methods, letters=True), "reliability-", escaped(f"Reliability diagram. {rows}."), ON_PAGE
    )


def _described(metric: str, curves: Mapping[str, Sequence[tuple[float, ...]]]) -> str:
    """Describe a plot by the ends of its lines."""
    ends = "; ".join(
        f"{name}: {curve[0][1]:.3f} at {curve[0][0]:.1f} triples"
        + (f" to {curve[-1][1]:.3f} at {curve[-1][0]:.1f}" if len(curve) > 1 else "")
        for name, curve in curves.items()
    )
    return escaped(
        f"Line chart of {TITLES[metric]} against the mean number of triples. {ends}. The table below has all figures."
    )


def page(report: Mapping[str, Any], pictures: Mapping[tuple[str, str], Pictures], title: str) -> str:
    """Return the HTML page.

    Args:
        report: Result of ``compare``.
        pictures: Plots by slice and group, and for all questions.
        title: Heading of the page.
    """
    style = resources.files("srtk_plugin_evaluation").joinpath("report.css").read_text(encoding="utf-8")
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    parts = [
        f"<h1>{_text(title)}</h1>",
        f"<p>{_text(_summary(report))}</p>",
        _section(
            "Metrics",
            [_metrics("Means over the questions, with 95 % intervals", report["methods"], report["questions"])],
        ),
    ]
    if any(report["differences"].values()):
        parts.append(_section("Differences", [_HOLM, _differences("Whole subgraphs", report["differences"])]))
    if report.get("answers"):
        parts.append(_section("Answers", _selective(report["answers"])))
    if report.get("completion"):
        parts.append(_section("Completion", _completion(report["completion"], pictures.get(COMPLETED, {}))))
    if report.get("at"):
        parts.append(
            _section("At equal numbers of triples", _at(report["at"], pictures.get(WHOLE_SET, {}), report["questions"]))
        )
    slices = [part for name, groups in report.get("slices", {}).items() for part in _slice(name, groups, pictures)]
    if slices:
        parts.append(_section("Slices", slices))
    if report.get("linking"):
        parts.append(_section("Links", _by_metric(report["linking"], LINKS, "questions with gold links", "links")))
    body = "\n".join(parts)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f"<title>{_text(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n"
        "</body>\n</html>\n"
    )


_HOLM = (
    "<p>Differences between the first method and each other method on the same questions. <em>p</em>: two-sided"
    " randomisation test with random sign changes; <em>Holm p</em>: corrected over all tests of a metric in the table,"
    " which controls the family-wise error rate.</p>"
)


def _text(value: object) -> str:
    return html.escape(escaped(str(value)))


def _section(title: str, parts: Sequence[str]) -> str:
    return f"<section>\n<h2>{_text(title)}</h2>\n" + "\n".join(parts) + "\n</section>"


def _summary(report: Mapping[str, Any]) -> str:
    failed = ", ".join(f"{name} {count}" for name, count in report["failed"].items() if count)
    links = report["links"]
    if links == "mixed":
        links += " (" + ", ".join(f"{name} {kind}" for name, kind in report.get("links_of", {}).items()) + ")"
    return f"{report['questions']} questions. Links: {links}. Failed: {failed or 'none'}."


def _table(caption: str, columns: Sequence[str], rows: Sequence[Sequence[str]], texts: int = 1) -> str:
    """Return an HTML table; cells are HTML, and the first cell of a row is its heading."""
    head = "".join(
        f'<th scope="col"{" class=text" if i < texts else ""}>{_text(column)}</th>' for i, column in enumerate(columns)
    )
    body = "".join(
        f'<tr><th scope="row">{row[0]}</th>'
        + "".join(f"<td{' class=text' if i < texts else ''}>{cell}</td>" for i, cell in enumerate(row[1:], 1))
        + "</tr>\n"
        for row in rows
    )
    return (
        f'<div class="wide" tabindex="0" role="group" aria-label="{_text(caption)}"><table>\n'
        f"<caption>{_text(caption)}</caption>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table></div>"
    )


def _cell(metric: str, estimate: Estimate | None, of: int | None = None, sign: str = "") -> str:
    """Return the HTML of a mean and its interval, with ``n`` if there are fewer values than questions."""
    if estimate is None or estimate["mean"] is None:
        return "–"
    digits = 1 if metric in SIZES else 3
    mean, low, high = (f"{estimate[part] or 0:{sign}.{digits}f}" for part in ("mean", "low", "high"))
    between = "" if estimate["low"] is None else f"<small>{low} to {high}</small>"
    fewer = f"<small>n {estimate['n']}</small>" if of is not None and estimate["n"] != of else ""
    return f"{mean}{between}{fewer}"


def _metrics(caption: str, methods: Mapping[str, Mapping[str, Estimate]], questions: int) -> str:
    shown = [m for m in TITLES if any(some.get(m, {}).get("mean") is not None for some in methods.values())]
    cells = [[_cell(m, some.get(m), questions) for m in shown] for some in methods.values()]
    return _grid(caption, ("method", list(methods)), ("metric", [TITLES[m] for m in shown]), cells)


def _grid(
    caption: str, down: tuple[str, Sequence[str]], across: tuple[str, Sequence[str]], cells: Sequence[Sequence[str]]
) -> str:
    """Return a table with a row for each name of ``down``, or turned where that leaves fewer columns."""
    if len(across[1]) > len(down[1]):
        down, across, cells = across, down, [list(column) for column in zip(*cells, strict=True)]
    rows = [[_text(name), *row] for name, row in zip(down[1], cells, strict=True)]
    return _table(caption, [down[0], *across[1]], rows)


def _at(at: Mapping[str, Any], pictures: Pictures, questions: int) -> list[str]:
    cuts = [*map(str, at["sizes"]), WHOLE]
    parts = [
        "<p>Each subgraph is cut to its first K triples, best first. A subgraph with fewer triples is not cut, and its"
        " precision is that of the whole subgraph.</p>"
    ]
    for metric in CURVES:
        if not points(at, metric):
            continue
        parts.append(f"<h3>{_text(TITLES[metric].capitalize())}</h3>")
        if metric in pictures:
            parts.append(_figure(metric, pictures[metric]))
        rows = [
            [_text(name), *(_cell(metric, some[metric][cut]) for cut in cuts)]
            for name, some in at["methods"].items()
            if metric in some
        ]
        columns = ["method", *(f"K = {cut}" for cut in cuts[:-1]), WHOLE]
        known = next(some[metric][WHOLE]["n"] for some in at["methods"].values() if metric in some)
        parts.append(_table(f"{TITLES[metric].capitalize()} of the first K triples, {known} questions", columns, rows))
    first, *others = at["methods"]
    if others:
        equal = at["equal"]
        parts += [
            "<h3>Question by question</h3>",
            f"<p>Each subgraph is cut to the number of triples that {_text(first)} returned for the question.</p>",
            _metrics(f"As many triples as {first}", equal["methods"], questions),
        ]
        if any(equal["differences"].values()):
            parts.append(_differences(f"Differences at as many triples as {first}", equal["differences"]))
    return parts


def _figure(metric: str, picture: str) -> str:
    name = _text(TITLES[metric])
    return (
        f'<figure><div class="wide" tabindex="0" role="group" aria-label="Chart of {name}">{picture}</div>'
        f"<figcaption>Mean {name} against the mean"
        " number of triples at each K; the bands are 95 % intervals.</figcaption></figure>"
    )


def _differences(caption: str, differences: Mapping[str, Mapping[str, Estimate]]) -> str:
    shown = [metric for metric in TITLES if any(metric in metrics for metrics in differences.values())]

    def cell(metric: str, found: Estimate | None) -> str:
        if found is None:
            return "–"
        return f"{_cell(metric, found, sign='+')}<small>p {found['p']:.3f}, Holm {found['p_holm']:.3f}</small>"

    cells = [[cell(metric, metrics.get(metric)) for metric in shown] for metrics in differences.values()]
    return _grid(caption, ("pair", list(differences)), ("metric", [TITLES[metric] for metric in shown]), cells)


def _by_metric(part: Mapping[str, Any], names: Mapping[str, str], questions: str, what: str) -> list[str]:
    """Build tables of methods and of their differences, with a row per metric."""

    def cell(found: Estimate | None, sign: str) -> str:
        if found is None:
            return "–"
        tested = f"<small>p {found['p']:.3f}, Holm {found['p_holm']:.3f}</small>" if sign else ""
        return f"{_cell('', found, sign=sign)}{tested}<small>n {found['n']}</small>"

    def table(caption: str, columns: Mapping[str, Mapping[str, Estimate]], sign: str = "") -> str:
        shown = [metric for metric in names if any(metric in some for some in columns.values())]
        rows = [[_text(names[m]), *(cell(some.get(m), sign) for some in columns.values())] for m in shown]
        return _table(caption, ["metric", *columns], rows)

    found = [table(f"{part['questions']} {questions}", part["methods"])]
    if any(part["differences"].values()):
        found.append(table(f"Differences of {what}", part["differences"], "+"))
    return found


def _completion(completion: Mapping[str, Any], pictures: Pictures) -> list[str]:
    """Build the tables of pattern questions: metrics, differences, reliability and slices."""
    questions = "patterns with gold answers; what the graph holds does not count"
    parts = _by_metric(completion, COMPLETION, questions, "completion")
    if "reliability" in pictures:
        text = "Share of right predictions against their confidence; on the diagonal both are equal."
        parts.append(f"<figure>{pictures['reliability']}<figcaption>{text}</figcaption></figure>")
    parts += _bins(completion["reliability"])
    for name, groups in completion.get("slices", {}).items():
        every = [metrics for group in groups.values() for metrics in group["methods"].values()]
        shown = [m for m in COMPLETION_SLICED if any(m in metrics for metrics in every)]
        rows = [
            [_text(label), _text(method), str(group["questions"]), *(_cell(m, metrics.get(m)) for m in shown)]
            for label, group in groups.items()
            for method, metrics in group["methods"].items()
        ]
        columns = [name, "method", "patterns", *(COMPLETION[m] for m in shown)]
        parts.append(_table(f"Completion by {name}", columns, rows, texts=2))
    return parts


def _bins(reliability: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[str]:
    """Build the table of a reliability diagram; none without predictions."""
    bins = [
        [
            _text(name),
            f"{row['from']:.3f} to {row['to']:.3f}",
            str(row["n"]),
            f"{row['confidence']:.3f}",
            f"{row['right']:.3f}",
        ]
        for name, rows in reliability.items()
        for row in rows
    ]
    columns = ["method", "bin", "predictions", "mean confidence", "share right"]
    return [_table("Reliability by bin of confidence", columns, bins, texts=2)] if bins else []


def _selective(answers: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Build the tables of accuracy at coverage, of certainties and of calibration."""
    shown = [name for name in SELECTIVE if any(name in some for some in answers.values())]
    rows = [[_text(SELECTIVE[name]), *(_figure_of(some.get(name)) for some in answers.values())] for name in shown]
    parts = [_table("Answers that are right as a whole", ["figure", *answers], rows)]
    told = {name: some["accuracy_at"] for name, some in answers.items() if "accuracy_at" in some}
    if told:
        shares = list(next(iter(told.values())))
        rows = [[_text(share), *(_figure_of(some[share]) for some in told.values())] for share in shares]
        parts.append(_table("Accuracy of the surest share of all questions", ["share", *told], rows))
    levels = [
        [_text(name), _text(level), str(row["n"]), _figure_of(row["accuracy"])]
        for name, some in answers.items()
        for level, row in some.get("certainty", {}).items()
    ]
    if levels:
        parts.append(_table("Accuracy by certainty", ["method", "certainty", "answers", "accuracy"], levels, texts=2))
    return parts + _bins({name: some.get("reliability", []) for name, some in answers.items()})


def _figure_of(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _slice(
    name: str, groups: Mapping[str, Mapping[str, Any]], pictures: Mapping[tuple[str, str], Pictures]
) -> list[str]:
    """Build the part of a slice: metrics by group, and a collapsed comparison at each K per group."""
    every = [metrics for group in groups.values() for metrics in group["methods"].values()]
    shown = [m for m in ("answer_coverage", *SLICED) if any(m in metrics for metrics in every)]
    rows = [
        [
            _text(label),
            _text(method),
            str(group["questions"]),
            *(_cell(m, metrics.get(m), group["questions"]) for m in shown),
        ]
        for label, group in groups.items()
        for method, metrics in group["methods"].items()
    ]
    parts = [_table(f"By {name}", [name, "method", "questions", *(TITLES[m] for m in shown)], rows, texts=2)]
    for label, group in groups.items():
        if at := group.get("at"):
            inner = "\n".join(_at(at, pictures.get((name, label), {}), group["questions"]))
            title = _text(f"{name}: {label}, at equal numbers of triples")
            parts.append(f"<details>\n<summary>{title}</summary>\n{inner}\n</details>")
    return parts
