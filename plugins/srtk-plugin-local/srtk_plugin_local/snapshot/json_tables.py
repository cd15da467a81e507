"""Tables in JSON: a list of objects, an object with such lists, or JSON Lines; each object is a row."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import takewhile, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from srtk_framework.records import check_depth
from srtk_framework.values import InputError, shortened
from srtk_plugin_local.snapshot.apoc import element_row, is_element
from srtk_plugin_local.snapshot.arrow_texts import LIST, check_separator
from srtk_plugin_local.snapshot.build_settings import WITHIN
from srtk_plugin_local.snapshot.header import Planner
from srtk_plugin_local.snapshot.input_files import Input, blocks
from srtk_plugin_local.snapshot.input_report import FileReport, Meter
from srtk_plugin_local.snapshot.limits import LONG_LITERAL, LONG_LITERALS, MAX_LITERAL, ROWS, check_whole, check_width
from srtk_plugin_local.snapshot.list_cells import ONLY_NAMES, name_of_object
from srtk_plugin_local.snapshot.tables import decoded_lines, read_batches, read_cells

if TYPE_CHECKING:
    import pyarrow as pa

# Bytes of memory for each byte of a file: measured 20 (long texts) to 42 (objects of one digit). A file that is small
# enough by this may still exceed the limit of its process.
_GROWTH = 20
# A table of so many cells, of which so many are empty for each that is filled, takes its time for nothing.
_CELLS, _SPARSE = 10_000_000, 100
# Keys of a feature of GeoJSON.
_FEATURE = ("type", "id", "properties", "geometry", "bbox")
# How Cytoscape draws an element, and what may be done with it there.
_STATE = (
    "position",
    "renderedPosition",
    "group",
    "selected",
    "selectable",
    "locked",
    "grabbable",
    "grabbed",
    "pannable",
)
_NESTED = "lists of objects or of lists in {!r}"
_TWICE = "keys that an object has twice"
_SHAPE = "give a list of objects, an object with such lists, or JSON Lines (pandas: orient='records')"

Tables = Iterator[tuple[FileReport, Iterator["pa.Table"]]]
Rows = Callable[[], Iterable[tuple[int, Mapping[str, Any]]]]
"""Reads numbered objects, each time from the beginning."""


class Repeated(dict[str, Any]):
    """An object of JSON in which a key stands twice; the last value is kept."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    return made if len(made) == len(pairs) else Repeated(made)


# Numbers stay as they are written.
_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_float=str, parse_int=str, parse_constant=lambda _: None)


def json_tables(name: str, planner: Planner, strict: bool, meter: Meter, memory: int) -> Tables:
    """Yield the report of each table of a file, and its rows as ``read_rows`` gives them.

    An object within an object gives a column for each of its values, such as ``address.city``. A list of plain values
    is a cell with several values, and so is a list of objects with names; other lists are counted as skipped.

    Args:
        name: Path of the file.
        planner: Finds header and columns.
        strict: Make whatever would be skipped an error.
        meter: Called with the bytes read.
        memory: Bytes of memory for a file that is not in lines.

    Raises:
        InputError: If the file is no JSON, holds no objects in a list or in lines, or is too large.
    """
    if _is_lines(name):
        rows: Rows = lambda: _lines(name, meter)  # noqa: E731
        yield from _table(FileReport(name, "json", strict), rows, planner, "")
        return
    text = _whole(name, memory)
    found = _decoded(text, name) if text.strip() else []
    meter(Path(name).stat().st_size)
    report = FileReport(name, "json", strict)
    if isinstance(found, dict):
        _check_keys(found, name)
        records = _records(found, report)
        if records is None and name_of_object(found) and not any(map(_holds_rows, found.values())):
            records = [found]
    else:
        records = found if isinstance(found, list) else None
    if records is not None and _are_rows(records):
        yield report, read_cells(_rows_of_cells(records, name), planner, report)
        return
    if records is not None:
        yield from _table(report, _rows_of(records, name), planner, "row ")
        return
    found, wrapper = _graph_of(found, name)
    lists = {key: some for key, some in found.items() if _is_table(some)} if isinstance(found, dict) else {}
    if not lists and isinstance(found, dict):
        lists = {key: some for key, some in found.items() if _are_rows(some) and len(some[0]) > 1}
    if not lists:
        raise InputError(f"{name}: holds no table; {_SHAPE}; give --format jsonld if it is JSON-LD")
    is_placed = _place_nodes(lists)
    rest = [key for key in found if key not in lists]
    for number, (key, some) in enumerate(lists.items()):
        report = FileReport(f"{name}{WITHIN}{key}", "json", strict)
        if number == 0:
            _note_unread(rest, report)
        if is_placed and key == "nodes":
            report.note("its edges name nodes by their places, from 0, which were read as their ids")
        if _are_rows(some):
            yield report, read_cells(_rows_of_cells(some, report.name), planner, report)
            continue
        elements = _unwrapped(some, report) if wrapper == "elements" else some
        yield from _table(report, _rows_of(elements, report.name), planner, "row ")


def _check_keys(found: dict[str, Any], name: str) -> None:
    if isinstance(found, Repeated):
        raise InputError(f"{name}: an object has a key twice; rename one of them")


def _note_unread(keys: Iterable[str], report: FileReport) -> None:
    if shown := ", ".join(map(repr, keys)):
        report.note(f"beside its tables, these keys are not read: {shortened(shown)}")


def _records(found: dict[str, Any], report: FileReport) -> list[Any] | None:
    """Return the rows of an object that is one table, in the way of a known program or by key; None for any other."""
    results = found.get("results")
    if _are_rows(found.get("data")) and isinstance(found.get("columns"), list):
        read, keys = _split, {"columns", "index", "data"}
    elif _are_rows(found.get("values")):
        read, keys = _sheet, {"values", "range", "majorDimension"}
    elif found.get("type") == "FeatureCollection" and isinstance(found.get("features"), list):
        read, keys = _features, {"type", "features"}
    elif "head" in found and isinstance(results, dict) and isinstance(results.get("bindings"), list):
        read, keys = _bindings, {"head", "results"}
    else:
        return _by_key(found, report)
    rest = [key for key in found if key not in keys]
    if any(_is_table(found[key]) for key in rest):
        return None
    _note_unread(rest, report)
    return read(found, report)


def _split(found: dict[str, Any], report: FileReport) -> list[Any]:
    """Return the rows of ``orient='split'`` of pandas.

    Raises:
        InputError: If its index labels another number of rows.
    """
    labels, rows = found.get("index"), found["data"]
    if isinstance(labels, list) and len(labels) != len(rows):
        raise InputError(
            f"{report.name}: its 'index' has {len(labels):,} labels and its 'data' {len(rows):,} rows; give a label for"
            " each row, or leave 'index' out"
        )
    if labels is not None and not isinstance(labels, list):
        report.note("its 'index' is no list of labels; it was not read")
    return _labelled(found["columns"], rows, labels, report)


def _sheet(found: dict[str, Any], report: FileReport) -> list[Any]:
    """Return the rows of the interface of Google Sheets."""
    by_column = found.get("majorDimension") == "COLUMNS"
    titles, *rows = map(list, zip_longest(*found["values"])) if by_column else found["values"]
    report.note(f"{'of each of' if by_column else 'of'} its 'values' the first was read as headings")
    return _below(titles, rows, report)


def _features(found: dict[str, Any], report: FileReport) -> list[Any]:
    """Return the properties of the features of GeoJSON, each with its id."""
    report.note("the properties of its features are read, and not their geometry")
    rows: list[Any] = []
    unread: dict[str, None] = {}
    for number, one in enumerate(found["features"], start=1):
        properties = (one.get("properties") or {}) if isinstance(one, dict) else None
        if isinstance(properties, dict):
            properties = Repeated(properties) if isinstance(one, Repeated) else properties
            rows.append(properties if one.get("id") is None else _with_id(one["id"], properties))
            unread |= dict.fromkeys(key for key in one if key not in _FEATURE)
        else:
            sentence = "a feature is an object whose properties are an object; correct it"
            report.skip("features without an object of properties", number, sentence, "row ")
    if unread:
        report.note(f"beside the properties of its features, these keys are not read: {shortened(', '.join(unread))}")
    return rows


def _bindings(found: dict[str, Any], report: FileReport) -> list[Any]:
    """Return the values of the bindings of SPARQL by variable; None for what is no binding."""
    return [
        type(one)({variable: term.get("value") for variable, term in one.items()})
        if isinstance(one, dict) and all(isinstance(term, dict) for term in one.values())
        else None
        for one in found["results"]["bindings"]
    ]


def _by_key(found: dict[str, Any], report: FileReport) -> list[Any] | None:
    """Return the objects below ids as rows, or the columns below headings that pandas writes by default."""
    objects = [one for one in found.values() if isinstance(one, dict)]
    if len(objects) < max(2, len(found)) or "results" in found or not set.intersection(*map(set, objects)):
        return None
    labels = [*dict.fromkeys(label for cells in objects for label in cells)]
    if all(label.isdigit() for label in labels):
        for cells in objects:
            _check_keys(cells, report.name)
        report.note("its keys were read as headings, and the keys below them as labels of rows")
        return _labelled([*found], [[cells.get(label) for cells in objects] for label in labels], labels, report)
    report.note("the keys of its objects were read as their ids")
    return [_with_id(key, one) for key, one in found.items()]


def _labelled(titles: list[Any], rows: list[list[Any]], labels: Any, report: FileReport) -> list[Any]:
    """Return rows of pandas, with their labels unless these number them from 0."""
    numbers = [str(number) for number in range(len(rows))]
    if isinstance(labels, list) and len(labels) == len(rows) and sorted(map(str, labels)) != sorted(numbers):
        once = all(isinstance(label, str) for label in labels) and len({*labels}) == len(labels)
        title = "id" if once and "id" not in titles else "index"
        report.note(f"the labels of its rows were read as their {title!r}")
        titles, rows = [title, *titles], [[label, *row] for label, row in zip(labels, rows, strict=True)]
    return _below(titles, rows, report)


def _below(titles: list[Any], rows: list[list[Any]], report: FileReport) -> list[Any]:
    """Return rows of cells below headings as objects; cells below equal headings are a list."""
    if any(isinstance(title, dict | list) for title in titles):
        raise InputError(f"{report.name}: a heading is a list or an object; give a text for each column")
    texts, made = [*map(_text, titles)], []
    for number, row in enumerate(rows, start=1):
        if any(cell not in (None, "") for cell in row[len(texts) :]):
            report.skip("rows with more cells than headings", number, "the row has more cells than headings", "row ")
            continue
        cells: dict[str, Any] = {}
        for title, cell in zip(texts, row, strict=False):
            before = cells.get(title, [])
            cells[title] = cell if title not in cells else [*(before if isinstance(before, list) else [before]), cell]
        made.append(cells)
    return made


def _are_rows(found: Any) -> bool:
    """Return whether a value is a list of lists, as rows of cells are, the first with some cell."""
    return isinstance(found, list) and all(isinstance(row, list) for row in found) and any(found[:1])


def _joined(*parts: dict[str, Any]) -> dict[str, Any]:
    """Return objects as one; a key that stands twice is counted later."""
    made = _object([pair for part in parts for pair in part.items()])
    return Repeated(made) if any(isinstance(part, Repeated) for part in parts) else made


def _with_id(id_: Any, one: dict[str, Any]) -> dict[str, Any]:
    """Return an object with the id that stands above it; an id within it that differs has another heading."""
    inner = {"inner id" if key == "id" else key: value for key, value in one.items() if (key, value) != ("id", id_)}
    return type(one)({"id": id_, **inner})


def _graph_of(found: Any, name: str) -> tuple[Any, str | None]:
    """Return nodes and edges as tables, and the key of the object that wraps them.

    This is ``elements`` in Cytoscape, and ``graph`` in JSON Graph Format.
    """
    if not isinstance(found, dict) or any(map(_is_table, found.values())):
        return found, None
    key = next((key for key in ("elements", "graph") if isinstance(found.get(key), dict)), None)
    if key is None:
        return found, None
    _check_keys(found[key], name)
    inner = {**found, **found[key]}
    del inner[key]
    nodes = inner.get("nodes")
    if isinstance(nodes, dict) and all(isinstance(node, dict) for node in nodes.values()):
        _check_keys(nodes, name)
        inner["nodes"] = [_with_id(id_, node) for id_, node in nodes.items()]
    return inner, key


def _place_nodes(lists: dict[str, list[Any]]) -> bool:
    """Give nodes without ids their places as ids, where the ends of the edges are places, as in files of D3."""
    nodes, edges = lists.get("nodes", []), lists.get("links", lists.get("edges", []))
    ends = {edge.get(end) for edge in edges for end in ("source", "target")}
    if not ends or any("id" in node for node in nodes) or not ends <= {*map(str, range(len(nodes)))}:
        return False
    if ends <= {name_of_object(node) for node in nodes}:
        return False
    lists["nodes"] = [_with_id(str(place), node) for place, node in enumerate(nodes)]
    return True


def _unwrapped(rows: list[Any], report: FileReport) -> list[Any]:
    """Return the data of Cytoscape's elements with the keys beside it, without their place and state."""
    if not all(isinstance(row.get("data"), dict) for row in rows):
        return rows
    if left_out := [key for key in dict.fromkeys(key for row in rows for key in row) if key in _STATE]:
        report.note(f"the place and state of its elements are not read: {', '.join(left_out)}")
    apart = {"data", *_STATE}
    return [
        _joined(type(row)({key: value for key, value in row.items() if key not in apart}), row["data"]) for row in rows
    ]


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def _holds_rows(value: Any) -> bool:
    """Return whether a value is a table, or several objects below ids."""
    return _is_table(value) or (isinstance(value, dict) and len(value) > 1 and _is_table([*value.values()]))


def _rows_of_cells(found: list[list[Any]], name: str) -> list[tuple[int, list[str]]]:
    """Return lists of cells as rows of a table of text, all as wide as the widest."""
    width = max(map(len, found))
    for number, row in enumerate(found, start=1):
        if any(isinstance(cell, dict | list) for cell in row):
            raise InputError(f"{name}: row {number}: a cell is a list or an object; {_SHAPE}")
    return [(number, [*map(_text, row), *[""] * (width - len(row))]) for number, row in enumerate(found, start=1)]


def _rows_of(found: list[Any], name: str) -> Rows:
    for number, one in enumerate(found, start=1):
        if not isinstance(one, dict):
            raise InputError(f"{name}: row {number}: is no object; {_SHAPE}")
    return lambda: enumerate(found, start=1)


def _rows_of_elements(rows: Rows) -> Rows:
    """Return rows as they are, or where the first is of Neo4j's ``apoc.export.json``, as those of its table."""
    if not is_element(next((row for _, row in rows()), None)):
        return rows
    return lambda: ((number, element_row(row) if is_element(row) else row) for number, row in rows())


def _is_lines(name: str) -> bool:
    """Return whether a file begins with an object, and its name says lines, or its first line is an object of many."""
    with Input(name) as source:
        source.to_utf8()
        start = source.peek().removeprefix(b"\xef\xbb\xbf").lstrip()
    first, _, rest = start.partition(b"\n")
    if not first.startswith(b"{") or {".jsonl", ".ndjson"} & {*Path(name.lower()).suffixes}:
        return first.startswith(b"{")
    try:
        return bool(rest.strip()) and isinstance(_DECODER.decode(first.decode("utf-8", "replace").rstrip()), dict)
    except (ValueError, RecursionError):  # the first line of one object over several
        return False


def _whole(name: str, memory: int) -> str:
    data = bytearray()
    with Input(name) as source:
        source.to_utf8()
        while block := source.read():
            data += block
            check_whole(name, len(data), memory, _GROWTH)
    return "".join(decoded_lines(name, [(1, bytes(data.removeprefix(b"\xef\xbb\xbf")))]))


def _lines(name: str, meter: Meter) -> Iterator[tuple[int, Mapping[str, Any]]]:
    with Input(name) as source:
        source.to_utf8()
        for start, block in blocks(source, FileReport(name, "json", strict=True)):
            for number, line in enumerate(decoded_lines(name, [(start, block)]), start=start):
                if line.strip():
                    found = _decoded(line, f"{name}:{number}", in_line=True)
                    if not isinstance(found, dict):
                        raise InputError(f"{name}:{number}: the line holds no object; {_SHAPE}")
                    yield number, found
            meter(source.done)


def _decoded(text: str, where: str, in_line: bool = False) -> Any:
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        place = f"{error.colno}" if in_line else f"{error.lineno}:{error.colno}"
        raise InputError(f"{where}:{place}: not valid JSON: {error.msg}") from error
    except RecursionError as error:
        raise InputError(f"{where}: not valid JSON: it nests too deep; flatten it") from error
    check_depth(value, text, where)
    return value


def _table(report: FileReport, rows: Rows, planner: Planner, unit: str) -> Tables:
    """Yield a report with the rows of objects; the columns are the keys of all, in the order of their first value."""
    rows = _rows_of_elements(rows)
    places: dict[str, int] = {}
    count = filled = 0
    for number, row in rows():
        count += 1
        titles = [title for title, _ in _cells(row, report, number, unit)]
        filled += len(titles)
        for title in titles:
            places.setdefault(title, len(places))
        if len({*titles}) < len(titles):  # a.b, and b within a
            report.skip(_TWICE, number, "an object has a key twice; rename one of them", unit)
        check_width(report.name, len(places))
    if count * len(places) > max(_CELLS, _SPARSE * filled):
        raise InputError(
            f"{report.name}: its {count:,} objects have {len(places):,} keys, of which each has a few;"
            " write a line for each value: subject, key, value"
        )
    if not places:
        report.check()
        return

    def batches() -> Iterator[pa.RecordBatch]:
        # What is skipped was counted before.
        told, some, size = FileReport(report.name, report.format), [], 0
        for number, row in rows():
            cells: list[str | None] = [None] * len(places)
            for title, text in _cells(row, told, number, unit):
                cells[places[title]] = text or cells[places[title]]
                size += len(text)
            some.append(cells)
            size += len(cells)
            if len(some) == ROWS or size > MAX_LITERAL:
                yield record(some)
                some, size = [], 0
        if some:
            yield record(some)

    def record(some: list[list[str | None]]) -> pa.RecordBatch:
        import pyarrow as pa

        return pa.record_batch([pa.array(column, pa.string()) for column in zip(*some, strict=True)], list(places))

    yield report, read_batches(report.name, list(places), batches(), planner, report, lambda _: None)


def _cells(
    row: Mapping[str, Any], report: FileReport, number: int, unit: str, above: str = ""
) -> Iterator[tuple[str, str]]:
    """Yield the headings and texts of the values of an object; what cannot be read is skipped and counted."""
    if isinstance(row, Repeated):
        report.skip(_TWICE, number, "an object has a key twice; rename one of them", unit)
    for key, value in row.items():
        title = _checked(f"{above}{key}", report.name, number, unit)
        if isinstance(value, dict) and isinstance(dates := value.get("date-parts"), list):
            rest = type(value)({inner: other for inner, other in value.items() if inner != "date-parts"})
            yield from _cells(rest, report, number, unit, f"{title}.")
            value = [*map(_date, dates)]  # of CSL JSON
        if isinstance(value, dict):
            yield from _cells(value, report, number, unit, f"{title}.")
            continue
        values = value if isinstance(value, list) else [value]
        if isinstance(value, list) and value and all(names := [name_of_object(one, key) for one in value]):
            report.note(ONLY_NAMES.format(title))
            values = names
        if any(isinstance(one, dict | list) for one in values):
            sentence = f"{title!r} is a list of objects or of lists; write them as a table of their own"
            report.skip(_NESTED.format(title), number, sentence, unit)
            continue
        texts = [*filter(None, map(_text, values))]
        check_separator(_place(report.name, number, unit), title, texts)
        text = _checked(LIST.join(texts), report.name, number, unit)
        if len(text) > MAX_LITERAL:
            report.skip(LONG_LITERALS, number, LONG_LITERAL, unit)
            continue
        yield title, text


def _date(parts: Any) -> Any:
    """Return year, month and day as a date, up to the first that is missing; any other value as it is."""
    if not isinstance(parts, list) or any(isinstance(part, dict | list) for part in parts):
        return parts
    return "-".join(part.zfill(2) for part in takewhile(bool, map(_text, parts)))


def _checked(text: str, name: str, number: int, unit: str) -> str:
    """Return a text, unless an escape of it stands for no character."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            code = f"\\u{ord(text[error.start]):04x}"
            raise InputError(f"{_place(name, number, unit)}: {code} stands for no character; correct it") from error
    return text


def _place(name: str, number: int, unit: str) -> str:
    return f"{name}: {unit}{number}" if unit else f"{name}:{number}"


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value.strip() if isinstance(value, str) else str(value).lower()
