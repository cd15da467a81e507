"""Readers of the files of known tools, which write several files, or a form of their own."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING

from srtk_framework.values import InputError, close_matches

if TYPE_CHECKING:
    import pyarrow as pa

    from srtk_plugin_local.snapshot.build_settings import BuildSettings
    from srtk_plugin_local.snapshot.input_report import FileReport, Meter

TOOLS = ("graphrag", "kgtk", "gephi", "wikidata-json")


def read_tool(
    name: str, settings: BuildSettings, report: FileReport, meter: Meter, known: dict[str, tuple[str, str, str]]
) -> Iterator[pa.Table]:
    """Yield the tables of one file of the tool that ``made_by`` names.

    A table has the columns id, relation, value and kind of value, as for GraphML, or the columns of qualifiers.

    Args:
        name: Path of the file.
        settings: Settings of the build.
        report: Counts read and skipped rows.
        meter: Takes the progress.
        known: Facts by their ids, of earlier files too, which later rows may qualify; filled here.

    Raises:
        InputError: If there is no such tool, or the file is none of its files.
    """
    tool = settings.made_by or ""
    if tool not in TOOLS:
        raise InputError(f"{tool!r} is no tool that is known; use {', '.join(TOOLS)}.{close_matches(tool, TOOLS)}")
    module = import_module(f"{__name__}.{tool.replace('-', '_')}")
    given = (known,) if tool == "kgtk" else ()
    yield from module.read(name, settings, report, meter, *given)
