"""Names of methods after the files of their results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from srtk_framework.values import InputError


def method_names(files: Sequence[str | Path], names: Sequence[str] | None = None) -> list[str]:
    """Name methods after their files, by the shortest distinct ends of their paths.

    Args:
        files: Result files, or run folders with any last component.
        names: Names to use instead, one per file.

    Raises:
        InputError: If ``names`` are too few, too many or not distinct, or a file is listed twice.
    """
    if names:
        if len(names) != len(files):
            raise InputError(f"there are {len(files)} result files, but {len(names)} names; give one name per file")
        if len(set(names)) != len(names):
            raise InputError(f"the names {', '.join(names)} are not distinct; give each method a name of its own")
        return list(names)
    parts = [Path(file).with_suffix("").parts for file in files]
    for depth in range(1, max((len(p) for p in parts), default=1) + 1):
        found = ["/".join(p[-depth : len(p) - depth + 1]) for p in parts]
        if all(found) and len(set(found)) == len(found):
            return found
    whole = ["/".join(p) for p in parts]
    if len(set(whole)) == len(whole):
        return whole
    raise InputError(f"the result files {', '.join(map(str, files))} are not distinct; list each file once")
