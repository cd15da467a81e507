"""Pages of the results: `docs/results/TOPIC.md` with its picture, and the summary `docs/benchmarks.md`.

    python -m benchmarks.pages             # or make docs

Everything is made from `benchmarks/results/`: TOPIC.json has the figures and says which of them a page shows, TOPIC.md
the sentences, with `<!-- table -->`, `<!-- picture -->` and `<!-- measurements -->` where these go. A figure within a
sentence is written as `{{measurement | set | method | metric}}`, so that none is typed.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from benchmarks.figures import RESULTS, ROOT, load, measurement, topics

PAGES = ROOT / "docs/results"
SUMMARY = ROOT / "docs/benchmarks.md"
_NOTE = "<!-- Made by `make docs` from benchmarks/results/: change it there. -->\n\n"
_FIGURE = re.compile(r"\{\{(.+?)\}\}")
_COLOURS = ("#3b6ea8", "#c98a2b", "#7a7a7a", "#4f9a6a", "#a2577f")
"""Told apart in print and by most eyes; the first is the method that the page is about."""
_ORDER = ("search", "answers", "linking", "files", "training", "operations", "speed", "reliability", "index-search")
"""What most readers ask for first; other topics follow by name."""
_NAMES, _BAR, _GAP, _WIDTH, _VALUES = 250, 15, 12, 330, 130


def pages(folder: Path = RESULTS) -> dict[Path, str]:
    """Make all pages and pictures: path to text."""
    made = {}
    for name in topics(folder):
        topic = load(name, folder)
        made[PAGES / f"{name}.svg"] = picture(topic)
        made[PAGES / f"{name}.md"] = page(topic, (folder / f"{name}.md").read_text(encoding="utf-8"))
    order = sorted(topics(folder), key=lambda name: (_ORDER.index(name) if name in _ORDER else len(_ORDER), name))
    made[SUMMARY] = summary([load(name, folder) for name in order], (folder / "summary.md").read_text("utf-8"))
    return made


def page(topic: Mapping[str, Any], sentences: str) -> str:
    """Lay out the page of a topic."""
    shown = topic["page"]["table"]
    caption = f"{measurement(topic, shown['measurement'])['about']}\n\n{table(topic, shown)}"
    drawn = topic["page"]["picture"]
    alternative = f"{drawn['metric']}: {', '.join(drawn['bars'])}"
    text = wrapped(filled(sentences, [topic])).replace("<!-- table -->", caption)
    text = text.replace("<!-- picture -->", f"![{alternative}]({topic['topic']}.svg)")
    text = text.replace("<!-- measurements -->", measurements(topic))
    return f"{_NOTE}# {topic['title']}\n\n{text}"


def wrapped(text: str) -> str:
    """Break the lines of paragraphs and lists anew, since figures are shorter than their names."""
    laid = []
    for block in re.split(r"\n(?=\n|- )", text):
        start = "  " if block.startswith("- ") else ""
        if block.strip().startswith(("#", "<!--", "|", "!")) or not block.strip():
            laid.append(block)
            continue
        kept_break = "\n" if block.startswith("\n") else ""
        lines = textwrap.wrap(
            " ".join(block.split()), 120, subsequent_indent=start, break_long_words=False, break_on_hyphens=False
        )
        laid.append(kept_break + "\n".join(lines))
    return "\n".join(laid).rstrip() + "\n"


def filled(text: str, whole: Sequence[Mapping[str, Any]]) -> str:
    """Put figures in the place of their names.

    Raises:
        KeyError: If there is no such figure.
    """

    def figure(match: re.Match[str]) -> str:
        parts = [part.strip() for part in match[1].split(" | ")]
        topic = whole[0] if len(parts) == 4 else next(one for one in whole if one["topic"] == parts[0])
        name, *key = parts[-4:]
        found = kept(topic, name, *key)["figure"]
        return number(found, max(2, _digits([found]) or 0) if isinstance(found, float) and abs(found) <= 1 else None)

    return _FIGURE.sub(figure, text)


def kept(topic: Mapping[str, Any], name: str, where: str, method: str, metric: str) -> dict[str, Any]:
    """Return the record of a set, method and metric.

    Raises:
        KeyError: If there is none.
    """
    for found in measurement(topic, name)["records"]:
        if (found["set"], found["method"], found["metric"]) == (where, method, metric):
            return dict(found)
    raise KeyError(f"{topic['topic']}, {name}: no figure of {where} | {method} | {metric}")


def number(figure: float, digits: int | None = None) -> str:
    """Write a figure; shares without the zero before the point."""
    if isinstance(figure, int) and digits is None:
        return f"{figure:,}"
    text = f"{figure:,.{digits}f}" if digits is not None else f"{figure:,}"
    return re.sub(r"^(-?)0\.", r"\1.", text)


def _digits(figures: Sequence[float]) -> int | None:
    """Return how many digits behind the point the most exact one has; None if all are integers."""
    if all(isinstance(figure, int) for figure in figures):
        return None
    return max(len(repr(figure).partition(".")[2]) for figure in figures if not isinstance(figure, int))


def table(topic: Mapping[str, Any], shown: Mapping[str, Any]) -> str:
    """Lay out a table: one row for each value, figures with their interval where there is one."""
    rows = shown["rows"]
    found = []
    for column in shown["columns"]:
        wanted = {key: column[key] for key in ("set", "method", "metric") if key in column}
        records = measurement(topic, column.get("measurement", shown["measurement"]))["records"]
        found.append({one[rows]: one for one in records if all(one[key] == value for key, value in wanted.items())})
    names = shown.get("shown") or list(dict.fromkeys(name for cells in found for name in cells))
    head = [{"set": "questions", "method": "method", "metric": ""}[rows], *(one["label"] for one in shown["columns"])]
    lines = ["| " + " | ".join(head) + " |", "|---|" + "--:|" * len(found)]
    digits = [_digits([one["figure"] for one in cells.values()]) for cells in found]
    for name in names:
        count = {cells[name]["n"] for cells in found if name in cells} - {None}
        first = name
        if len(count) == 1 and rows != "method":
            first += _count(name, count.pop(), "of " if rows == "metric" else "")
        if rows == "metric":
            digits = [_digits([cells[name]["figure"]]) if name in cells else None for cells in found]
        lines.append("| " + " | ".join([first, *map(_cell, (cells.get(name) for cells in found), digits)]) + " |")
    return "\n".join(lines)


def _count(name: str, units: int, word: str = "") -> str:
    """Return the number of units behind a name, unless the name has it."""
    return "" if f"{units:,}" in name else f", {word}{units:,}"


def _cell(record: Mapping[str, Any] | None, digits: int | None) -> str:
    if record is None:
        return ""
    figure = number(record["figure"], digits)
    if "interval" not in record:
        return figure
    low, high = (number(end, max(digits or 0, 2)) for end in record["interval"])
    return f"{figure} ({low} to {high})"


def measurements(topic: Mapping[str, Any]) -> str:
    """List all measurements of a topic with their commands: how to get each figure again."""
    lines = []
    for found in topic["measurements"]:
        run = found["runs"][0]
        at = f"commit {run['commit']}, {run['measured_at']}" if run["commit"] else f"{run['measured_at']}"
        gone = "" if exists(found["command"]) else "; the script is in that commit"
        lines.append(f"- `{found['id']}`, {len(found['records'])} figures ({at}{gone}): `{found['command']}`")
    return "\n".join(lines)


def exists(command: str) -> bool:
    """Return whether the scripts that a command names are in this checkout."""
    files = re.findall(r"benchmarks/[\w/]+\.(?:py|yaml)", command)
    modules = [f"{name.replace('.', '/')}.py" for name in re.findall(r"-m (benchmarks[\w.]+)", command)]
    return all((ROOT / file).exists() for file in (*files, *modules))


def picture(topic: Mapping[str, Any]) -> str:
    """Draw bars with their intervals: a group for each set or method."""
    drawn = topic["page"]["picture"]
    other = "method" if drawn["by"] == "set" else "set"
    records = [one for one in measurement(topic, drawn["measurement"])["records"] if one["metric"] == drawn["metric"]]
    found = {(one[drawn["by"]], one[other]): one for one in records}
    ends = [found[key].get("interval", (0, found[key]["figure"]))[1] for key in found if key[1] in drawn["bars"]]
    most = 1.0 if max(ends) <= 1 else max(ends)
    parts, y = [], 34
    for i, name in enumerate(drawn["bars"]):
        x = _NAMES + (i % 2) * 230
        top = 8 + (i // 2) * 18
        parts.append(f'<rect x="{x}" y="{top}" width="11" height="11" fill="{_COLOURS[i]}"/>')
        parts.append(f'<text x="{x + 16}" y="{top + 10}">{escape(name)}</text>')
    y += 18 * ((len(drawn["bars"]) - 1) // 2)
    digits = _digits([one["figure"] for one in found.values()])
    for group in drawn["groups"]:
        bars = [(i, found[group, name]) for i, name in enumerate(drawn["bars"]) if (group, name) in found]
        middle = y + len(bars) * _BAR / 2 + 4
        parts.append(f'<text x="{_NAMES - 8}" y="{middle:g}" text-anchor="end">{escape(group)}</text>')
        for i, one in bars:
            width = max(one["figure"], 0) / most * _WIDTH
            parts.append(
                f'<rect x="{_NAMES}" y="{y + 1}" width="{width:.1f}" height="{_BAR - 3}" fill="{_COLOURS[i]}"/>'
            )
            last = width
            if "interval" in one:
                low, high = (max(end, 0) / most * _WIDTH for end in one["interval"])
                parts.append(f'<path d="M{_NAMES + low:.1f} {y + 7}H{_NAMES + high:.1f}" stroke="#222"/>')
                last = max(last, high)
            value = number(one["figure"], digits)
            parts.append(f'<text x="{_NAMES + last + 6:.1f}" y="{y + 12}" font-size="11">{value}</text>')
            y += _BAR
        y += _GAP
    wide = _NAMES + _WIDTH + _VALUES
    title = escape(f"{topic['title']}: {drawn['metric']}")
    parts.append(f'<text x="{_NAMES}" y="{y + 8}" font-size="11">{escape(drawn["metric"])}</text>')
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {y + 18}" width="{wide}" role="img" '
        f'font-family="sans-serif" font-size="12">\n<title>{title}</title>\n'
        f'<rect width="{wide}" height="{y + 18}" fill="#fff"/>\n{body}\n</svg>\n'
    )


def summary(whole: Sequence[Mapping[str, Any]], sentences: str) -> str:
    """Lay out the summary: what a reader asks, the figure, and the simplest baseline beside it."""
    lines = ["| question | measured on | metric | by | figure | simplest baseline |", "|---|---|---|---|--:|---|"]
    for topic in whole:
        for row in topic["page"]["summary"]:
            at = (topic, row["measurement"], row["set"])
            one = kept(*at, row["method"], row["metric"])
            beside = ""
            if row["baseline"]:
                other = kept(*at, row["baseline"], row["metric"])
                digits = _digits([one["figure"], other["figure"]])
                beside = f"{_cell(other, digits)}, {row['baseline']}"
            figure = _cell(one, _digits([one["figure"]]) if not beside else digits)
            count = _count(row["set"], one["n"]) if one["n"] else ""
            asked = f"[{row['asked']}](results/{topic['topic']}.md)"
            lines.append(f"| {asked} | {row['set']}{count} | {row['metric']} | {row['method']} | {figure} | {beside} |")
    listed = "\n".join(f"- [{one['title']}](results/{one['topic']}.md)" for one in whole)
    text = wrapped(filled(sentences, whole))
    return _NOTE + text.replace("<!-- table -->", "\n".join(lines)).replace("<!-- topics -->", listed)


def main() -> None:
    """Write the pages, and remove those of topics that are no more."""
    PAGES.mkdir(parents=True, exist_ok=True)
    made = pages()
    for path in PAGES.iterdir():
        if path not in made:
            path.unlink()
    for path, text in made.items():
        path.write_text(text, encoding="utf-8")
    print(f"wrote {len(made)} files in docs/results and docs/benchmarks.md")


if __name__ == "__main__":
    main()
