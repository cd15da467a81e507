"""Ten invented tables: the kind that each column was taken for, the facts that came of it, and a question each.

    python -m benchmarks.files.tables [--only wine] [--columns] [--details] [--json FILE]

What each table should become stands in tables/expected.yaml, which was written before the tables were read. Beside
our literals' types stand those that pandas and DuckDB infer for the same columns; they know no keys, links or lists.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from benchmarks.files.built_graphs import Graph, as_list, ask, build, holds, is_answered, literal_type, plain

TABLES = Path(__file__).with_name("tables")
SAME_KINDS = {
    "names": "text", "property": "weight",
    "bookkeeping": "layout",
}  # fmt: skip
"""What expected.yaml calls the kinds of a plan."""
Counted = tuple[int, int]


def columns_shown(info: dict[str, Any], file: str) -> dict[str, str]:
    """Return heading and kind of each column of a file, from the plan that ``srtk graph info --json`` shows."""
    found: dict[str, str] = {}
    for read in info.get("reading", []):
        if Path(read["name"]).name != file:
            continue
        for column in read["columns"]:
            kind = column.get("kind", column["as"])
            found[column["column"]] = (
                "list" if kind != "alias" and "list split" in column["as"] else SAME_KINDS.get(kind, kind)
            )
        for title in read.get("unread", []):
            found.setdefault(str(title), "not read")
    return found


def types_found(graph: Graph) -> dict[str, set[str | None]]:
    """Return the types of the objects of each relation; None stands for entities."""
    found: dict[str, set[str | None]] = {}
    for (_, relation, value), _ in graph.triples:
        found.setdefault(plain(relation), set()).add(literal_type(value))
    return found


def types_of(graph: Graph, headings: Iterable[str]) -> dict[str, set[str | None]]:
    """Return the types of the objects of each column."""
    found = types_found(graph)
    return {heading: found.get(plain(heading), {None}) for heading in headings}


def one_type(types: set[Any]) -> str:
    """Name the type of a column whose cells have these types."""
    if types <= {"integer", "number"} and "number" in types:
        return "number"
    return str(next(iter(types)) or "entity") if len(types) == 1 else "several"


def kinds_found(graph: Graph, file: str, headings: Iterable[str]) -> dict[str, str]:
    """Return each column's kind; where the plan says `relation` alone, the facts tell texts from literals."""
    shown, types = columns_shown(graph.info, file), types_found(graph)
    kinds = {heading: shown.get(heading, "not read") for heading in headings}
    of_facts = {name: "text" if None in types.get(plain(name), {None}) else "literal" for name in kinds}
    return {name: of_facts[name] if kind == "relation" else kind for name, kind in kinds.items()}


def kinds_right(kinds: dict[str, str], wanted: dict[str, Any]) -> tuple[Counted, list[str]]:
    """Count the columns of the right kind."""
    wrong = [
        f"column {heading}: {kinds[heading]}, should be {right}"
        for heading, right in wanted["columns"].items()
        if kinds[heading] not in as_list(right)
    ]
    return (len(wanted["columns"]) - len(wrong), len(wanted["columns"])), wrong


def facts_right(graph: Graph, wanted: dict[str, Any]) -> dict[str, tuple[Counted, list[str]]]:
    """Count the facts that are there, the facts and nodes that are rightly absent, and the names."""
    facts = graph.facts()
    lacking = [f"lacks {fact}" for fact in wanted["facts"] if not holds(facts, fact)]
    named = graph.named()
    nodes = {*named, *named.values()}
    never = wanted["never"]
    wrong = [f"holds {fact}" for fact in never["facts"] if holds(facts, fact)]
    wrong += [f"node {node!r}" for node in never["nodes"] if node in nodes]
    unnamed = [
        f"{key} is {named.get(key)}, not {name}" for key, name in wanted["names"].items() if named.get(key) != name
    ]
    absent, names, many = len(never["facts"]) + len(never["nodes"]), len(wanted["names"]), len(wanted["facts"])
    return {
        "facts": ((many - len(lacking), many), lacking),
        "never": ((absent - len(wrong), absent), wrong),
        "names": ((names - len(unnamed), names), unnamed),
    }


def types_right(types: dict[str, str], wanted: dict[str, Any]) -> tuple[Counted, list[str]]:
    """Count the columns of literals with the right type."""
    wrong = [
        f"type of {name}: {types.get(name)}, not {right}" for name, right in wanted.items() if types.get(name) != right
    ]
    return (len(wanted) - len(wrong), len(wanted)), wrong


def pandas_types(path: Path) -> dict[str, str]:
    """Return the type that pandas infers for each column."""
    import pandas as pd

    names = {"i": "integer", "u": "integer", "f": "number", "b": "boolean", "M": "date"}
    read = pd.read_csv(path, sep=None, engine="python", encoding="utf-8")
    return {str(name): names.get(getattr(kind, "kind", "O"), "text") for name, kind in read.dtypes.items()}


def duckdb_types(path: Path) -> dict[str, str]:
    """Return the type that DuckDB infers for each column."""
    import duckdb

    names = {"BIGINT": "integer", "INTEGER": "integer", "DOUBLE": "number", "BOOLEAN": "boolean", "DATE": "date",
             "TIMESTAMP": "date", "TIMESTAMP WITH TIME ZONE": "date", "TIME": "time"}  # fmt: skip
    read = duckdb.connect().execute("DESCRIBE SELECT * FROM read_csv(?)", [str(path)]).fetchall()
    return {str(row[0]): names.get(row[1], "number" if row[1].startswith("DECIMAL") else "text") for row in read}


def measured(path: Path, wanted: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Build one table, ask it its question, and compare all of it with what should be."""
    pandas, duckdb, none = pandas_types(path), duckdb_types(path), dict.fromkeys(wanted["columns"], "-")
    figures: dict[str, Any] = {
        "pandas types": types_right(pandas, wanted["types"])[0],
        "DuckDB types": types_right(duckdb, wanted["types"])[0],
    }
    graph = build([path], folder / path.stem)
    kinds = none if isinstance(graph, str) else kinds_found(graph, path.name, wanted["columns"])
    ours = none if isinstance(graph, str) else {name: one_type(some) for name, some in types_of(graph, none).items()}
    figures["columns"] = [
        (
            name,
            "/".join(as_list(right)),
            wanted["types"].get(name, ""),
            kinds[name],
            ours[name],
            pandas[name],
            duckdb[name],
        )
        for name, right in wanted["columns"].items()
    ]
    if isinstance(graph, str):
        nothing = {name: (0, len(wanted[name])) for name in ("columns", "facts", "names", "types")}
        absent = len(wanted["never"]["facts"]) + len(wanted["never"]["nodes"])
        return {"kinds": nothing.pop("columns"), **nothing, "never": (0, absent), "question": (0, 1), **figures,
                "wrong": [f"not built: {graph}"]}  # fmt: skip
    found = facts_right(graph, wanted)
    found["types"] = types_right(ours, wanted["types"])
    found["kinds"] = kinds_right(kinds, wanted)
    record = ask([str(graph.folder)], wanted["question"])
    right = is_answered(record, wanted["answer"])
    wrong = [] if right else [f"question: {wanted['question']} {record if isinstance(record, str) else ''}".strip()]
    found["question"] = ((int(right), 1), wrong)
    figures |= {name: counted for name, (counted, _) in found.items()}
    return {**figures, "wrong": [each for _, some in found.values() for each in some]}


HEAD = ("column", "should be", "type", "ours", "type", "pandas", "DuckDB")
COLUMNS = ("kinds", "facts", "never", "names", "question", "types", "pandas types", "DuckDB types")


def row(name: str, figures: dict[str, Any]) -> str:
    """Write the figures of a table as one row."""
    return f"{name:24}" + "".join(f"{'{}/{}'.format(*figures[column]):>14}" for column in COLUMNS)


def shown_columns(figures: dict[str, Any]) -> list[tuple[str, ...]]:
    """List the columns of a table with their kinds and types, under a head."""
    return [HEAD, *figures["columns"]]


def main() -> int:
    """Measure all tables, and print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="part of a table's name")
    parser.add_argument("--columns", action="store_true", help="print what each column was taken for")
    parser.add_argument("--details", action="store_true", help="print what is wrong too")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures")
    args = parser.parse_args()
    expected = yaml.safe_load((TABLES / "expected.yaml").read_text(encoding="utf-8"))
    results: dict[str, Any] = {}
    print(f"{'table':24}" + "".join(f"{column:>14}" for column in COLUMNS))
    with tempfile.TemporaryDirectory() as folder:
        for name, wanted in expected.items():
            if args.only not in name:
                continue
            results[name] = measured(TABLES / name, wanted, Path(folder))
            print(row(name, results[name]), flush=True)
            if args.columns:
                print(
                    "".join(
                        "    " + "".join(f"{cell:20}" for cell in line) + "\n" for line in shown_columns(results[name])
                    )
                )
            if args.details:
                print("".join(f"    {each}\n" for each in results[name]["wrong"]), end="")
    total = {c: tuple(sum(each[c][i] for each in results.values()) for i in (0, 1)) for c in COLUMNS}
    print(row("all", total))
    if args.json:
        args.json.write_text(json.dumps({"tables": results, "all": total}, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
