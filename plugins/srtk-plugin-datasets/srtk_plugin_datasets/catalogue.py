"""Where published data sets come from, and where they lie on this machine: ``catalogue.yaml``."""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType

import attrs

from srtk_framework.text import read_yaml
from srtk_framework.values import InputError, close_matches

DATA = "SRTK_DATA"  # Environment variable with the folder of all data sets; ``data`` where it is not set.


@attrs.frozen
class DataFile:
    """One published file.

    Attributes:
        path: Where it belongs in the folder of its set, with forward slashes.
        url: Address of one version of it.
        checksum: ``sha256:`` or ``git:`` and hexadecimal digits.
    """

    path: str
    url: str
    checksum: str

    def holds(self, content: bytes) -> bool:
        """Return whether the file has this content."""
        kind, _, digits = self.checksum.partition(":")
        if kind == "git":
            # Git names a file by the SHA-1 of its size and bytes; here it tells versions apart, and is no signature.
            found = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False)
        else:
            found = hashlib.sha256(content)
        return found.hexdigest() == digits


@attrs.frozen
class DataSet:
    """A published data set.

    Attributes:
        name: Its name, which its folder has too.
        title: Its title, with its authors.
        page: Address of a page for readers.
        licence: Under which terms it is published.
        note: Further remarks, or an empty text.
        files: Its files; none if they have to be fetched by hand from the page.
    """

    name: str
    title: str
    page: str
    licence: str
    note: str
    files: tuple[DataFile, ...]

    def origin(self) -> str:
        """Describe its origin, its licence, and how to get it."""
        how = f"srtk datasets fetch {self.name}" if self.files else f"fetch it by hand into {data_folder() / self.name}"
        return f"{self.title}; {self.page}; licence: {self.licence}; to have it: {how}"


@functools.cache
def catalogue() -> Mapping[str, DataSet]:
    """Read the catalogue, by name."""
    text = (files(__package__) / "catalogue.yaml").read_text(encoding="utf-8")
    found = {}
    for name, entry in read_yaml(text, "catalogue.yaml").items():
        parts = tuple(
            DataFile(path, source["base"] + facts.get("from", path), facts["checksum"])
            for source in entry.get("sources", ())
            for path, facts in source["files"].items()
        )
        found[name] = DataSet(name, entry["title"], entry["page"], entry["licence"], entry.get("note", ""), parts)
    return MappingProxyType(found)


def data_set(name: str) -> DataSet:
    """Return a data set by name.

    Raises:
        InputError: If the catalogue has none of that name.
    """
    if name not in catalogue():
        nearest = close_matches(name, list(catalogue()))
        raise InputError(f"there is no data set {name!r}.{nearest} All: srtk datasets list")
    return catalogue()[name]


def data_folder() -> Path:
    """Return the folder of all data sets, each a folder of its name."""
    return Path(os.environ.get(DATA) or "data")


def located(path: str | None, *names: str) -> str:
    """Return a driver's path, or where the data set lies that it reads.

    Args:
        path: The setting; None or empty if it is not given.
        names: Data sets that the driver reads. Only a single set is read without a path.

    Raises:
        InputError: If no path is given, and the data set is not there.
    """
    if path:
        return path
    if len(names) == 1 and (data_folder() / names[0]).is_dir():
        return str(data_folder() / names[0])
    wanted = f"{data_folder() / names[0]} is not there" if len(names) == 1 else "there are several sets to choose from"
    raise InputError(f"no `path` is given, and {wanted}. {' · '.join(data_set(name).origin() for name in names)}")
