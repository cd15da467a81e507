"""Faults that a driver finds before it opens: missing files, malformed addresses."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import urlsplit

from srtk_framework.values import without_logins

Fault = tuple[str, str]
"""Name of the setting at fault, and a sentence on what is wrong and what to do."""


def absent(setting: str, path: str | None, remedy: str = "correct the path") -> list[Fault]:
    """Return a fault if a setting names a file or folder that does not exist; none for None and an empty text."""
    if not path or Path(path).expanduser().exists():
        return []
    return [(setting, f"{path} does not exist; {remedy}")]


def no_url(setting: str, address: str) -> list[Fault]:
    """Return a fault if a text is no http or https URL."""
    shown = without_logins(address)
    try:
        place = urlsplit(address)
        fine = place.scheme in ("http", "https") and bool(place.hostname) and (place.port or 1) > 0
    except ValueError:
        fine = False
    wrong = [] if fine and not any(c.isspace() for c in address) else [shown]
    return [(setting, f"{one!r} is not an http or https URL; correct it") for one in wrong]


def unwritable(setting: str, path: str, folder: bool = False) -> list[Fault]:
    """Return a fault if a file, or a folder, cannot be written at a path; missing folders above it would be made."""
    place = Path(path).expanduser()
    if place.exists() and place.is_dir() != folder:
        what = "a file, not a folder" if folder else "a folder, not a file"
        return [(setting, f"{path} is {what}; choose another path")]
    above = next(one for one in (place, *place.absolute().parents) if one.exists())
    if above != place and not above.is_dir():
        return [(setting, f"{path} cannot be made, because {above} is a file; choose another path")]
    if not os.access(above, os.W_OK):
        return [(setting, f"{path} cannot be written: {above} is not writable; choose another path")]
    return []
