"""Columns of Arrow as texts, and the rows of Parquet files in such columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from srtk_framework.values import InputError
from srtk_plugin_local.snapshot.input_report import FileReport
from srtk_plugin_local.snapshot.limits import ROWS, check_width
from srtk_plugin_local.snapshot.list_cells import ONLY_NAMES, name_of_object

if TYPE_CHECKING:
    import pyarrow as pa

# Bytes of a batch of Parquet, about.
_BATCH = 64 << 20
# Separates the values of one cell of a container with lists.
LIST = "\x1f"


def check_separator(place: str, title: str, texts: Iterable[str | None]) -> None:
    """Refuse texts that have ``LIST`` within.

    Raises:
        InputError: If a text has.
    """
    if any(text and LIST in text for text in texts):
        raise InputError(
            f"{place}: a text of {title!r} has the character U+001F, by which the values of lists are separated;"
            " remove it"
        )


# Columns of Parquet in which pandas keeps row numbers.
_INDEX = frozenset(("__index_level_0__",))


def as_text(column: Any, name: str, title: str) -> Any:
    """Return a column as texts; nulls stay nulls.

    Raises:
        InputError: If its values are no texts, such as structs, or those of a list have ``LIST`` within.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if pa.types.is_map(column.type):
            pairs = [[f"{key}: {value}" for key, value in row or () if value is not None] for row in column.to_pylist()]
            column = pa.array(pairs, pa.list_(pa.string()))
        if pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
            return pa.array([None if value is None else _of_bytes(value) for value in column.to_pylist()], pa.string())
        if pa.types.is_duration(column.type):
            seconds = pc.divide(column.cast(pa.duration("us")).cast(pa.int64()).cast(pa.float64()), 1e6)
            return pc.binary_join_element_wise(seconds.cast(pa.string()), pa.scalar("seconds"), pa.scalar(" "))
        if _is_list(column.type):
            nested = pa.types.is_nested(column.type.value_type)
            lists = [[name_of_object(x) if nested else x for x in v or ()] for v in column.to_pylist()]
            rows = [[str(x) for x in some if x is not None] for some in lists]
            check_separator(name, title, (text for row in rows for text in row))
            return pa.array([LIST.join(row) or None for row in rows], pa.string())
        if pa.types.is_floating(column.type):
            column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
        return column.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InputError(f"{name}: column {title!r} is of type {column.type}; convert it to text ({error})") from error


def _of_bytes(value: bytes) -> str:
    """Return bytes as the text that they are, as older writers have it, else in hexadecimal digits."""
    try:
        text = value.decode()
    except UnicodeDecodeError:
        text = ""
    return text if text.isprintable() and text else f"0x{value.hex()}"


def parquet_texts(name: str, report: FileReport) -> Iterator[pa.Table]:
    """Yield a table without rows, and the rows of a Parquet file in tables of text columns.

    A struct gives a column for each of its values, such as ``address.city``. Of a list of structs the names are read.

    Raises:
        InputError: If the file cannot be read, or a column holds no texts.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(name)
    except (OSError, pa.ArrowInvalid) as error:
        raise InputError(f"{name}: cannot be read as Parquet ({error}); check the path and the format") from error
    with file:
        titles = [title for title in file.schema_arrow.names if title not in _INDEX]
        flat = _flat(file.schema_arrow.empty_table().select(titles))
        check_width(name, flat.num_columns)
        for field in flat.schema:
            if _is_list(field.type) and pa.types.is_nested(field.type.value_type):
                report.note(ONLY_NAMES.format(field.name))
        yield pa.table({title: pa.array([], pa.string()) for title in flat.column_names})
        size = sum(file.metadata.row_group(place).total_byte_size for place in range(file.metadata.num_row_groups))
        rows = max(1000, min(ROWS, _BATCH * max(1, file.metadata.num_rows) // max(1, size)))
        try:
            for batch in file.iter_batches(rows, columns=titles):
                flat = _flat(pa.Table.from_batches([batch]).select(titles))
                texts = {}
                for title, column in zip(flat.column_names, flat.columns, strict=True):
                    texts[title] = as_text(column, name, title)
                    if not _is_list(column.type) and not pa.types.is_map(column.type):
                        has = pc.any(pc.match_substring(texts[title], LIST)).as_py()
                        check_separator(name, title, [LIST] if has else [])
                yield pa.table(texts)
        except (OSError, pa.ArrowInvalid) as error:
            raise InputError(f"{name}: is damaged ({error}); write the file again") from error


def _flat(table: pa.Table) -> pa.Table:
    """Return a table with a column for each value of its structs."""
    import pyarrow as pa

    while any(pa.types.is_struct(kind) for kind in table.schema.types):
        table = table.flatten()
    return table


def _is_list(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))
